// HumanEval+ and MBPP+ as EvalPlus publishes them: inputs without outputs.
//
//   columns   task_id, prompt, entry_point, canonical_solution, base_input,
//             plus_input; atol if floats may differ by that much
//
// The expected output is that of the published solution, which runs with the
// tests, out of the program's reach. Compared as EvalPlus does: floats within
// atol or 1e-6 and a relative 1e-7; problems with several right answers have
// their own rules (kOwnRules in evalplus.cc). MBPP's tuples, sets and complex
// numbers, which JSON lacks, are rebuilt by the problem's number.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_EVALPLUS_H_
#define ESPALIER_DATASETS_PROGRAMS_EVALPLUS_H_

#include "absl/status/statusor.h"
#include "datasets/programs/code_problem.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// A problem of style HumanEval if the prompt begins the program, of style MBPP
// if it only states the task. InvalidArgument names the missing or mistyped
// column; inputs with integers that do not fit 64 bits are refused, since
// readers keep those as text.
absl::StatusOr<CodeProblem> ReadEvalPlus(const nlohmann::json& fields);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_EVALPLUS_H_
