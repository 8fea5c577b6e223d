// BigCodeBench: functions that use libraries, judged by a unittest class.
//
//   columns   task_id, prompt, code_prompt, canonical_solution, test,
//             entry_point, libs
//
// `prompt` is complete_prompt, which begins the program, or instruct_prompt,
// which says what is asked. A problem counts as one test, passed where none of
// its class fails. Refused by name are problems that need a library beyond the
// standard one and numpy, a network or other processes, and tests that patch
// names of the program, catch what it prints, seed its random numbers, look at
// its sys.path or hand it functions: program and tests are two processes.
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
