// An unlimited supply of small Python programming tasks with tests: functions
// over lists of integers, strings and integers, described in words.
//
//   def solve(x):
//       """Take a list of integers. Keep only the even numbers, then multiply
//       each number by 3, then return the sum of the numbers.
//
//       >>> solve([1, 2, 4])
//       18
//       """
//
// A task is a pipeline of small operations: 2 or 3 of them (easy), 4 or 5
// (middle), 6 to 8 (hard). The expected outputs come from the operations' C++
// form (python_operations.h); the reference solution is the same pipeline in
// Python. Every operation matters to some test, and a task's outputs differ.
//
// The record is HumanEval's: the question is the prompt that a response
// continues, Reference::fields has "prompt", "entry_point", "test" (a function
// check(candidate)) and "canonical_solution", Reference::steps its lines.
// Pipelines are split between seeds (split.h). Stateless functions:
// thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_PYTHON_PROGRAMS_H_
#define ESPALIER_DATASETS_TASKS_PYTHON_PROGRAMS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "espalier/problem.h"

namespace espalier {

// The bands' names, easiest first.
const std::vector<std::string_view>& PythonBands();

// The task `index` of `seed` in a band; id "python:easy/<seed>/<index>".
GradedProblem MakePythonProgram(std::string_view band, uint64_t seed,
                                uint64_t index);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_PYTHON_PROGRAMS_H_
