// The training examples of a shipped model, as lines to train other models on.
//
//   ESP_ASSIGN_OR_RETURN(const std::string lines,
//                        ZooDataLines({.family = "countdown-base"}));
//
//   {"prompt":"Use 5, 5 and 24 to reach 4.\n","completion":"5*5=25 ..."}
//
// Prompts are rendered as in training, so that `espalier train policy --data`
// continues where the zoo left off. Examples with a line that was not imitated
// (a wrong one, the step into a dead end) and those without an answer are left
// out.
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
  int64_t limit = 0;       // maximum; 0: all, if the family is finite
  bool solutions = false;  // a correct solution of every problem
};

// InvalidArgument for an infinite family without a limit.
absl::StatusOr<std::string> ZooDataLines(const ZooDataOptions& options);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ZOO_ZOO_DATA_H_
