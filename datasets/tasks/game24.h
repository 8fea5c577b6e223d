// An unlimited supply of Games of 24, graded by the chance of solving them at
// random.
//
//   band      numbers   share of random plays that make 24
//   easy      1 to 50   at least 1 in 150
//   middle    1 to 99   1 in 750 to 1 in 150
//   hard      1 to 99   less than 1 in 750, but some
//
// The set "game24" has the solvable puzzles over 1 to 13, as the game is played
// with cards: only 1362, so it soon repeats itself. Puzzles are split between
// seeds (split.h). Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_GAME24_H_
#define ESPALIER_DATASETS_TASKS_GAME24_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "datasets/tasks/game24_rules.h"
#include "espalier/problem.h"

namespace espalier {

// The bands' names, easiest first; "" for all solvable puzzles over 1 to 13.
const std::vector<std::string_view>& Game24Bands();

// The puzzle `index` of `seed` in a band; id "game24:easy/<seed>/<index>". The
// reference holds 24 and the lines of one solution.
GradedProblem MakeGame24(std::string_view band, uint64_t seed, uint64_t index);

// `numbers` as a problem ("Make 24 from 4, 9, 10 and 13."), id and set empty.
// The reference's lines are those of a solution drawn by `rng`, none if there
// is no solution.
GradedProblem Game24Problem(const std::vector<Fraction>& numbers,
                            RandomStream& rng);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_GAME24_H_
