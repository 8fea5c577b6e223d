// Sums with any bounds in closed form, if their terms are made of powers of the
// index, c k^m, or are geometric, c r^k:
//
//   ClosedSum(*ParseMath("\\sum_{k=1}^n k").value())            // n(n+1)/2
//   ClosedSum(*ParseMath("\\sum_{k=0}^\\infty 2^{-k}").value())   // 2
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_CLOSED_SUM_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_CLOSED_SUM_H_

#include "datasets/answers/value/expression.h"

namespace espalier {

// `e` is an Op::kSum. Null for other terms, powers above 6, divergent sums, and
// more than 40 terms once products are expanded.
Expr ClosedSum(const ExprNode& e);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_CLOSED_SUM_H_
