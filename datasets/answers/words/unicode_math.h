// Mathematical Unicode as LaTeX.
//
//   AsciiMath("x\u00b2 \u2264 \u00bd")   // "x^{2} \\le \\frac{1}{2}"
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_UNICODE_MATH_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_UNICODE_MATH_H_

#include <string>
#include <string_view>

namespace espalier {

// Everything in ASCII, except letters of other scripts. Bytes that are not
// UTF-8 become "?".
std::string AsciiMath(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_UNICODE_MATH_H_
