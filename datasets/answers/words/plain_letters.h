// Names with and without diacritics: "Velázquez" and "Velazquez", also where
// the marks are characters of their own.
//
//   WithPlainLetters("Dvořák")   // "Dvorak"
//
// Single letters stay, since they are signs: "5 Å", "x̄". Stateless:
// thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_PLAIN_LETTERS_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_PLAIN_LETTERS_H_

#include <string>
#include <string_view>

namespace espalier {

std::string WithPlainLetters(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_PLAIN_LETTERS_H_
