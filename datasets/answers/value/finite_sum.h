// Sums and products with integer bounds, written out; sums and products whose
// terms do not depend on the index, as multiples and powers.
//
//   WrittenOut(*ParseMath("\\sum_{k=1}^3 k^2").value())   // 1^2 + 2^2 + 3^2
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_FINITE_SUM_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_FINITE_SUM_H_

#include "datasets/answers/value/expression.h"

namespace espalier {

// `e` is an Op::kSum or Op::kProduct. Null if the bounds are not integers, or
// for more than 300 terms.
Expr WrittenOut(const ExprNode& e);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_FINITE_SUM_H_
