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
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace espalier {

enum class StoryEvent : uint8_t { kAdd, kSubtract, kMultiply, kDivide };

struct StoryChange {
  StoryEvent event = StoryEvent::kAdd;
  int64_t amount = 0;
};

struct StoryContent {
  std::string hero;   // in lower case, as it is first named
  std::string thing;  // the same
  bool she = false;   // the hero is "she" in the story
  int64_t first = 0;  // the quantity that it opens with
  std::vector<StoryChange> changes;
  int64_t last = 0;  // the quantity at the end
};

// NotFound says what does not belong in a story.
absl::StatusOr<StoryContent> ReadStoryContent(std::string_view question);
// The quantity at the end.
absl::StatusOr<int64_t> ReadStory(std::string_view question);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_STORY_READING_H_
