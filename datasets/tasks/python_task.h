// The task "python": programs as answers, judged by running them.
//
// A question is a HumanEval prompt, which the response continues, or a
// description of a program, which the response gives in a fenced block or
// directly. PythonVerifier runs the problem's hidden tests, those of the
// reference's fields (code_problem.h has the columns). PublicTestsVerifier runs
// the tests shown in the question (public_tests.h), and is intrinsic: it is the
// one that a search gets, and it accepts nothing for a question that shows no
// test. MBPP's questions show all their tests, as its authors prescribe: there
// a search that uses them knows the tests that judge it.
//
// Both run programs in one sandbox (datasets/programs), created at the first
// question; if this machine does not allow one, Ready says why, and every
// verdict is "not correct" with that as its reason. Thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_PYTHON_TASK_H_
#define ESPALIER_DATASETS_TASKS_PYTHON_TASK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/problem.h"
#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

const Task& PythonTask();
const Verifier& PythonVerifier();       // gold
const Verifier& PublicTestsVerifier();  // intrinsic

// Why the hidden tests of each problem fail or pass every program
// (runnable_tests.h); "" if they do not, or have no form that CanCheck accepts.
absl::StatusOr<std::vector<std::string>> WhyHiddenTestsCannotRun(
    absl::Span<const GradedProblem> problems);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_PYTHON_TASK_H_
