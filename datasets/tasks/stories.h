// An unlimited supply of running grade-school stories about one quantity.
//
//   "Ann has 23 shells. She finds 48 more shells. Tom has 12 pens. She gives
//    17 shells to Tom. Then she has three times as many. How many shells does
//    Ann have now?"
//
// A story opens with a quantity and changes it by + - * / in the order of the
// sentences; from the middle band on, it also contains sentences whose numbers
// change nothing. The reference holds the answer and the expected lines
// (datasets/tasks/story_lines.h).
//
// A story is a function of (band, seed, index). Seeds are disjoint by rule
// (split.h).
#ifndef ESPALIER_DATASETS_TASKS_STORIES_H_
#define ESPALIER_DATASETS_TASKS_STORIES_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "datasets/tasks/split.h"
#include "espalier/problem.h"

namespace espalier {

struct StoryOptions {
  int min_steps = 3;  // changes of the quantity, not counting the opening
  int max_steps = 5;
  int max_value = 99;     // every quantity of the story is in [1, max_value]
  int max_addend = 60;    // amounts added or taken away are in [2, max_addend]
  int max_factor = 5;     // factors and divisors are in [2, max_factor], <= 9
  double distractor = 0;  // probability of a distractor before a step
  // Relative frequencies of + - * /, among those that keep the bounds.
  std::array<double, 4> op_weights = {0.3, 0.3, 0.2, 0.2};
};

struct StoryBand {
  std::string_view name;  // "hard": the set is "stories:hard"
  StoryOptions options;
};

// All bands, easiest first. Their parameters are in stories.cc.
std::span<const StoryBand> StoryBands();
// The band of this name, or null.
const StoryBand* FindStoryBand(std::string_view name);

// The story `index` of `seed`; its id is "stories:hard/<seed>/<index>".
GradedProblem MakeStory(const StoryBand& band, uint64_t seed, uint64_t index);

// Bounds drawn by `rng` over all bands and everything between and below them:
// the training distribution of models. `progress` in [0, 1] is the position in
// a curriculum that begins with one to three steps and small numbers.
StoryOptions DrawStoryOptions(double progress, RandomStream& rng);

// A story drawn with `rng`; id and set are left empty. Requires 1 <= min_steps
// <= max_steps, max_value >= 5, max_addend >= 2 and max_factor in [2, 9].
GradedProblem MakeStory(const StoryOptions& options, RandomStream& rng);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_STORIES_H_
