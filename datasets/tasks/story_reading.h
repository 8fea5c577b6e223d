// Reads a story by its forms (story_forms.h): whose things are counted, and how
// each sentence changes them.
//
//   ReadStory("Ann has 23 shells. She finds 48 more. How many shells does Ann "
//             "have now?")                      -> 71
//   ReadStory("Ann has 23 shells. She finds 48 more. How many shells does Tom "
//             "have now?")                      -> not found: ...
//
// Every sentence must match a form. The quantity must belong to one person from
// the first sentence to the question, and stay within a story's bounds.
//
// Stateless and thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_STORY_READING_H_
#define ESPALIER_DATASETS_TASKS_STORY_READING_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace espalier {

// The quantity at the end; NotFound says what does not belong in a story.
absl::StatusOr<int64_t> ReadStory(std::string_view question);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_STORY_READING_H_
