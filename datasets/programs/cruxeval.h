// CRUXEval: what a function gives, or for which arguments it gives something.
//
//   columns   code (which defines f), input, output, and "predict", which says
//             whether the "output" (CRUXEval-O) or the "input" (CRUXEval-I) is
//             asked for
//
// A response names a value, a call of f or a whole assertion, in [ANSWER] tags,
// in a fenced block or in its last line. The value, and each argument, must be
// a literal, as the question asks: the tests read its text, and nothing of a
// response is run, or it could run the function that it was asked about. f runs
// beside the tests.
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
// value, or call. InvalidArgument says which column is missing or wrong.
absl::StatusOr<CodeProblem> ReadCruxEval(const nlohmann::json& fields);

// The program that a response to such a problem stands for: one that binds
// `answer` to a text.
std::string CruxProgram(const CodeProblem& problem, std::string_view response);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_CRUXEVAL_H_
