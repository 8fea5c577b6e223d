// Whether a question is of the kind that a shipped model was trained on.
//
// The shipped models know one family of questions each and answer any other
// text with a number all the same. A story is known if each of its sentences,
// the question too, has a form of stories or of their light paraphrases
// (story_forms.h): one person's things, counted from 1 to 199
// (story_reading.h). A countdown puzzle is known if it names its numbers and
// one target, and no word of it asks for anything else.
//
//   CheckKnownQuestion("stories", "Ann has 3 figs. She finds 2 more. How many
//       figs does Ann have now?")                                  -> ok
//   CheckKnownQuestion("stories", "What is 2+3?")                  -> not found
//
// Stateless and thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_KNOWN_QUESTIONS_H_
#define ESPALIER_DATASETS_TASKS_KNOWN_QUESTIONS_H_

#include <string_view>

#include "absl/status/status.h"

namespace espalier {

// Ok if the shipped model of `task` ("stories", "countdown") was trained on
// questions like this one, or if nothing is known of the task's questions;
// NotFound, with what is foreign about the question, otherwise.
absl::Status CheckKnownQuestion(std::string_view task,
                                std::string_view question);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_KNOWN_QUESTIONS_H_
