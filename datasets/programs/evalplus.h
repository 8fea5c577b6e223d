// HumanEval+ and MBPP+ as EvalPlus publishes them: inputs, and no outputs.
//
//   columns   task_id, prompt, entry_point, canonical_solution, base_input,
//             plus_input; atol where floats may differ by so much
//
// What is right on an input is what the published solution gives, which runs
// beside the tests, where the program does not reach it. Compared as EvalPlus
// does: floats within atol or 1e-6 and a relative 1e-7, and by rules of their
// own the problems that have several right answers (kOwnRules in evalplus.cc).
// MBPP's tuples, sets and complex numbers, which JSON has not, are built again
// by the problem's number.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_EVALPLUS_H_
#define ESPALIER_DATASETS_PROGRAMS_EVALPLUS_H_

#include "absl/status/statusor.h"
#include "datasets/programs/code_problem.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// A problem of style HumanEval where the prompt begins the program, of style
// MBPP where it only says what is asked. InvalidArgument says which column is
// missing or of a wrong type; inputs with whole numbers that 64 bits do not
// hold are refused, since readers keep those as text.
absl::StatusOr<CodeProblem> ReadEvalPlus(const nlohmann::json& fields);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_EVALPLUS_H_
