// CRUXEval: predict a function's output, or arguments that produce an output.
//
//   columns   code (which defines f), input, output, and "predict", which says
//             whether the "output" (CRUXEval-O) or the "input" (CRUXEval-I) is
//             requested
//
// A response gives a value, a call of f or a whole assertion, in [ANSWER] tags,
// in a fenced block or in its last line. The value, and each argument, must be
// a literal, as the question requires: the tests parse its text, and no part of
// a response is executed, since it could run the function in question. f runs
// in the tests' process.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_CRUXEVAL_H_
#define ESPALIER_DATASETS_PROGRAMS_CRUXEVAL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "datasets/programs/code_problem.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// A problem of style kOutput or kArguments; its `solution` is the published
// value or call. InvalidArgument names the missing or wrong column.
absl::StatusOr<CodeProblem> ReadCruxEval(const nlohmann::json& fields);

// The program for a response to such a problem: one that binds `answer` to a
// text.
std::string CruxProgram(const CodeProblem& problem, std::string_view response);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_CRUXEVAL_H_
