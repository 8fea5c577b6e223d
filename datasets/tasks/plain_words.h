// A sentence cut into words, with number words read as numbers.
//
//   "Ann's box holds twenty-three shells, now."
//     -> ann 's box holds twenty-three shells now
//
// Stateless and thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_PLAIN_WORDS_H_
#define ESPALIER_DATASETS_TASKS_PLAIN_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// Parallel lists, one entry per word.
struct PlainWords {
  std::vector<std::string> texts;  // in lower case
  std::vector<std::string> names;  // as written where capital, else ""
  std::vector<bool> after_comma;   // a comma, colon or semicolon before it
  // From digits without a decimal point ("1200", "1,200") or from words
  // ("twenty-three").
  std::vector<std::optional<int64_t>> numbers;
};

// Full stops, quotes, brackets and hyphens between letters are dropped; any
// other character that is neither letter nor digit is a word.
PlainWords CutWords(std::string_view sentence);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_PLAIN_WORDS_H_
