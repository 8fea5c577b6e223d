// The task "python": programs as answers, judged by running them.
//
// A question is a HumanEval prompt, which the response continues, or words that
// ask for a program, which the response gives in a fenced block or as it is.
// PythonVerifier runs the problem's hidden tests, those of the reference's
// fields (code_problem.h has the columns). PublicTestsVerifier runs what the
// question shows (public_tests.h), and is intrinsic: it is what a search is
// handed, and of a question that shows no test it accepts nothing. MBPP's
// questions show all their tests, as its authors asked: there a search that
// asks them knows what it is judged by.
//
// Both run programs in one sandbox (datasets/programs), made at the first
// question; where this machine lets none be made Ready says why, and every
// verdict is "not correct" with that as its reason. Thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_PYTHON_TASK_H_
#define ESPALIER_DATASETS_TASKS_PYTHON_TASK_H_

#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

const Task& PythonTask();
const Verifier& PythonVerifier();       // gold
const Verifier& PublicTestsVerifier();  // intrinsic

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_PYTHON_TASK_H_
