// Finds tests that cannot judge a program: they do not run (not Python, a
// module that is not installed, a name that neither they nor the program
// define), they check nothing, which every program passes, or the published
// program does not pass them.
//
//   ESP_ASSIGN_OR_RETURN(std::vector<std::string> why,
//                        WhyTestsCannotJudge(*sandbox, problems));
//   // why[i] == "" or "SyntaxError: invalid syntax in \"assert f(1 == 2\""
//
// Tests are first read, many problems in one program of the sandbox. What they
// are found to lack when they run (their own errors inside functions, wrong
// expected values) only the published program shows, if there is one.
#ifndef ESPALIER_DATASETS_PROGRAMS_RUNNABLE_TESTS_H_
#define ESPALIER_DATASETS_PROGRAMS_RUNNABLE_TESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "datasets/programs/code_problem.h"
#include "datasets/programs/sandbox.h"

namespace espalier {

// One reason per problem, "" if nothing is known to be wrong with its tests.
// Runs published programs on all cores.
absl::StatusOr<std::vector<std::string>> WhyTestsCannotJudge(
    Sandbox& sandbox, absl::Span<const CodeProblem> problems);

// The same of tests that are only read: "" also for cases of input and output.
absl::StatusOr<std::vector<std::string>> WhyTestsCannotRun(
    Sandbox& sandbox, absl::Span<const CodeProblem> problems);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_RUNNABLE_TESTS_H_
