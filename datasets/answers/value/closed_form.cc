#include "datasets/answers/value/closed_form.h"

#include <bernoulli.h>
#include <flint/ulong_extras.h>

#include <algorithm>

#include "datasets/answers/value/ball_value.h"

namespace espalier {
namespace {

constexpr int kLargest = 120;  // nodes
constexpr int kMostFormSteps = 400;

bool Meant(const ExprNode& e) {
  static constexpr std::string_view kNames[] = {
      "ln",   "log",    "sinh",   "cosh",   "tanh",      "coth", "sech",
      "csch", "arsinh", "arcosh", "artanh", "factorial", "zeta"};
  if (e.op == Op::kFunction && std::find(std::begin(kNames), std::end(kNames),
                                         e.name) != std::end(kNames)) {
    return true;
  }
  return std::any_of(e.args.begin(), e.args.end(),
                     [](const Expr& arg) { return Meant(*arg); });
}

bool Positive(const ExprNode& e) {
  const Sample none;
  Ball x;
  return BallEvaluator(96, none).Evaluate(e, x) &&
         arb_is_zero(acb_imagref(x.get())) != 0 &&
         arb_is_positive(acb_realref(x.get())) != 0;
}

// ln p for each prime that occurs.
void FindLogs(const Expr& e, std::vector<Expr>& logs) {
  if (e->op == Op::kFunction && e->name == "ln") {
    const bool known =
        std::any_of(logs.begin(), logs.end(),
                    [&e](const Expr& other) { return SameTree(*e, *other); });
    if (!known) logs.push_back(e);
    return;
  }
  for (const Expr& arg : e->args) FindLogs(arg, logs);
}

class Rewriter {
 public:
  explicit Rewriter(RationalForms& forms) : forms_(forms) {}

  Expr Of(const Expr& e) {
    if (e->args.empty() || ++steps_ > kMostFormSteps) return e;
    std::vector<Expr> args;
    for (const Expr& arg : e->args) args.push_back(Of(arg));
    if (e->op == Op::kPower) return PowerOf(args[0], args[1]);
    if (e->op == Op::kFunction) return FunctionOf(*e, std::move(args));
    return WithArgs(*e, std::move(args));
  }

 private:
  // The logarithm of a positive number.
  Expr Log(const Expr& e) {
    if (e->op == Op::kE) return Number(1);
    if (++steps_ <= kMostFormSteps && Positive(*e)) {
      if (const auto value = forms_.AsRational(*e)) return LogOf(*value);
      if (e->op == Op::kPower && Positive(*e->args[0])) {
        return Multiply(e->args[1], Log(e->args[0]));
      }
      const bool parts =
          e->op == Op::kMultiply &&
          std::all_of(e->args.begin(), e->args.end(),
                      [](const Expr& arg) { return Positive(*arg); });
      if (parts) {
        std::vector<Expr> terms;
        for (const Expr& arg : e->args) terms.push_back(Log(arg));
        return Make(Op::kAdd, std::move(terms));
      }
      if (e->op == Op::kFunction && e->name == "root" &&
          Positive(*e->args[0])) {
        return Divide(Log(e->args[0]), e->args[1]);
      }
    }
    return Function("ln", {e});
  }

  static Expr LogOf(const BigRational& value) {
    std::vector<Expr> terms{Number(0)};
    int sign = 1;
    for (const fmpz* part :
         {fmpq_numref(value.get()), fmpq_denref(value.get())}) {
      if (!fmpz_abs_fits_ui(part)) return Function("ln", {Number(value)});
      n_factor_t factors;
      n_factor_init(&factors);
      n_factor(&factors, fmpz_get_ui(part), 1);
      for (int i = 0; i < factors.num; ++i) {
        if (factors.p[i] >> 62 != 0) return Function("ln", {Number(value)});
        const auto prime = static_cast<int64_t>(factors.p[i]);
        terms.push_back(
            Multiply(Number(sign * static_cast<int64_t>(factors.exp[i])),
                     Function("ln", {Number(prime)})));
      }
      sign = -1;
    }
    return Make(Op::kAdd, std::move(terms));
  }

