// Finds formulas that prose writes in plain signs, without LaTeX markup.
//
//   MarkFormulas("Hence f(x) = 3x^2 - 2.")   // "Hence \\(f(x) = 3x^2 - 2\\)."
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_PLAIN_FORMULAS_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_PLAIN_FORMULAS_H_

#include <string>
#include <string_view>

namespace espalier {

// The text with \( and \) around anything that can only be a formula: operands
// joined by signs, roots and powers, tuples. Plain numbers, dates, ranges
// ("10-20") and single letters stay unchanged. Empty if there is none, if the
// text has its own LaTeX, or if it is longer than kLongestMarked bytes.
std::string MarkFormulas(std::string_view text);

inline constexpr size_t kLongestMarked = 4000;

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_PLAIN_FORMULAS_H_
