// What a shipped model has learned to write, as lines to train others on.
//
//   ESP_ASSIGN_OR_RETURN(const std::string lines,
//                        ZooDataLines({.family = "countdown-base"}));
//
//   {"prompt":"Use 5, 5 and 24 to reach 4.\n","completion":"5*5=25 ..."}
//
// Prompts are rendered as training renders them, so that `espalier train
// policy --data` takes up where the zoo left off. Examples with a line that
// was not to be imitated (a wrong one, the step into a dead end) and those
// without an answer are left out.
//
// Stateless: thread-safe.
#ifndef ESPALIER_TOOLS_ZOO_ZOO_DATA_H_
#define ESPALIER_TOOLS_ZOO_ZOO_DATA_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace espalier {

struct ZooDataOptions {
  std::string family = "countdown-base";
  int64_t limit = 0;       // lines at most; 0: all, where the family has an end
  bool solutions = false;  // a correct solution of every problem
};

// InvalidArgument for a family without limit and no limit given.
absl::StatusOr<std::string> ZooDataLines(const ZooDataOptions& options);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ZOO_ZOO_DATA_H_
