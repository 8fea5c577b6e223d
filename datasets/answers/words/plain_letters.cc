#include "datasets/answers/words/plain_letters.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "datasets/answers/words/characters.h"

namespace espalier {
namespace {

// The letters without diacritics from U+00C0 to U+017F; '?' for those that are
// no letters or become several.
constexpr std::string_view kPlain =
    "AAAAAA?CEEEEIIIIDNOOOOO?OUUUUY??aaaaaa?ceeeeiiiidnooooo?ouuuuy?y"
    "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIi??JjKkkLlLlLlL"
    "lLlNnNnNnnNnOoOoOo??RrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";

struct Several {
  uint32_t code;
  std::string_view letters;
};
constexpr Several kSeveral[] = {{0xc6, "Ae"},  {0xe6, "ae"},  {0xde, "Th"},
                                {0xfe, "th"},  {0xdf, "ss"},  {0x152, "Oe"},
                                {0x153, "oe"}, {0x132, "Ij"}, {0x133, "ij"}};

// The plain letters of a character of two bytes; empty if it is no letter of
// names.
std::string_view PlainLetters(uint32_t code) {
  constexpr uint32_t kFirst = 0xc0;
  for (const Several& letter : kSeveral) {
    if (letter.code == code) return letter.letters;
  }
  if (code < kFirst || code >= kFirst + kPlain.size()) return {};
  const std::string_view letter = kPlain.substr(code - kFirst, 1);
  return letter == "?" ? std::string_view() : letter;
}

bool CombiningMark(uint32_t code) { return code >= 0x300 && code <= 0x36f; }

// The character of two bytes at `at`; 0 if there is none.
uint32_t TwoBytes(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0xc3 || first > 0xcd || at + 1 >= text.size()) return 0;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  if ((second & 0xc0) != 0x80) return 0;
  return (static_cast<uint32_t>(first & 0x1f) << 6) | (second & 0x3f);
}

}  // namespace

std::string WithPlainLetters(std::string_view text) {
  constexpr int kFewest = 2, kFewestMarked = 3;
  std::string out, word;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    word.clear();
    int letters = 0;
    bool whole = false;
    while (at < text.size()) {
      if (Letter(text[at])) {
        word += text[at++];
        ++letters;
        continue;
      }
      const uint32_t code = TwoBytes(text, at);
      const std::string_view plain = PlainLetters(code);
      if (plain.empty() && !(letters > 0 && CombiningMark(code))) break;
      whole |= !plain.empty();
      letters += plain.empty() ? 0 : 1;
      word += plain;
      at += 2;
    }
    if (at == start) {
      out += text[at++];
    } else if (letters >= (whole ? kFewest : kFewestMarked)) {
      out += word;
    } else {
      out += text.substr(start, at - start);
    }
  }
  return out;
}

}  // namespace espalier
