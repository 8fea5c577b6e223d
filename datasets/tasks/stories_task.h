// The task "stories": running stories as tagged sentences, answered by one line
// per change of the quantity.
//
//   a Ann has 23 shells.
//   b She finds 48 more.                     a 23
//   c Tom has 12 pens.                       b 23+48=71
//   d She gives 17 to Tom.                   d 71-17=54
//   ? How many shells does Ann have now?     = 54
//
// Left: the prompt, which ends with a newline; right: the response, one line
// per step. Sentences that change nothing get no line. Any question that is not
// only white space renders: its last sentence gets the tag "?".
#ifndef ESPALIER_DATASETS_TASKS_STORIES_TASK_H_
#define ESPALIER_DATASETS_TASKS_STORIES_TASK_H_

#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

// The answer is the integer of the last complete "= N" line (complete: ended by
// a newline or by the end of the text), without leading zeros.
const Task& StoriesTask();

// Gold: compares with the reference. Judges lines by the rule of story_lines.h;
// an unfinished last line is judged only if it is an answer. CheckSteps fails
// with FailedPrecondition if the reference has no steps.
const Verifier& StoriesVerifier();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_STORIES_TASK_H_
