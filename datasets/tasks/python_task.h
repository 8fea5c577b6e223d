// The task "python": a function that passes tests.
//
// The prompt is the question as it is: HumanEval's and the generated sets'
// questions are the beginning of a program, which the response continues;
// MBPP's are text, after which the response is the program. A step is a line.
//
// Programs are run in the sandbox, which is handed in: the verifier asks the
// check that ConnectPythonCheck was given, and without one calls no program
// right.
#ifndef ESPALIER_DATASETS_TASKS_PYTHON_TASK_H_
#define ESPALIER_DATASETS_TASKS_PYTHON_TASK_H_

#include <functional>
#include <string_view>

#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

// The answer is the whole response, without white space at its end: programs
// are the same answer if their texts are.
const Task& PythonTask();

// Reads the reference's tests. Steps cannot be judged (Unimplemented).
const Verifier& PythonVerifier();

// Runs the tests of `reference` (fields "test" and "entry_point", or
// "test_list") on the program of `response`. Must be thread-safe.
using PythonCheck =
    std::function<Verdict(const Problem& problem, const Reference& reference,
                          std::string_view response)>;
// Before the first verdict is asked for; not thread-safe.
void ConnectPythonCheck(PythonCheck check);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_PYTHON_TASK_H_
