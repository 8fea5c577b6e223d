// Parses an answer in LaTeX or plain text into a tree.
//
//   ParseMath("\\frac{1}{2} + \\sqrt 3", {})   // 1/2 + sqrt(3)
//   ParseMath("x \\in [1, 2)", {})             // a relation
//   ParseMath("\\frac{}{2}", {})               // error: expected ...
//
// Errors say what was expected and where. More than kLongestMath bytes, more
// tokens than kMostTokens or deeper nesting than kDeepest is an error: time and
// memory are linear in what remains. Thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_NOTATION_PARSER_H_
#define ESPALIER_DATASETS_ANSWERS_NOTATION_PARSER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "datasets/answers/notation/lexer.h"
#include "datasets/answers/value/expression.h"

namespace espalier {

inline constexpr size_t kLongestMath = 8000;
// Counted in grammar steps, about eight per bracket.
inline constexpr int kDeepest = 400;

// `text` as written; CleanMath is applied here.
absl::StatusOr<Expr> ParseMath(std::string_view text,
                               const LexOptions& options = {});

// The number that a token's digits write, with its decimals. Null if its
// exponent or length exceeds the bounds.
Expr NumberFromDigits(std::string_view digits);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_NOTATION_PARSER_H_
