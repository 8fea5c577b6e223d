// Finds tests that no program can pass because they do not run: not Python, a
// module that is not installed, a name that neither they nor the program
// define; and tests that check nothing, which every program passes.
//
//   ESP_ASSIGN_OR_RETURN(std::vector<std::string> why,
//                        WhyTestsCannotRun(*sandbox, problems));
//   // why[i] == "" or "SyntaxError: invalid syntax in \"assert f(1 == 2\""
//
// The tests are read, not run, many problems in one program of the sandbox.
// What tests are found to lack when they run is not known here: their own
// errors inside functions, or wrong expected values.
#ifndef ESPALIER_DATASETS_PROGRAMS_RUNNABLE_TESTS_H_
#define ESPALIER_DATASETS_PROGRAMS_RUNNABLE_TESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "datasets/programs/code_problem.h"
#include "datasets/programs/sandbox.h"

namespace espalier {

// One reason per problem, "" if its tests can run or are cases of input and
// output.
absl::StatusOr<std::vector<std::string>> WhyTestsCannotRun(
    Sandbox& sandbox, absl::Span<const CodeProblem> problems);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_RUNNABLE_TESTS_H_
