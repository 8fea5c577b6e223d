// The tests that a problem shows to whoever solves it: the examples of its
// docstrings (">>> f(1)" and what it gives) and its lines "assert ...", or
// examples of input and output (input_examples.h). A search may run them, since
// they are read from the question alone.
//
//   CodeProblem shown = PublicTests(problem.question);
//   if (HasTests(shown)) GradeProgram(sandbox, shown, program);
//
// Examples are compared by value where what is shown is a literal, else by
// repr. Some published ones are wrong, or no Python: a program that fails one
// may still be right.
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_PUBLIC_TESTS_H_
#define ESPALIER_DATASETS_PROGRAMS_PUBLIC_TESTS_H_

#include <string_view>

#include "datasets/programs/code_problem.h"

namespace espalier {

// A problem of style HumanEval where the question defines a function at its
// end, of style input where it shows examples of that alone, else of style
// MBPP; without tests where it shows none.
CodeProblem PublicTests(std::string_view question);

inline bool HasTests(const CodeProblem& problem) {
  return !problem.tests.empty() || !problem.cases.empty();
}

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_PUBLIC_TESTS_H_
