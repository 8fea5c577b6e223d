// Formulas that prose holds in plain signs, without the marks of LaTeX.
//
//   MarkFormulas("Hence f(x) = 3x^2 - 2.")   // "Hence \\(f(x) = 3x^2 - 2\\)."
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_PLAIN_FORMULAS_H_
#define ESPALIER_DATASETS_ANSWERS_PLAIN_FORMULAS_H_

#include <string>
#include <string_view>

namespace espalier {

// The text with \( and \) around what only a formula is: operands joined by
// signs, roots and powers, tuples. Plain numbers, dates, ranges ("10-20") and
// single letters stay as they are. Empty where there is none, where the text
// has LaTeX of its own, and of more than kLongestMarked bytes.
std::string MarkFormulas(std::string_view text);

inline constexpr size_t kLongestMarked = 4000;

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_PLAIN_FORMULAS_H_
