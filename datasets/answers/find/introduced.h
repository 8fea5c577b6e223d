// Where a response introduces its answer with words: "the answer is".
//
// Stateless; searches the text once for each mark: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_INTRODUCED_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_INTRODUCED_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "datasets/answers/words/characters.h"

namespace espalier {

// Where a phrase introduces the answer.
struct Introduced {
  size_t at = kNowhere, behind = 0;
  // Whether a later phrase, or what follows, retracts the answer, and where the
  // sentence that does so ends.
  bool unsure = false;
  size_t denied_up_to = 0;

  // Whether that doubt applies to the text behind `from`.
  bool Doubts(size_t from) const { return unsure && from < denied_up_to; }
};

// The last mark at a word's begin that does not end inside a word ("the answer
// isn't"), in a sentence that claims what it says.
Introduced LastClaimed(std::string_view text, std::string_view lower,
                       const std::vector<std::string_view>& marks);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_INTRODUCED_H_
