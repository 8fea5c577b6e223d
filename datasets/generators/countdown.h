// Countdown puzzles that have a solution, without limit.
//
//   countdown:3  "Use 3, 7 and 25 to reach 46."   numbers 1 to 25
//   countdown:4, countdown:5                      numbers 1 to 50
//
// Targets are 1 to 100 and always reachable. The seeds' rule is that of
// stories.h: below 1000 for training, from 2000 on for tests.
#ifndef ESPALIER_DATASETS_GENERATORS_COUNTDOWN_H_
#define ESPALIER_DATASETS_GENERATORS_COUNTDOWN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/problem.h"
#include "src/base/random.h"

namespace espalier {

// The puzzle `index` of `seed` with `count` numbers (3 to 5); its reference
// holds one solution.
GradedProblem MakeCountdown(int count, uint64_t seed, uint64_t index);

// A solution drawn move by move among those that keep the target reachable;
// its last line is the answer.
std::vector<std::string> DrawCountdownSolution(
    const std::vector<int64_t>& numbers, int64_t target, RandomStream& rng);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_GENERATORS_COUNTDOWN_H_
