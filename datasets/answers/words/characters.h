// Locale-independent classes of ASCII characters.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_CHARACTERS_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_CHARACTERS_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

inline constexpr size_t kNowhere = std::string_view::npos;

constexpr bool Digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool Letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool Blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline bool HasDigits(std::string_view text) {
  return std::any_of(text.begin(), text.end(), Digit);
}
inline bool HasLetters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), Letter);
}

inline std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_CHARACTERS_H_
