// All generated sets by name: a domain's bands of difficulty.
//
//   for (const GeneratedSet& set : GeneratedSets()) set.make(2000, 0);
//
//   stories:easy|middle|hard   running stories about a quantity
//   countdown:3|4|5            a target from integers
//   game24:easy|middle|hard    24 from four numbers, fractions allowed; game24:
//                              all solvable puzzles over 1 to 13
//   sudoku:4-easy|4-hard       grids of 4x4
//   sudoku:9-easy|9-middle|9-hard    grids of 9x9
//   proof:easy|middle|hard     a literal from premises, line by line
//   python:easy|middle|hard    a function that passes tests
//
// A problem is a function of (name, seed, index), and no problem of a test seed
// is one of a training seed (split.h). Thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_GENERATED_SETS_H_
#define ESPALIER_DATASETS_TASKS_GENERATED_SETS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "espalier/problem.h"

namespace espalier {

struct GeneratedSet {
  std::string name;  // "stories:hard"
  std::string task;  // registered task that renders and judges it
  // The problem `index` of `seed`.
  std::function<GradedProblem(uint64_t seed, uint64_t index)> make;
};

// Ordered by domain and, within a domain, by difficulty.
const std::vector<GeneratedSet>& GeneratedSets();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_GENERATED_SETS_H_
