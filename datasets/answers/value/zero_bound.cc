#include "datasets/answers/value/zero_bound.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

constexpr double kHighestBounded = 256;
constexpr int kMostBoundSteps = 300;

// Logarithms to base 2 of u and l.
struct Sizes {
  double top = 0, bottom = 0;
};

class Bound {
 public:
  std::optional<Sizes> Of(const ExprNode& e) {
    if (++steps_ > kMostBoundSteps) return std::nullopt;
    switch (e.op) {
      case Op::kNumber:
      case Op::kBased:
        return Rational(e.value);
      case Op::kImaginary:
        degree *= 2;
        return Sizes{};
      case Op::kAdd:
      case Op::kMultiply:
        return OfAll(e);
      case Op::kPower:
        return OfPower(e);
      case Op::kFunction:
        return OfRoot(e);
      default:
        return std::nullopt;
    }
  }

  double degree = 1;

 private:
  static Sizes Rational(const BigRational& value) {
    const auto bits = [](const fmpz* n) {
      return static_cast<double>(fmpz_bits(n));
    };
    return {bits(fmpq_numref(value.get())), bits(fmpq_denref(value.get()))};
  }

  std::optional<Sizes> OfAll(const ExprNode& e) {
    Sizes out = e.op == Op::kAdd ? Sizes{-1, 0} : Sizes{};
    bool first = true;
    for (const Expr& arg : e.args) {
      const auto next = Of(*arg);
      if (!next) return std::nullopt;
      if (first) {
        out = *next;
      } else if (e.op == Op::kMultiply) {
        out = {out.top + next->top, out.bottom + next->bottom};
      } else {
        const double a = out.top + next->bottom, b = out.bottom + next->top;
        out = {std::max(a, b) + 1, out.bottom + next->bottom};
      }
      first = false;
    }
    return out;
  }

  // e^(p/q)
  std::optional<Sizes> OfPower(const ExprNode& e) {
    const ExprNode& exponent = *e.args[1];
    if (exponent.op != Op::kNumber || exponent.value.bits() > 12) {
      return std::nullopt;
    }
    const auto base = Of(*e.args[0]);
    if (!base) return std::nullopt;
    const double p =
        static_cast<double>(fmpz_get_si(fmpq_numref(exponent.value.get())));
    const double q =
        static_cast<double>(fmpz_get_si(fmpq_denref(exponent.value.get())));
    return Rooted(p < 0 ? Sizes{base->bottom, base->top} : *base, std::abs(p),
                  q);
  }

  std::optional<Sizes> OfRoot(const ExprNode& e) {
    if (e.name == "abs" && IsReal(*e.args[0])) return Of(*e.args[0]);
    if (e.name != "root" || e.args[1]->op != Op::kNumber ||
        !e.args[1]->value.small() || e.args[1]->value.small_value() < 2 ||
        e.args[1]->value.small_value() > 64) {
      return std::nullopt;
    }
    const auto base = Of(*e.args[0]);
    if (!base) return std::nullopt;
    return Rooted(*base, 1,
                  static_cast<double>(e.args[1]->value.small_value()));
  }

  std::optional<Sizes> Rooted(Sizes base, double p, double q) {
    degree *= q;
    if (degree > kHighestBounded) return std::nullopt;
    base = {base.top * p, base.bottom * p};
    if (base.top >= base.bottom) {
      return Sizes{(base.top + (q - 1) * base.bottom) / q, base.bottom};
    }
    return Sizes{base.top, ((q - 1) * base.top + base.bottom) / q};
  }

  // For such numbers |e| is either e or -e.
  static bool IsReal(const ExprNode& e) {
    return e.op == Op::kNumber ||
           ((e.op == Op::kAdd || e.op == Op::kMultiply) &&
            std::all_of(e.args.begin(), e.args.end(),
                        [](const Expr& arg) { return IsReal(*arg); }));
  }

  int steps_ = 0;
};

}  // namespace

std::optional<double> ZeroBoundBits(const ExprNode& e) {
  Bound bound;
  const auto sizes = bound.Of(e);
  if (!sizes || bound.degree > kHighestBounded) return std::nullopt;
  return (bound.degree - 1) * sizes->top + sizes->bottom + 1;
}

}  // namespace espalier
