// BigCodeBench: functions that use libraries, judged by a unittest class.
//
//   columns   task_id, prompt, code_prompt, canonical_solution, test,
//             entry_point, libs
//
// `prompt` is complete_prompt, which begins the program, or instruct_prompt,
// which states the task. A problem counts as one test, passed if nothing in its
// class fails. Refused, with the reason: problems that need a library beyond
// the standard one and numpy, a network or other processes, and tests that
// patch names of the program, capture its printed output, seed its random
// numbers, inspect its sys.path or pass it functions, since program and tests
// are two processes.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_BIGCODEBENCH_H_
#define ESPALIER_DATASETS_PROGRAMS_BIGCODEBENCH_H_

#include "absl/status/statusor.h"
#include "datasets/programs/code_problem.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

absl::StatusOr<CodeProblem> ReadBigCodeBench(const nlohmann::json& fields);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_BIGCODEBENCH_H_
