// The terms of an arithmetic or geometric progression that "..." omits.
//
//   SumThrough({1, 2}, 10)      // 55 for 1 + 2 + ... + 10
//   ItemsThrough({2, 4}, 10)    // 6, 8 for 2, 4, ..., 10
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_ELLIPSIS_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_ELLIPSIS_H_

#include <optional>
#include <vector>

#include "datasets/answers/value/expression.h"

namespace espalier {

// The sum from the first of `shown` to `last`. Null unless they are rational
// numbers of one progression, and if more than 2000 bits would be needed.
Expr SumThrough(const std::vector<Expr>& shown, const Expr& last);

// The items between the last of `shown` and `last`, at most 300.
std::optional<std::vector<Expr>> ItemsThrough(const std::vector<Expr>& shown,
                                              const Expr& last);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_ELLIPSIS_H_
