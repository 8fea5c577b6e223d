// Whether a question is of the kind that a shipped model was trained on.
//
// Each shipped model knows one family of questions, but answers any other text
// with a number all the same. A story is known if each of its sentences,
// including the question, has a form of stories or of their light paraphrases
// (story_forms.h): one person's things, counted from 1 to 199
// (story_reading.h), in any case of letters. A countdown puzzle is known if it
// names its numbers and one target, and no word changes the question.
//
//   CheckKnownQuestion("stories", "Ann has 3 figs. She finds 2 more. How many
//       figs does Ann have now?")                                  -> ok
//   CheckKnownQuestion("stories", "What is 2+3?")                  -> not found
//
// Stateless and thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_KNOWN_QUESTIONS_H_
#define ESPALIER_DATASETS_TASKS_KNOWN_QUESTIONS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace espalier {

// Ok if the shipped model of `task` ("stories", "countdown") was trained on
// questions like this one, or if nothing is known about the task's questions;
// otherwise NotFound, naming what is unfamiliar in the question.
absl::Status CheckKnownQuestion(std::string_view task,
                                std::string_view question);

// A known question as the shipped model of `task` is asked it: a story in the
// sentences of its generator (story_words.h), a puzzle with its numbers in
// digits. The question itself if it is so already, or is not known.
std::string InKnownWords(std::string_view task, std::string_view question);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_KNOWN_QUESTIONS_H_
