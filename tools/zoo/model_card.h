// The model card of a shipped model: its origin and its measured results.
#ifndef ESPALIER_TOOLS_ZOO_MODEL_CARD_H_
#define ESPALIER_TOOLS_ZOO_MODEL_CARD_H_

#include <string>

#include "absl/status/status.h"
#include "tools/zoo/train_zoo.h"

namespace espalier {

// Measures the checkpoint on its family's sets (test seeds; greedy accuracy,
// next steps and the reward heads' verdicts on them) with `problems` of each
// and writes `folder`/README.md.
absl::Status WriteModelCard(const std::string& folder, const ZooReport& report,
                            int problems);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ZOO_MODEL_CARD_H_
