// The tests that a problem's text shows: the examples of its docstrings (">>>
// f(1)" and the result) and its lines "assert ...", or input/output examples
// (input_examples.h). A search may run them, since they come from the question
// only.
//
//   CodeProblem shown = PublicTests(problem.question);
//   if (HasTests(shown)) GradeProgram(sandbox, shown, program);
//
// Examples are compared by value if the shown result is a literal, else by
// repr. Some published ones are wrong, or not Python: a program that fails one
// may still be right.
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_PUBLIC_TESTS_H_
#define ESPALIER_DATASETS_PROGRAMS_PUBLIC_TESTS_H_

#include <string_view>

#include "datasets/programs/code_problem.h"

namespace espalier {

// A problem of style HumanEval if the question defines a function at its end,
// of style input if it shows only input/output examples, else of style MBPP;
// without tests if it shows none.
CodeProblem PublicTests(std::string_view question);

inline bool HasTests(const CodeProblem& problem) {
  return !problem.tests.empty() || !problem.cases.empty();
}

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_PUBLIC_TESTS_H_
