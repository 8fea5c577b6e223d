// The last number of a text in words, and its position.
//
//   LastNumberOf("3 plums cost $1,234.50 now")   // "1,234.50"
//   LastNumberOf("AZYUK2A")                      // none
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_NUMBER_PLACE_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_NUMBER_PLACE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace espalier {

// A number in a text: its digits with a percent sign or "million" behind them,
// and the position of the digits.
struct NumberPlace {
  std::string text;
  size_t start = 0, end = 0;
};

// The last number of a sentence with its percent or currency sign: "-1,234.5",
// "1/2", "28%". A digit inside a word is not a number.
std::optional<NumberPlace> LastNumberPlace(std::string_view text);
std::optional<std::string> LastNumberOf(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_NUMBER_PLACE_H_
