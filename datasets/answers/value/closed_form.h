// Logarithms, exponentials, hyperbolic functions, Gamma and zeta of numbers,
// where they reduce to logarithms of primes, powers and pi.
//
//   ClosedForm(ln(2 e), forms)         // ln(2) + 1
//   ClosedForm(2^(log_2 5), forms)     // 5
//   ClosedForm(sinh(ln 2), forms)      // (2 - 2^-1)/2
//
// Stateless: thread-safe if no other thread uses `forms` during the call.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_CLOSED_FORM_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_CLOSED_FORM_H_

#include "datasets/answers/value/expression.h"
#include "datasets/answers/value/rational_form.h"

namespace espalier {

// The same value. Null if no such function occurs, for symbols, and for large
// trees.
Expr ClosedForm(const Expr& e, RationalForms& forms);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_CLOSED_FORM_H_
