// The task "sudoku": fill a grid of 4x4 or 9x9 (rules and lines:
// sudoku_rules.h).
//
//   1 . . 4          the prompt: the grid
//   . . 2 .
//   . 1 . .
//   4 . . 2
//   r1c2=2           the response, one line per cell, in any order
//   = 1234...        the whole grid, row by row; may come at any time
#ifndef ESPALIER_DATASETS_TASKS_SUDOKU_TASK_H_
#define ESPALIER_DATASETS_TASKS_SUDOKU_TASK_H_

#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

// The answer is the grid of the last answer line, as a run of digits.
const Task& SudokuTask();

// Intrinsic. Check requires that every line is right and the last one the
// answer. CheckSteps fails with InvalidArgument if the question is not a
// puzzle.
const Verifier& SudokuVerifier();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_SUDOKU_TASK_H_
