// An unlimited supply of Countdown puzzles, and labelled responses to them.
//
// Puzzles: three numbers from 1 to 25, or four or five from 1 to 50, and a
// reachable target from 1 to 100. Numbers and target are redrawn until they
// fit, so that all fitting puzzles are equally likely.
//
// There are few puzzles of three numbers, so the puzzles are split, not only
// the seeds (split.h).
#ifndef ESPALIER_DATASETS_TASKS_COUNTDOWN_H_
#define ESPALIER_DATASETS_TASKS_COUNTDOWN_H_

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "datasets/tasks/corrupt.h"
#include "datasets/tasks/countdown_rules.h"
#include "espalier/problem.h"

namespace espalier {

// The puzzle `index` of `seed` with 3, 4 or 5 numbers; id
// "countdown:4/<seed>/<index>". The reference holds the target and the lines of
// one solution.
GradedProblem MakeCountdown(int numbers, uint64_t seed, uint64_t index);

// `puzzle` as a problem ("Use 3, 7 and 25 to reach 46."), id and set empty. The
// reference's lines are those of a solution drawn by `rng`, none if there is no
// solution.
GradedProblem CountdownProblem(const CountdownPuzzle& puzzle,
                               RandomStream& rng);

struct CountdownWalkOptions {
  // Probability that a move is drawn from those that keep the target in reach
  // (if there are any); otherwise from all. 1: always a solution.
  double solving = 1;
  // Probability, at each line, of giving up once the target is out of reach
  // but moves remain.
  double give_up_early = 0;
  // Probability of planting an error in a line: a wrong result, a number that
  // is not available, wrong numbers left, a zero, negative or inexact result,
  // an answer forced to the target, giving up too early.
  double corrupt = 0;
};

// A response to `puzzle`, line by line, with the verdicts of CountdownJudge.
// Every drawn move is uniform over its choices. A walk without wrong lines ends
// with the answer or with giving up; with wrong lines it may be cut at four
// times the number of lines needed.
std::vector<CorruptedLine> WalkCountdown(const CountdownPuzzle& puzzle,
                                         const CountdownWalkOptions& options,
                                         RandomStream& rng);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_COUNTDOWN_H_
