// A text as its words, numbers and signs, without markup.
//
//   BareWords("every $x$ but \\text{(B)}")   // every x but ( b )
//   BareWords("a loss of \\$1,000.")         // a loss of 1,000 .
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_BARE_WORDS_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_BARE_WORDS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// In lower case. Words with hyphens are one word without them; numerals are
// numbers: "Seven" is "7".
std::vector<std::string> BareWords(std::string_view text);

// Joined by blanks.
std::string JoinWords(std::span<const std::string> words);

// The start of the last sentence of a text that has more in it than marks.
size_t LastSentenceStart(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_BARE_WORDS_H_
