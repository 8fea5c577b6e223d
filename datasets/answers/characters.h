// Locale-independent classes of ASCII characters.
#ifndef ESPALIER_DATASETS_ANSWERS_CHARACTERS_H_
#define ESPALIER_DATASETS_ANSWERS_CHARACTERS_H_

#include <string>
#include <string_view>

namespace espalier {

constexpr bool Digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool Letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool Blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_CHARACTERS_H_
