// The task "game24": make 24 of four numbers (rules and lines: game24_rules.h).
//
//   3 3 8 8                   the prompt: the numbers in ascending order
//   8 / 3 = 8/3 : 3 8 8/3     the response, one line per step
//   3 - 8/3 = 1/3 : 1/3 8
//   8 / 1/3 = 24 : 24
//   = 24                      or "give up", or a single expression:
//                             "= 8 / (3 - 8 / 3)"
#ifndef ESPALIER_DATASETS_TASKS_GAME24_TASK_H_
#define ESPALIER_DATASETS_TASKS_GAME24_TASK_H_

#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

// The answer is the text behind "= " in the last such line. As in Countdown,
// every solution by moves has the answer 24, so methods that vote need the
// verifier or a reward model.
const Task& Game24Task();

// Intrinsic. Check requires that every line is right and the last one the
// answer. CheckSteps fails with InvalidArgument if the question is not a
// puzzle.
const Verifier& Game24Verifier();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_GAME24_TASK_H_
