// How close to 0 a number made of integers, + - * / and roots can come without
// being 0: |e| >= 2^-ZeroBoundBits(e), or e = 0. The bound of Burnikel, Funke,
// Mehlhorn, Schirra and Schmitt ("A Separation Bound for Real Algebraic
// Expressions", 2009): with u and l for the sizes of numerator and denominator
// and D for the product of the roots' orders, |e| >= 1 / (u^(D-1) l).
//
//   ZeroBoundBits(*ParseMath("\\sqrt2 + \\sqrt3 - 3.1").value())   // 24
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_ZERO_BOUND_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_ZERO_BOUND_H_

#include <optional>

#include "datasets/answers/value/expression.h"

namespace espalier {

// Nothing if `e` holds anything else, or if the bound is out of reach.
std::optional<double> ZeroBoundBits(const ExprNode& e);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_ZERO_BOUND_H_
