// Exact equality of algebraic and elementary numbers by Calcium.
//
//   ExactlyEqual(*a, *b)   // kEqual: proven; kUnknown: not within the bounds
//
// Calcium's own limits (precision, degree of algebraic numbers, size of ideals)
// are set low, and it gets only expressions with few roots and functions over
// small numbers; docs/adr/0013-bounded-calcium.md says what that bounds.
// Thread-safe: each call has its own context.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_EXACT_VALUE_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_EXACT_VALUE_H_

#include "datasets/answers/value/expression.h"
#include "datasets/answers/value/rational_form.h"

namespace espalier {

// Both are free of symbols.
Sameness ExactlyEqual(const ExprNode& a, const ExprNode& b);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_EXACT_VALUE_H_
