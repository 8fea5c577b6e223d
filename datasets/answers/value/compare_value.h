// Whether two expressions have the same value. Each stage runs only if the one
// before leaves it open:
//   1. infinities; units; percent signs; digits in another base
//   2. normal forms over polynomials and roots of primes (rational_form.h)
//   3. a decimal against the number that it rounds
//   4. balls at several points: apart means different (ball_value.h)
//   5. for numbers a proof: remainders (modular_value.h), closed forms
//      (closed_form.h), a separation bound (zero_bound.h), Calcium
//      (exact_value.h); otherwise unknown
//   6. for functions remainders at random points, or agreement at points to
//      more digits than their numbers can hide a difference in (points.h)
//
//   ValueComparer comparer(policy);
//   comparer.Compare(gold, answer).how   // "both are 3/4"
//
// Not thread-safe: use one per comparison.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_COMPARE_VALUE_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_COMPARE_VALUE_H_

#include <optional>
#include <string>

#include "datasets/answers/value/expression.h"
#include "datasets/answers/value/policy.h"
#include "datasets/answers/value/rational_form.h"

namespace espalier {

struct ValueVerdict {
  Sameness same = Sameness::kUnknown;
  std::string how;  // why, for people
};

class ValueComparer {
 public:
  explicit ValueComparer(const GradePolicy& policy) : policy_(policy) {}

  ValueVerdict Compare(const Expr& gold, const Expr& answer);
  bool Equal(const Expr& a, const Expr& b) {
    return Compare(a, b).same == Sameness::kEqual;
  }
  // The sign of c where a = c b, c nonzero and rational or real.
  std::optional<int> RatioSign(const Expr& a, const Expr& b);
  // Whether a = 0 and b = 0 are the same equation up to denominators.
  bool SameEquation(const Expr& a, const Expr& b) {
    return forms_.SameNumerators(*a, *b);
  }
  // Whether a = b is a false statement: two numbers that are not even
  // approximately equal.
  bool Contradict(const Expr& a, const Expr& b);
  // -1, 0, 1 for a < b, a = b, a > b; nothing if they are not two real numbers
  // that can be separated.
  std::optional<int> Order(const Expr& a, const Expr& b);

 private:
  ValueVerdict CompareCores(const Expr& a, const Expr& b);
  ValueVerdict CompareBalls(const Expr& a, const Expr& b);
  ValueVerdict CompareNumbers(const Expr& a, const Expr& b);
  Sameness ProveEqual(const Expr& a, const Expr& b, double distance);
  bool Rounds(const Expr& decimal, const Expr& exact);
  bool WithinTolerance(const Expr& a, const Expr& b);

  const GradePolicy& policy_;
  RationalForms forms_;
  // Remaining budget for balls (ball_value.h); proofs by Calcium and by closed
  // forms so far.
  int64_t budget_ = 200000;
  int proofs_ = 0;
  int closed_forms_ = 0;
  // Factors that remainders may still multiply (modular_value.h).
  int64_t factors_ = 1500000;
};

// 1 for oo, -1 for -oo, 0 for neither.
int InfinitySign(const ExprNode& e);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_COMPARE_VALUE_H_
