#include "datasets/answers/value/ball_value.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "datasets/answers/value/finite_sum.h"

namespace espalier {
namespace {

constexpr int kMostBallSteps = 40000;
// In arithmetic operations.
constexpr int64_t kFunctionCost = 12;
constexpr int64_t kWholePowerCost = 6;
constexpr int64_t kGammaCost = 80;
constexpr int64_t kZetaCost = 400;

// The fraction, if the tree is an exact number; else null.
const BigRational* Literal(const ExprNode& e) {
  return e.op == Op::kNumber || e.op == Op::kBased ? &e.value : nullptr;
}

}  // namespace

bool BallEvaluator::Spend(int64_t cost) {
  int64_t digits = 1 + precision_ / 160;
  if (precision_ > 1200 && cost >= kFunctionCost) {
    digits += digits * precision_ / 1500;
  }
  // The cost of Gamma grows at least with the square of the digits.
  cost *= cost >= kGammaCost ? digits * digits : digits;
  steps_ += static_cast<int>(cost);
  if (budget_ != nullptr) *budget_ -= cost;
  return steps_ <= kMostBallSteps && (budget_ == nullptr || *budget_ >= 0);
}

void BallEvaluator::NoteBranch(const Ball& x) {
  const bool positive = arb_is_zero(acb_imagref(x.get())) != 0 &&
                        arb_is_nonnegative(acb_realref(x.get())) != 0;
  met_branch_ |= !positive;
}

bool BallEvaluator::Elementary(const std::string& name, Ball& x) {
  acb_struct* const z = x.get();
  const slong p = precision_;
  if (name == "factorial" && acb_is_int(z) != 0 &&
      arb_is_nonnegative(acb_realref(z)) != 0 &&
      arf_cmpabs_2exp_si(arb_midref(acb_realref(z)), 12) < 0) {
    const double n = arf_get_d(arb_midref(acb_realref(z)), ARF_RND_NEAR);
    if (!Spend(1 + static_cast<int64_t>(n) / 500)) return false;
    arb_fac_ui(acb_realref(z), static_cast<ulong>(n), p);
    return Finite(z);
  }
  if (!Spend(name == "zeta"        ? kZetaCost
             : name == "factorial" ? kGammaCost
                                   : kFunctionCost)) {
    return false;
  }
  // Added to 1, these hide e^-2|z|.
  const bool hyperbolic = name.find('h') != std::string::npos;
  const bool round = name == "sin" || name == "cos" || name == "tan" ||
                     name == "cot" || name == "sec" || name == "csc";
  if (hyperbolic || round) {
    mag_t size;
    mag_init(size);
    arb_get_mag(size, hyperbolic ? acb_realref(z) : acb_imagref(z));
    weight_ += 3 * std::min(mag_get_d(size), 1e9);
    mag_clear(size);
  }
  const auto inverted = [&] {
    acb_inv(z, z, p);
    return Finite(z);
  };
  if (name == "sin")
    acb_sin(z, z, p);
  else if (name == "cos")
    acb_cos(z, z, p);
  else if (name == "tan")
    acb_tan(z, z, p);
  else if (name == "cot")
    acb_cot(z, z, p);
  else if (name == "sec")
    acb_sec(z, z, p);
  else if (name == "csc")
    acb_csc(z, z, p);
  else if (name == "sinh")
    acb_sinh(z, z, p);
  else if (name == "cosh")
    acb_cosh(z, z, p);
  else if (name == "tanh")
    acb_tanh(z, z, p);
  else if (name == "coth")
    acb_coth(z, z, p);
  else if (name == "sech")
    acb_sech(z, z, p);
  else if (name == "csch")
    acb_csch(z, z, p);
  else if (name == "arcsin")
    acb_asin(z, z, p);
  else if (name == "arccos")
    acb_acos(z, z, p);
  else if (name == "arctan")
    acb_atan(z, z, p);
  else if (name == "arccot")
    return inverted() && (acb_atan(z, z, p), true);
  else if (name == "arcsec")
    return inverted() && (acb_acos(z, z, p), true);
  else if (name == "arccsc")
    return inverted() && (acb_asin(z, z, p), true);
  else if (name == "arsinh")
    acb_asinh(z, z, p);
  else if (name == "arcosh")
    acb_acosh(z, z, p);
  else if (name == "artanh")
    acb_atanh(z, z, p);
  else if (name == "ln") {
    NoteBranch(x);
    acb_log(z, z, p);
  } else if (name == "zeta") {
    // Far from 0 this takes seconds.
    if (arb_is_zero(acb_imagref(z)) == 0 ||
        arf_cmpabs_2exp_si(arb_midref(acb_realref(z)), 7) > 0) {
      return false;
    }
    acb_zeta(z, z, p);
  } else if (name == "re")
    arb_zero(acb_imagref(z));
  else if (name == "im") {
    arb_swap(acb_realref(z), acb_imagref(z));
    arb_zero(acb_imagref(z));
  } else if (name == "abs") {
    arb_t size;
    arb_init(size);
    acb_abs(size, z, p);
    acb_set_arb(z, size);
    arb_clear(size);
  } else if (name == "sgn")
    acb_sgn(z, z, p);
  else if (name == "factorial") {
    acb_add_ui(z, z, 1, p);
    acb_gamma(z, z, p);
  } else if (name == "double_factorial") {
    return DoubleFactorial(x);
  } else if (name == "floor" || name == "ceil") {
    if (arb_is_zero(acb_imagref(z)) == 0) return false;
    arb_struct* const r = acb_realref(z);
    name == "floor" ? arb_floor(r, r, p) : arb_ceil(r, r, p);
  } else {
    return false;
  }
  return Finite(z);
}

bool BallEvaluator::Counting(const std::string& name,
                             std::vector<const acb_struct*> x, Ball& out) {
  const slong p = precision_;
  if (name == "min" || name == "max") {
    acb_set(out.get(), x[0]);
    for (size_t i = 1; i < x.size(); ++i) {
      (name == "min" ? arb_min : arb_max)(
          acb_realref(out.get()), acb_realref(out.get()), acb_realref(x[i]), p);
    }
    return true;
  }
  if (name == "mod") {
    Ball quotient;
    acb_div(quotient.get(), x[0], x[1], p);
    arb_struct* const q = acb_realref(quotient.get());
    if (acb_is_finite(quotient.get()) == 0) return false;
    arb_floor(q, q, p);
    acb_mul_arb(out.get(), x[1], q, p);
    acb_sub(out.get(), x[0], out.get(), p);
    return true;
  }
  if (name == "binomial") {
    if (!Spend(3 * kGammaCost)) return false;
    // gamma(n + 1) / gamma(k + 1) / gamma(n - k + 1)
    Ball n, k, rest;
    acb_add_ui(n.get(), x[0], 1, p);
    acb_add_ui(k.get(), x[1], 1, p);
    acb_sub(rest.get(), x[0], x[1], p);
    acb_add_ui(rest.get(), rest.get(), 1, p);
    acb_gamma(n.get(), n.get(), p);
    acb_rgamma(k.get(), k.get(), p);
    acb_rgamma(rest.get(), rest.get(), p);
    acb_mul(out.get(), n.get(), k.get(), p);
    acb_mul(out.get(), out.get(), rest.get(), p);
    return Finite(out.get());
  }
  if (name == "gcd" || name == "lcm") {
    fmpz_t total, next;
    fmpz_init(total);
    fmpz_init(next);
    bool whole = true;
    for (size_t i = 0; i < x.size() && whole; ++i) {
      whole = arb_is_zero(acb_imagref(x[i])) != 0 &&
              arb_is_exact(acb_realref(x[i])) != 0 &&
              arb_get_unique_fmpz(next, acb_realref(x[i])) != 0;
      if (!whole) break;
      if (i == 0)
        fmpz_set(total, next);
      else if (name == "gcd")
        fmpz_gcd(total, total, next);
      else
        fmpz_lcm(total, total, next);
    }
    if (whole) acb_set_fmpz(out.get(), total);
    fmpz_clear(total);
    fmpz_clear(next);
    return whole;
  }
  return false;
}

bool BallEvaluator::Function(const ExprNode& e, Ball& out) {
  if (e.args.size() == 1) {
    return Evaluate(*e.args[0], out) && Elementary(e.name, out);
  }
  std::vector<std::unique_ptr<Ball>> values;
  std::vector<const acb_struct*> x;
  for (const Expr& arg : e.args) {
    values.push_back(std::make_unique<Ball>());
    if (!Evaluate(*arg, *values.back())) return false;
    x.push_back(values.back()->get());
  }
  if (!Spend(kFunctionCost)) return false;
  if (e.name == "log") {
    NoteBranch(*values[0]);
    NoteBranch(*values[1]);
    acb_log(values[0]->get(), x[0], precision_);
    acb_log(values[1]->get(), x[1], precision_);
    acb_div(out.get(), x[0], x[1], precision_);
    return Finite(out.get());
  }
  if (e.name == "root") {
    const BigRational* const n = Literal(*e.args[1]);
    if (n == nullptr || !n->small() || n->small_value() < 2 ||
        n->small_value() > 1000) {
      // For a symbolic order: the principal root.
      acb_inv(values[1]->get(), x[1], precision_);
      acb_pow(out.get(), x[0], x[1], precision_);
      return Finite(out.get());
    }
    const ulong order = static_cast<ulong>(n->small_value());
    const bool negative = arb_is_zero(acb_imagref(x[0])) != 0 &&
                          arb_is_negative(acb_realref(x[0])) != 0;
    if (negative && order % 2 == 1) {
      acb_neg(out.get(), x[0]);
      acb_root_ui(out.get(), out.get(), order, precision_);
      acb_neg(out.get(), out.get());
    } else {
      NoteBranch(*values[0]);
      acb_root_ui(out.get(), x[0], order, precision_);
    }
    return Finite(out.get());
  }
  return Counting(e.name, std::move(x), out);
}

// Sums terms until the rest is bounded by a geometric series with ratio below
// 3/4, judging by the last terms: good enough to compare with a closed form,
// but not a proof.
bool BallEvaluator::InfiniteSum(const ExprNode& e, Ball& out) {
  const BigRational* const low = Literal(*e.args[2]);
  if (e.op != Op::kSum || low == nullptr || !low->small() ||
      e.args[3]->op != Op::kInfinity || low->bits() > 20) {
    return false;
  }
  const slong wanted = std::min<slong>(precision_, 200);
  acb_zero(out.get());
  Sample sample = sample_;
  Ball term, last;
  for (int64_t k = low->small_value(), n = 0; n < 1200; ++k, ++n) {
    sample[e.args[1]->name] = BigRational(k);
    BallEvaluator inner(precision_, sample, budget_);
    inner.steps_ = steps_;
    if (!inner.Evaluate(*e.args[0], term)) return false;
    steps_ = inner.steps_;
    acb_add(out.get(), out.get(), term.get(), precision_);
    mag_t now, before;
    mag_init(now);
    mag_init(before);
    acb_get_mag(now, term.get());
    acb_get_mag(before, last.get());
    // With a ratio of at most 3/4, the rest is at most four times this term.
    mag_mul_2exp_si(now, now, 2);
    mag_mul_ui(before, before, 3);
    const bool shrinks = n > 2 && mag_cmp(now, before) <= 0;
    const bool small = mag_cmp_2exp_si(now, -wanted) < 0;
    if (shrinks && small) {
      acb_add_error_mag(out.get(), now);
      mag_clear(now);
      mag_clear(before);
      return true;
    }
    mag_clear(now);
    mag_clear(before);
    acb_set(last.get(), term.get());
  }
  return false;
}

bool BallEvaluator::DoubleFactorial(Ball& x) {
  const int64_t n = acb_is_int(x.get()) == 0
                        ? -1
                        : static_cast<int64_t>(arf_get_d(
                              arb_midref(acb_realref(x.get())), ARF_RND_NEAR));
  if (n < 0 || n > 3000 || !Spend(n)) return false;
  acb_one(x.get());
  for (int64_t k = n; k > 1; k -= 2) {
    acb_mul_si(x.get(), x.get(), k, precision_);
  }
  return true;
}

// x^(p/q) of a negative number with odd q, as symbolic formulas mean it: the
// real root.
bool BallEvaluator::RealRoot(const ExprNode& power, Ball& x) {
  const auto value = RationalValue(power);
  if (!value || value->integer() || value->bits() > 20 ||
      fmpz_is_even(fmpq_denref(value->get())) != 0 ||
      arb_is_zero(acb_imagref(x.get())) == 0 ||
      arb_is_negative(acb_realref(x.get())) == 0) {
    return false;
  }
  Ball exponent;
  acb_set_fmpq(exponent.get(), value->get(), precision_);
  acb_neg(x.get(), x.get());
  acb_pow(x.get(), x.get(), exponent.get(), precision_);
  if (fmpz_is_odd(fmpq_numref(value->get())) != 0) acb_neg(x.get(), x.get());
  return true;
}

bool BallEvaluator::Finite(const acb_struct* z) {
  const bool finite = acb_is_finite(z) != 0;
  met_pole_ |= !finite;
  return finite;
}

void BallEvaluator::AddWeight(const ExprNode& e, const Ball& x) {
  // Sums and products are no larger or smaller than their parts.
  if (e.op == Op::kAdd || e.op == Op::kMultiply ||
      acb_contains_zero(x.get()) != 0) {
    return;
  }
  mag_t size;
  mag_init(size);
  acb_get_mag(size, x.get());
  weight_ += std::abs(mag_get_d_log2_approx(size));
  mag_clear(size);
}

bool BallEvaluator::Evaluate(const ExprNode& e, Ball& out) {
  if (!EvaluateNode(e, out)) return false;
  AddWeight(e, out);
  return true;
}

bool BallEvaluator::EvaluateNode(const ExprNode& e, Ball& out) {
  if (!Spend(1)) return false;
  acb_struct* const z = out.get();
  const slong p = precision_;
  switch (e.op) {
    case Op::kNumber:
    case Op::kBased:
      acb_set_fmpq(z, e.value.get(), p);
      return true;
    case Op::kSymbol: {
      const auto found = sample_.find(e.name);
      if (found == sample_.end()) return false;
      acb_set_fmpq(z, found->second.get(), p);
      return true;
    }
    case Op::kPi:
      acb_const_pi(z, p);
      return true;
    case Op::kE:
      acb_zero(z);
      arb_const_e(acb_realref(z), p);
      return true;
    case Op::kImaginary:
      acb_onei(z);
      return true;
    case Op::kAdd:
    case Op::kMultiply: {
      met_pole_ |=
          std::any_of(e.args.begin(), e.args.end(),
                      [](const Expr& arg) { return arg->op == Op::kInfinity; });
      if (!Evaluate(*e.args[0], out)) return false;
      for (size_t i = 1; i < e.args.size(); ++i) {
        Ball next;
        if (!Evaluate(*e.args[i], next)) return false;
        (e.op == Op::kAdd ? acb_add : acb_mul)(z, z, next.get(), p);
      }
      return Finite(z);
    }
    case Op::kPower: {
      Ball exponent;
      if (!Evaluate(*e.args[0], out)) return false;
      const BigRational* const power = Literal(*e.args[1]);
      if (power != nullptr && *power == BigRational(1, 2)) {
        NoteBranch(out);
        acb_sqrt(z, z, p);
        return Finite(z);
      }
      if (e.args[1]->op == Op::kInfinity) {
        arb_t size;
        arb_init(size);
        acb_abs(size, z, p);
        arb_sub_ui(size, size, 1, p);
        met_pole_ |= arb_is_positive(size) != 0;
        arb_clear(size);
        return false;
      }
      // An integer power costs a few products.
      const bool whole = power != nullptr && power->small();
      if (!Evaluate(*e.args[1], exponent) ||
          !Spend(whole ? kWholePowerCost : kFunctionCost)) {
        return false;
      }
      if (!sample_.empty() && RealRoot(*e.args[1], out)) {
        return Finite(z);
      }
      if (acb_is_int(exponent.get()) == 0) NoteBranch(out);
      if (acb_is_zero(z) != 0 && acb_is_zero(exponent.get()) == 0 &&
          arb_is_positive(acb_realref(exponent.get())) != 0) {
        return true;
      }
      acb_pow(z, z, exponent.get(), p);
      return Finite(z);
    }
    case Op::kFunction:
      return Function(e, out);
    case Op::kPercent:
      if (!Evaluate(*e.args[0], out)) return false;
      acb_div_ui(z, z, 100, p);
      return true;
    case Op::kQuantity:
      if (!Evaluate(*e.args[0], out)) return false;
      if (e.name == " degree") {
        Ball pi;
        acb_const_pi(pi.get(), p);
        acb_mul(z, z, pi.get(), p);
        acb_div_ui(z, z, 180, p);
      }
      return true;
    case Op::kSum:
    case Op::kProduct: {
      if (e.args[3]->op == Op::kInfinity) return InfiniteSum(e, out);
      const Expr sum = WrittenOut(e);
      if (sum != nullptr) steps_ += 8 * static_cast<int>(sum->args.size());
      return sum != nullptr && Evaluate(*sum, out);
    }
    default:
      return false;
  }
}

}  // namespace espalier
