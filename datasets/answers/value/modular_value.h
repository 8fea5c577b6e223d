// Separates integers too large to write out by their remainders.
//
//   RemaindersAgree(2023!, 2023! - 1, budget)            // false: they differ
//   RemaindersAgree(2^(10^20), 4^(5 * 10^19), budget)    // true
//
// Remainders modulo four primes of about 60 bits: one that differs proves the
// numbers different; all four agree by chance with probability below 10^-60 for
// numbers not constructed for it. Symbols get random remainders: quotients of
// polynomials that differ agree no more often. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_MODULAR_VALUE_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_MODULAR_VALUE_H_

#include <cstdint>
#include <optional>

#include "datasets/answers/value/expression.h"

namespace espalier {

// Nothing if either side is not made of numbers, + - * /, integer powers,
// factorials and binomial coefficients, or costs more than `budget`, which
// counts down the factors that may still be multiplied.
std::optional<bool> RemaindersAgree(const ExprNode& a, const ExprNode& b,
                                    int64_t& budget);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_MODULAR_VALUE_H_
