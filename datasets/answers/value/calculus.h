// Derivatives, integrals and limits that simple rules resolve; finite sums and
// products, written out.
//
//   ResolveCalculus(ParseMath("\\frac{d}{dx} x^2").value())   // 2 x
//
// Anything no rule covers is left unchanged. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_CALCULUS_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_CALCULUS_H_

#include "datasets/answers/value/expression.h"

namespace espalier {

Expr ResolveCalculus(const Expr& e);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_CALCULUS_H_
