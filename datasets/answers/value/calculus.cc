#include "datasets/answers/value/calculus.h"

#include <algorithm>
#include <optional>

#include "datasets/answers/value/ball_value.h"
#include "datasets/answers/value/closed_sum.h"
#include "datasets/answers/value/compare_value.h"
#include "datasets/answers/value/finite_sum.h"

namespace espalier {
namespace {

bool DependsOn(const ExprNode& e, const std::string& x) {
  const auto symbols = FreeSymbols(e);
  return std::binary_search(symbols.begin(), symbols.end(), x);
}

// df/dx, null if no rule is known. Product rules let trees grow, so steps are
// counted.
Expr Derive(const Expr& e, const std::string& x, int& steps) {
  if (--steps < 0) return nullptr;
  if (!DependsOn(*e, x)) return Number(0);
  switch (e->op) {
    case Op::kSymbol:
      return Number(1);
    case Op::kAdd: {
      std::vector<Expr> terms;
      for (const Expr& arg : e->args) {
        Expr d = Derive(arg, x, steps);
        if (d == nullptr) return nullptr;
        terms.push_back(std::move(d));
      }
      return Make(Op::kAdd, std::move(terms));
    }
    case Op::kMultiply: {
      std::vector<Expr> terms;
      for (size_t i = 0; i < e->args.size(); ++i) {
        std::vector<Expr> factors = e->args;
        factors[i] = Derive(e->args[i], x, steps);
        if (factors[i] == nullptr) return nullptr;
        terms.push_back(Make(Op::kMultiply, std::move(factors)));
      }
      return Make(Op::kAdd, std::move(terms));
    }
    case Op::kPower: {
      const Expr& u = e->args[0];
      const Expr& n = e->args[1];
      if (!DependsOn(*n, x)) {
        Expr du = Derive(u, x, steps);
        if (du == nullptr) return nullptr;
        return Make(Op::kMultiply, {n, Power(u, Add(n, Number(-1))), du});
      }
      if (DependsOn(*u, x)) return nullptr;
      Expr dn = Derive(n, x, steps);
      if (dn == nullptr) return nullptr;
      return Make(Op::kMultiply, {e, Function("ln", {u}), dn});
    }
    case Op::kFunction: {
      if (e->args.size() != 1) return nullptr;
      const Expr& u = e->args[0];
      Expr du = Derive(u, x, steps);
      if (du == nullptr) return nullptr;
      Expr outer;
      if (e->name == "sin") outer = Function("cos", {u});
      if (e->name == "cos") outer = Negate(Function("sin", {u}));
      if (e->name == "tan") {
        outer = Power(Function("cos", {u}), Number(-2));
      }
      if (e->name == "ln") outer = Power(u, Number(-1));
      if (e->name == "sinh") outer = Function("cosh", {u});
      if (e->name == "cosh") outer = Function("sinh", {u});
      if (e->name == "arctan") {
        outer = Power(Add(Number(1), Power(u, Number(2))), Number(-1));
      }
      return outer == nullptr ? nullptr : Multiply(outer, du);
    }
    default:
      return nullptr;
  }
}

// An antiderivative: sums, constant factors, powers, 1/x, e^x, sin and cos.
Expr Integrate(const Expr& e, const std::string& name) {
  const Expr x = Symbol(name);
  if (!DependsOn(*e, name)) return Multiply(e, x);
  if (e->op == Op::kSymbol) {
    return Multiply(Number(BigRational(1, 2)), Power(x, Number(2)));
  }
  if (e->op == Op::kAdd) {
    std::vector<Expr> terms;
    for (const Expr& arg : e->args) {
      Expr part = Integrate(arg, name);
      if (part == nullptr) return nullptr;
      terms.push_back(std::move(part));
    }
    return Make(Op::kAdd, std::move(terms));
  }
  if (e->op == Op::kMultiply) {
    std::vector<Expr> constant{Number(1)}, rest;
    for (const Expr& arg : e->args) {
      (DependsOn(*arg, name) ? rest : constant).push_back(arg);
    }
    if (rest.size() != 1) return nullptr;
    Expr part = Integrate(rest[0], name);
    if (part == nullptr) return nullptr;
    constant.push_back(std::move(part));
    return Make(Op::kMultiply, std::move(constant));
  }
  if (e->op == Op::kPower && e->args[0]->op == Op::kSymbol &&
      !DependsOn(*e->args[1], name)) {
    const Expr& n = e->args[1];
    if (n->op == Op::kNumber && n->value == BigRational(-1)) {
      return Function("ln", {Function("abs", {x})});
    }
    const Expr up = Add(n, Number(1));
    return Divide(Power(x, up), up);
  }
  if (e->op == Op::kPower && e->args[0]->op == Op::kE &&
      e->args[1]->op == Op::kSymbol) {
    return e;
  }
  if (e->op == Op::kFunction && e->args.size() == 1 &&
      e->args[0]->op == Op::kSymbol) {
    if (e->name == "sin") return Negate(Function("cos", {x}));
    if (e->name == "cos") return Function("sin", {x});
  }
  return nullptr;
}

// e = top / bottom without negative powers.
struct Quotient {
  Expr top, bottom;
};

std::optional<Quotient> AsQuotient(const Expr& e, int& steps) {
  if (--steps < 0) return std::nullopt;
  if (e->op == Op::kAdd) {
    Quotient sum{Number(0), Number(1)};
    for (const Expr& arg : e->args) {
      auto part = AsQuotient(arg, steps);
      if (!part) return std::nullopt;
      if (part->bottom->op == Op::kNumber && sum.bottom->op == Op::kNumber &&
          part->bottom->value == sum.bottom->value) {
        sum.top = Add(sum.top, part->top);
        continue;
      }
      sum.top =
          Add(Multiply(sum.top, part->bottom), Multiply(part->top, sum.bottom));
      sum.bottom = Multiply(sum.bottom, part->bottom);
      if (LargerThan(*sum.top, 400)) return std::nullopt;
    }
    return sum;
  }
  if (e->op == Op::kMultiply) {
    Quotient product{Number(1), Number(1)};
    for (const Expr& arg : e->args) {
      auto part = AsQuotient(arg, steps);
      if (!part) return std::nullopt;
      product.top = Multiply(product.top, part->top);
      product.bottom = Multiply(product.bottom, part->bottom);
      if (LargerThan(*product.top, 400)) return std::nullopt;
    }
    return product;
  }
  if (e->op == Op::kPower && e->args[1]->op == Op::kNumber) {
    auto base = AsQuotient(e->args[0], steps);
    if (!base) return std::nullopt;
    const BigRational& n = e->args[1]->value;
    const Expr size = Number(n.Absolute());
    Quotient out{Power(base->top, size), Power(base->bottom, size)};
    if (n.sign() < 0) std::swap(out.top, out.bottom);
    return out;
  }
  return Quotient{e, Number(1)};
}

// Whether e is 0 at x = target, judged with one sample value per other symbol.
// Nothing if e has no value there.
std::optional<bool> IsZeroAt(const Expr& e, const std::string& x,
                             const Expr& target) {
  const Expr there = Substitute(e, x, target);
  Sample sample;
  int64_t n = 0;
  for (const std::string& name : FreeSymbols(*there)) {
    sample[name] = BigRational(1009 + 37 * ++n, 797);
  }
  int64_t budget = 20000;
  Ball ball;
  if (!BallEvaluator(128, sample, &budget).Evaluate(*there, ball)) {
    return std::nullopt;
  }
  return acb_contains_zero(ball.get()) != 0;
}

// (x^a)^b as x^(ab) for integers a and b.
Expr MergePowers(const Expr& e) {
  if (e->args.empty()) return e;
  std::vector<Expr> args;
  for (const Expr& arg : e->args) args.push_back(MergePowers(arg));
  const auto whole = [](const Expr& n) {
    return n->op == Op::kNumber && n->value.small() && n->value.bits() < 20;
  };
  if (e->op == Op::kPower && args[0]->op == Op::kPower && whole(args[1]) &&
      whole(args[0]->args[1])) {
    return Power(args[0]->args[0],
                 Number(args[0]->args[1]->value * args[1]->value));
  }
  return WithArgs(*e, std::move(args));
}

// L'Hopital's rule where top and bottom vanish together. Null if that gives no
// value.
Expr Limit(const Expr& body, const std::string& x, const Expr& target,
           int depth = 0) {
  if (depth > 2 || LargerThan(*body, 400)) return nullptr;
  if (const int sign = InfinitySign(*target); sign != 0) {
    // x = 1/t for t to 0.
    const Expr t = Power(Symbol("#t"), Number(-1));
    return Limit(MergePowers(Substitute(body, x, sign > 0 ? t : Negate(t))),
                 "#t", Number(0), depth + 1);
  }
  if (Contains(*target, Op::kInfinity)) return nullptr;
  if (body->op == Op::kPower && DependsOn(*body->args[1], x) &&
      DependsOn(*body->args[0], x)) {
    Expr exponent =
        Limit(Multiply(body->args[1], Function("ln", {body->args[0]})), x,
              target, depth + 1);
    return exponent == nullptr ? nullptr : Power(Make(Op::kE), exponent);
  }
  int steps = 200;
  auto quotient = AsQuotient(body, steps);
  if (!quotient) return nullptr;
  for (int times = 0; times < 6; ++times) {
    const auto top = IsZeroAt(quotient->top, x, target);
    const auto bottom = IsZeroAt(quotient->bottom, x, target);
    if (!top || !bottom) return nullptr;
    if (!*bottom) {
      return Divide(Substitute(quotient->top, x, target),
                    Substitute(quotient->bottom, x, target));
    }
    if (!*top) return nullptr;
    int left = 300;
    quotient->top = Derive(quotient->top, x, left);
    if (quotient->top == nullptr) return nullptr;
    quotient->bottom = Derive(quotient->bottom, x, left);
    if (quotient->bottom == nullptr || LargerThan(*quotient->top, 4000) ||
        LargerThan(*quotient->bottom, 4000)) {
      return nullptr;
    }
  }
  return nullptr;
}

// Nesting depth of sums and products.
int SumDepth(const ExprNode& e) {
  int deepest = 0;
  for (const Expr& arg : e.args) deepest = std::max(deepest, SumDepth(*arg));
  return deepest + (e.op == Op::kSum || e.op == Op::kProduct ? 1 : 0);
}

}  // namespace

Expr ResolveCalculus(const Expr& e) {
  if (e->args.empty()) return e;
  std::vector<Expr> args;
  bool changed = false;
  for (const Expr& arg : e->args) {
    args.push_back(ResolveCalculus(arg));
    changed |= args.back() != arg;
  }
  const Expr now = changed ? WithArgs(*e, std::move(args)) : e;
  const bool rule = now->op == Op::kDerivative || now->op == Op::kIntegral ||
                    now->op == Op::kLimit;
  if (now->op == Op::kSum || now->op == Op::kProduct) {
    Expr sum = WrittenOut(*now);
    if (sum != nullptr && !LargerThan(*sum, 6000)) return sum;
    sum = ClosedSum(*now);
    if (sum != nullptr && !LargerThan(*sum, 2000)) return sum;
    // Index names are interchangeable: use a canonical one.
    const Expr index = Symbol("#" + std::to_string(SumDepth(*now)));
    std::vector<Expr> renamed = now->args;
    renamed[0] = Substitute(now->args[0], now->args[1]->name, index);
    renamed[1] = index;
    return WithArgs(*now, std::move(renamed));
  }
  // Nested rules let trees grow by a factor each.
  if (rule && LargerThan(*now, 400)) return now;
  if (now->op == Op::kDerivative) {
    int steps = 300;
    Expr d = Derive(now->args[0], now->args[1]->name, steps);
    return d != nullptr ? d : now;
  }
  if (now->op == Op::kIntegral) {
    const std::string& x = now->args[1]->name;
    const Expr f = Integrate(now->args[0], x);
    if (f == nullptr) return now;
    if (now->args.size() == 2) return f;
    return Add(Substitute(f, x, now->args[3]),
               Negate(Substitute(f, x, now->args[2])));
  }
  if (now->op == Op::kLimit) {
    Expr limit = Limit(now->args[0], now->args[1]->name, now->args[2]);
    return limit != nullptr ? limit : now;
  }
  return now;
}

}  // namespace espalier
