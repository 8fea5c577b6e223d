// Statistics of a file of solutions with labelled steps, and its steps as lines
// that `train reward` reads.
//
//   ESP_ASSIGN_OR_RETURN(auto reader, StepSetReader::Open(path, {}));
//   ESP_ASSIGN_OR_RETURN(LabelledReport report,
//                        ReadLabelled(*reader, *task, &lines));
//   std::printf("%s", LabelledText(report).c_str());
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_TOOLS_ESPALIER_LABELLED_REPORT_H_
#define ESPALIER_TOOLS_ESPALIER_LABELLED_REPORT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "datasets/sets/labelled_steps.h"
#include "espalier/task.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

struct LabelledReport {
  std::string file;
  std::map<std::string, int64_t> kinds;  // solutions of each
  int64_t solutions = 0;                 // whole ones
  int64_t others = 0;  // that end in another completion of a step
  int64_t right = 0, neutral = 0, wrong = 0, unknown = 0;  // counts of steps
  int64_t with_error = 0;    // solutions with a wrong step
  int64_t first_errors = 0;  // sum of first wrong steps' positions, from 1
  int64_t ends_told = 0, ends_right = 0;  // with a labelled, a right answer
};

// Reads all solutions. Adds one line per solution to `lines`, unless that is
// null: the prompt as rendered by `task`, completions that end as a search ends
// steps, and their labels and values. It stops after the first wrong step and
// before the first unknown one; a neutral step counts as right. Steps that a
// solution shares with the one before have null as label and value.
absl::StatusOr<LabelledReport> ReadLabelled(StepSetReader& reader,
                                            const Task& task,
                                            std::string* lines);

std::string LabelledText(const LabelledReport& report);
nlohmann::json LabelledJson(const LabelledReport& report);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_LABELLED_REPORT_H_
