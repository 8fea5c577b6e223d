#include "datasets/grade/calculus.h"

#include <algorithm>

#include "datasets/grade/finite_sum.h"

namespace espalier {
namespace {

bool DependsOn(const ExprNode& e, const std::string& x) {
  const auto symbols = FreeSymbols(e);
  return std::binary_search(symbols.begin(), symbols.end(), x);
}

// df/dx, null where no rule is known. Product rules let trees grow, hence the
// count of steps.
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

// How many sums and products stand in one another.
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
    // The index is one of many names for it.
    const Expr index = Symbol("#" + std::to_string(SumDepth(*now)));
    std::vector<Expr> renamed = now->args;
    renamed[0] = Substitute(now->args[0], now->args[1]->name, index);
    renamed[1] = index;
    return WithArgs(*now, std::move(renamed));
  }
  // Rules inside rules let trees grow by a factor each.
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
  if (now->op == Op::kLimit && !Contains(*now->args[2], Op::kInfinity)) {
    return Substitute(now->args[0], now->args[1]->name, now->args[2]);
  }
  return now;
}

}  // namespace espalier
