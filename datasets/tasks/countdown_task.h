// The task "countdown": reach a target by arithmetic on given numbers, each
// used exactly once (rules and lines: countdown_rules.h).
//
//   3 7 25 > 46        the prompt: the numbers in ascending order, the target
//   25-3=22 : 7 22     the response, one line per step
//   22+7=29 : 29
//   give up            or, if the last number is the target, "= 46"
//
// The Game of 24 is the case of four numbers and the target 24.
#ifndef ESPALIER_DATASETS_TASKS_COUNTDOWN_TASK_H_
#define ESPALIER_DATASETS_TASKS_COUNTDOWN_TASK_H_

#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

// The answer is the number of the last complete "= N" line, none after giving
// up. All right answers to a question are the same text, and a wrong response
// seldom has any: votes over Countdown answers count the responses that claim
// success, not the right ones. Methods that vote need the verifier or a reward
// model to distinguish responses.
const Task& CountdownTask();

// Intrinsic: reads only the question. Check requires that every line is right
// and the last one the answer. CheckSteps fails with InvalidArgument if the
// question is not a puzzle.
const Verifier& CountdownVerifier();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_COUNTDOWN_TASK_H_
