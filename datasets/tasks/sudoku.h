// An unlimited supply of Sudoku puzzles with one solution, graded by the
// techniques that they require.
//
//   band       clues            techniques (datasets/tasks/sudoku_rules.h)
//   4-easy     8 to 10 of 16    cells with one candidate
//   4-hard     none to spare    any
//   9-easy     36 to 40 of 81   cells with one candidate, digits with one cell
//   9-middle   28 to 32         as 9-easy
//   9-hard     none to spare    more than those
//
// Split by solution (split.h): no test puzzle has the solution of a training
// puzzle. Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_SUDOKU_H_
#define ESPALIER_DATASETS_TASKS_SUDOKU_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "datasets/tasks/sudoku_rules.h"
#include "espalier/problem.h"

namespace espalier {

// The bands' names, easiest first.
const std::vector<std::string_view>& SudokuBands();

// The puzzle `index` of `seed` in a band; id "sudoku:9-easy/<seed>/<index>".
// The reference holds the solution's digits and, in a random order, the lines
// that fill the grid.
GradedProblem MakeSudoku(std::string_view band, uint64_t seed, uint64_t index);

// A full grid drawn by `rng`. (Every grid can be drawn; they are not all
// equally likely.)
Sudoku RandomGrid(int box, RandomStream& rng);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_SUDOKU_H_