  // b^(u + v) = b^u b^v; b^(c ln p / ln b) = p^c.
  Expr PowerOf(const Expr& base, const Expr& exponent) {
    if (++steps_ > kMostFormSteps || exponent->op == Op::kNumber ||
        !Positive(*base)) {
      return Power(base, exponent);
    }
    if (exponent->op == Op::kAdd) {
      std::vector<Expr> factors;
      for (const Expr& term : exponent->args) {
        factors.push_back(PowerOf(base, term));
      }
      return Make(Op::kMultiply, std::move(factors));
    }
    const Expr whole = Multiply(exponent, Log(base));
    std::vector<Expr> logs;
    FindLogs(whole, logs);
    if (logs.size() > 4) return Power(base, exponent);
    for (const Expr& log : logs) {
      if (const auto ratio = forms_.ConstantRatio(*whole, *log)) {
        return Power(log->args[0], Number(*ratio));
      }
    }
    return Power(base, exponent);
  }

  Expr Exponential(const Expr& x) { return PowerOf(Make(Op::kE), Of(x)); }

  Expr FunctionOf(const ExprNode& e, std::vector<Expr> args) {
    const std::string& name = e.name;
    const Expr x = args[0];
    if (name == "ln") return Log(x);
    if (name == "log") return Divide(Log(x), Log(args[1]));
    if (name == "zeta" || name == "factorial") {
      const auto value = forms_.AsRational(*x);
      const Expr closed = !value           ? nullptr
                          : name == "zeta" ? Zeta(*value)
                                           : HalfFactorial(*value);
      return closed != nullptr ? closed : WithArgs(e, std::move(args));
    }
    const Expr one = Number(1);
    if (name == "arsinh" || name == "arcosh") {
      const Expr square =
          Add(Multiply(x, x), name == "arsinh" ? one : Number(-1));
      return Log(Add(x, Power(square, Number(BigRational(1, 2)))));
    }
    if (name == "artanh") {
      return Divide(Log(Divide(Add(one, x), Add(one, Negate(x)))), Number(2));
    }
    static constexpr std::string_view kHyperbolic[] = {"sinh", "cosh", "tanh",
                                                       "coth", "sech", "csch"};
    if (std::find(std::begin(kHyperbolic), std::end(kHyperbolic), name) ==
        std::end(kHyperbolic)) {
      return WithArgs(e, std::move(args));
    }
    const Expr up = Exponential(x), down = Exponential(Negate(x));
    const Expr twice_sinh = Add(up, Negate(down)), twice_cosh = Add(up, down);
    if (name == "sinh") return Divide(twice_sinh, Number(2));
    if (name == "cosh") return Divide(twice_cosh, Number(2));
    if (name == "tanh") return Divide(twice_sinh, twice_cosh);
    if (name == "coth") return Divide(twice_cosh, twice_sinh);
    return Divide(Number(2), name == "sech" ? twice_cosh : twice_sinh);
  }

  // |B_2k| (2 pi)^2k / 2 (2k)!, and -B_(n+1) / (n+1) for -n.
  static Expr Zeta(const BigRational& n) {
    if (!n.small() || std::abs(n.small_value()) > 40) return nullptr;
    const int64_t at = n.small_value();
    if (at == 0) return Number(BigRational(-1, 2));
    if (at > 0 && at % 2 != 0) return nullptr;
    BigRational bernoulli;
    bernoulli_fmpq_ui(bernoulli.get(),
                      static_cast<ulong>(at > 0 ? at : 1 - at));
    if (at < 0) {
      return Number(BigRational() - bernoulli / BigRational(1 - at));
    }
    BigRational factor = bernoulli.Absolute() * BigRational(1, 2);
    for (int64_t k = 1; k <= at; ++k) factor = factor * BigRational(2, k);
    return Multiply(Number(factor), Power(Make(Op::kPi), Number(at)));
  }

  // (n - 1/2)! from (-1/2)! = sqrt(pi).
  static Expr HalfFactorial(const BigRational& x) {
    const BigRational twice = x * BigRational(2);
    if (x.integer() || !twice.small() || std::abs(twice.small_value()) > 80) {
      return nullptr;
    }
    BigRational factor = 1;
    int64_t at = twice.small_value();
    for (; at > 0; at -= 2) factor = factor * BigRational(at, 2);
    for (; at < -1; at += 2)
      factor = factor * BigRational(2, 1) / BigRational(at + 2);
    return Multiply(Number(factor),
                    Power(Make(Op::kPi), Number(BigRational(1, 2))));
  }

  RationalForms& forms_;
  int steps_ = 0;
};

}  // namespace

Expr ClosedForm(const Expr& e, RationalForms& forms) {
  if (!Meant(*e) || HasSymbol(*e) || LargerThan(*e, kLargest)) return nullptr;
  return Rewriter(forms).Of(e);
}

}  // namespace espalier
