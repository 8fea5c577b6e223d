// Stories in the words that the shipped model learnt. It reads the sentences of
// the generator (story_sentences.h) and no others: a story told otherwise is
// put into them before it is asked.
//
//   InStoryWords("Rosa owns thirty badges. Then she hands her brother five. How
//   "
//                "many badges has she got now?")
//       // "Ann has 30 shells. She loses 5 shells. How many shells does Ann
//       // have now?"
//
// Stateless and thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_STORY_WORDS_H_
#define ESPALIER_DATASETS_TASKS_STORY_WORDS_H_

#include <string>
#include <string_view>

namespace espalier {

// The story in the generator's sentences, with one of its names and things
// where it has not got the story's own. The question itself if it is in those
// sentences already, is no story, or has a factor that they have no word for.
std::string InStoryWords(std::string_view question);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_STORY_WORDS_H_
