// Answers that say the opposite of gold beside the same number.
//
//   OppositeWords("a loss of \\$10", "a profit of \\$10")   // "loss", "profit"
//   OppositeWords("2 men", "There are 2 women.")            // "men", "women"
//   OppositeWords("a loss of \\$10", "\\$10")               // nothing
//   OppositeWords("3 years", "three months")     // "years", "months"
//
// The pairs of opposite words are rows of phrases.txt.
//
// Stateless; looks at a bounded part of the texts: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_OPPOSITES_H_
#define ESPALIER_DATASETS_ANSWERS_OPPOSITES_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace espalier {

// A word that gold says of a number and the answer does not say, and its
// opposite, which the answer says of a number and gold does not say. Of a
// longer text, its last sentence counts, and of that the last part between
// commas that has a number. The same whichever text is gold, up to the order.
// Also two units behind a number that one of the texts writes in words
// (UnitsApart in unit_beside.h).
std::optional<std::pair<std::string, std::string>> OppositeWords(
    std::string_view gold, std::string_view answer);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_OPPOSITES_H_
