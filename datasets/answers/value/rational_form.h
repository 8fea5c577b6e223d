// Exact comparison through normal forms: quotients of polynomials with integer
// coefficients (FLINT's fmpz_mpoly_q, as Calcium ships it) over
//   - symbols, pi, e and unknown functions, treated as independent;
//   - square and higher roots of primes, g^q = p, and i, i^2 = -1;
//   - everything else (sin(1 + x), 2^x, roots of sums) as one more variable,
//     named by the normal form of its argument.
// Two expressions with one form are equal. If only the first two kinds occur,
// two forms mean that they differ: roots of different primes are linearly
// independent over the rationals (Besicovitch 1940).
//
//   RationalForms forms;
//   forms.Compare(*ParseMath("(x+1)^2").value(),
//   *ParseMath("x^2+2x+1").value())
//
// Degrees, terms and digits are bounded before each operation; the result is
// kUnknown if one would exceed the bounds. Not thread-safe: use one object per
// thread.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_RATIONAL_FORM_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_RATIONAL_FORM_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/answers/value/expression.h"

namespace espalier {

enum class Sameness { kEqual, kDifferent, kUnknown };

class RationalForms {
 public:
  RationalForms();
  ~RationalForms();
  RationalForms(const RationalForms&) = delete;
  RationalForms& operator=(const RationalForms&) = delete;

  Sameness Compare(const ExprNode& a, const ExprNode& b);
  // c where a = c b with a rational c other than 0; for equations, which stay
  // the same under a factor.
  std::optional<BigRational> ConstantRatio(const ExprNode& a,
                                           const ExprNode& b);
  // Whether a = 0 and b = 0 are the same up to denominators: y - 6/x and xy -
  // 6.
  bool SameNumerators(const ExprNode& a, const ExprNode& b);
  // The value of an expression that is a rational number.
  std::optional<BigRational> AsRational(const ExprNode& e);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_RATIONAL_FORM_H_
