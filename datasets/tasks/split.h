// Which problems may be trained on.
//
// Seeds are disjoint by rule: below 1000 for training, 1000 to 1999 for
// choosing anything (settings, thresholds, bands), from 2000 on for tests whose
// results are reported. Two seeds may draw the same problem, so if problems are
// few their contents are split too: one in ten belongs to choosing, one in ten
// to tests, the others to training, and a generator redraws until content and
// seed agree:
//
//   do puzzle = Draw(rng); while (!BelongsToSeed(FormatPuzzle(puzzle), seed));
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_SPLIT_H_
#define ESPALIER_DATASETS_TASKS_SPLIT_H_

#include <cstdint>
#include <string_view>

namespace espalier {

inline constexpr uint64_t kFirstChoosingSeed = 1000;
inline constexpr uint64_t kFirstTestSeed = 2000;

// Whether `seed` may draw a problem with this content. No content belongs both
// to a training seed and to a choosing or test seed.
bool BelongsToSeed(std::string_view content, uint64_t seed);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_SPLIT_H_
