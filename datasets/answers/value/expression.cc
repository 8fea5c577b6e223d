#include "datasets/answers/value/expression.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace espalier {
namespace {

void CollectSymbols(const ExprNode& e, std::vector<std::string>& bound,
                    std::vector<std::string>& out) {
  if (e.op == Op::kSymbol) {
    if (std::find(bound.begin(), bound.end(), e.name) == bound.end()) {
      out.push_back(e.name);
    }
    return;
  }
  const bool binds = e.op == Op::kSum || e.op == Op::kProduct ||
                     e.op == Op::kLimit ||
                     (e.op == Op::kIntegral && e.args.size() == 4);
  for (size_t i = 0; i < e.args.size(); ++i) {
    if (binds && i == 1) continue;
    const bool inside = binds && i == 0;
    if (inside) bound.push_back(e.args[1]->name);
    CollectSymbols(*e.args[i], bound, out);
    if (inside) bound.pop_back();
  }
}

const char* Spelling(Op op) {
  switch (op) {
    case Op::kPi:
      return "pi";
    case Op::kE:
      return "e";
    case Op::kImaginary:
      return "i";
    case Op::kInfinity:
      return "infinity";
    case Op::kSum:
      return "sum";
    case Op::kProduct:
      return "product";
    case Op::kIntegral:
      return "integral";
    case Op::kDerivative:
      return "derivative";
    case Op::kLimit:
      return "limit";
    case Op::kMatrix:
      return "matrix";
    case Op::kCases:
      return "cases";
    case Op::kUnion:
      return "union";
    case Op::kIntersection:
      return "intersection";
    case Op::kWithout:
      return "difference";
    default:
      return "";
  }
}

constexpr size_t kDescribed = 80;

void Write(const ExprNode& e, std::string& out);

void WriteArgs(const ExprNode& e, std::string_view between, std::string& out) {
  for (size_t i = 0; i < e.args.size(); ++i) {
    if (i > 0) out += between;
    if (out.size() > kDescribed) return;
    Write(*e.args[i], out);
  }
}

void WriteOperand(const ExprNode& e, std::string& out) {
  const bool simple =
      e.args.empty() &&
      (e.op != Op::kNumber || (e.value.integer() && e.value.sign() >= 0));
  if (simple || e.op == Op::kFunction || e.op == Op::kApply ||
      e.op == Op::kPower) {
    return Write(e, out);
  }
  out += "(";
  Write(e, out);
  out += ")";
}

bool IsNumber(const ExprNode& e, int64_t n) {
  return e.op == Op::kNumber && e.value == BigRational(n);
}

void WriteProduct(const ExprNode& e, std::string& out) {
  if (!e.name.empty()) {
    out += e.name;
    return;
  }
  bool first = true;
  for (const Expr& arg : e.args) {
    if (out.size() > kDescribed) return;
    const bool below = arg->op == Op::kPower && IsNumber(*arg->args[1], -1);
    if (first && !below && e.args.size() == 2 && IsNumber(*arg, -1)) {
      out += "-";
      first = true;
      continue;
    }
    if (below) {
      out += first ? "1/" : "/";
      WriteOperand(*arg->args[0], out);
    } else {
      if (!first) out += "*";
      WriteOperand(*arg, out);
    }
    first = false;
  }
}

void WritePower(const ExprNode& e, std::string& out) {
  const ExprNode& exponent = *e.args[1];
  if (exponent.op == Op::kNumber && exponent.value == BigRational(1, 2)) {
    out += "sqrt(";
    Write(*e.args[0], out);
    out += ")";
    return;
  }
  if (IsNumber(exponent, -1)) {
    out += "1/";
    return WriteOperand(*e.args[0], out);
  }
  WriteOperand(*e.args[0], out);
  out += "^";
  WriteOperand(exponent, out);
}

void Write(const ExprNode& e, std::string& out) {
  if (out.size() > kDescribed) return;
  switch (e.op) {
    case Op::kNumber:
      if (e.value.bits() > 300) {
        absl::StrAppend(&out, "a number of ", e.value.bits(), " bits");
      } else {
        out += e.value.ToString();
      }
      return;
    case Op::kSymbol:
    case Op::kNumberSet:
      out += e.name;
      return;
    case Op::kText:
      absl::StrAppend(&out, "\"", e.name, "\"");
      return;
    case Op::kAdd:
      return WriteArgs(e, " + ", out);
    case Op::kMultiply:
      return WriteProduct(e, out);
    case Op::kPower:
      return WritePower(e, out);
    case Op::kPercent:
      Write(*e.args[0], out);
      out += "%";
      return;
    case Op::kBased:
      Write(*e.args[0], out);
      out += "_" + e.name;
      return;
    case Op::kQuantity:
      Write(*e.args[0], out);
      absl::StrAppend(&out, " ", e.name);
      return;
    case Op::kPlusMinus:
      out += "+-";
      return WriteOperand(*e.args[0], out);
    case Op::kRelation:
      for (size_t i = 0; i < e.args.size(); ++i) {
        if (i > 0) absl::StrAppend(&out, " ", e.relations[i - 1], " ");
        Write(*e.args[i], out);
      }
      return;
    case Op::kInterval:
      out += e.closed_low ? "[" : "(";
      WriteArgs(e, ", ", out);
      out += e.closed_high ? "]" : ")";
      return;
    case Op::kSet:
      out += "{";
      WriteArgs(e, ", ", out);
      out += "}";
      return;
    case Op::kList:
      return WriteArgs(e, ", ", out);
    case Op::kRatio:
      return WriteArgs(e, " : ", out);
    case Op::kCongruence:
      return WriteArgs(e, " mod ", out);
    default:
      absl::StrAppend(&out, e.name, Spelling(e.op));
      if (e.args.empty()) return;
      out += "(";
      WriteArgs(e, ", ", out);
      out += ")";
  }
}

// Whether the children can be paired; the children of sums and products are
// unordered.
bool SameArgs(const ExprNode& a, const ExprNode& b) {
  if (a.args.size() != b.args.size()) return false;
  if (a.op != Op::kAdd && a.op != Op::kMultiply) {
    for (size_t i = 0; i < a.args.size(); ++i) {
      if (!SameTree(*a.args[i], *b.args[i])) return false;
    }
    return true;
  }
  std::vector<bool> taken(b.args.size());
  for (const Expr& arg : a.args) {
    bool found = false;
    for (size_t i = 0; i < b.args.size() && !found; ++i) {
      if (taken[i] || !SameTree(*arg, *b.args[i])) continue;
      taken[i] = found = true;
    }
    if (!found) return false;
  }
  return true;
}

}  // namespace

Expr Make(Op op, std::vector<Expr> args, std::string name) {
  auto node = std::make_shared<ExprNode>();
  node->op = op;
  node->args = std::move(args);
  node->name = std::move(name);
  return node;
}

Expr Number(BigRational value) {
  auto node = std::make_shared<ExprNode>();
  node->value = std::move(value);
  return node;
}

Expr Symbol(std::string name) { return Make(Op::kSymbol, {}, std::move(name)); }

Expr Add(Expr a, Expr b) {
  return Make(Op::kAdd, {std::move(a), std::move(b)});
}

Expr Multiply(Expr a, Expr b) {
  return Make(Op::kMultiply, {std::move(a), std::move(b)});
}

Expr Divide(Expr a, Expr b) {
  return Multiply(std::move(a), Power(std::move(b), Number(-1)));
}

Expr Power(Expr base, Expr exponent) {
  return Make(Op::kPower, {std::move(base), std::move(exponent)});
}

Expr Negate(Expr a) {
  if (a->op == Op::kNumber) {
    auto node = std::make_shared<ExprNode>(*a);
    node->value = BigRational() - a->value;
    return node;
  }
  return Multiply(Number(-1), std::move(a));
}

Expr Function(std::string name, std::vector<Expr> args) {
  return Make(Op::kFunction, std::move(args), std::move(name));
}

std::optional<BigRational> RationalValue(const ExprNode& e) {
  if (e.op == Op::kNumber) return e.value;
  if (e.op == Op::kMultiply) {
    BigRational out = 1;
    for (const Expr& arg : e.args) {
      const auto next = RationalValue(*arg);
      if (!next) return std::nullopt;
      out = out * *next;
    }
    return out;
  }
  if (e.op != Op::kPower) return std::nullopt;
  const auto base = RationalValue(*e.args[0]);
  const auto exponent = RationalValue(*e.args[1]);
  if (!base || !exponent || base->zero()) return std::nullopt;
  if (*exponent == BigRational(1)) return base;
  if (*exponent == BigRational(-1)) return BigRational(1) / *base;
  return std::nullopt;
}

bool IsScalar(const ExprNode& e) { return e.op <= Op::kBased; }

bool Contains(const ExprNode& e, Op op) {
  if (e.op == op) return true;
  return std::any_of(e.args.begin(), e.args.end(),
                     [op](const Expr& arg) { return Contains(*arg, op); });
}

std::vector<std::string> FreeSymbols(const ExprNode& e) {
  std::vector<std::string> out, bound;
  CollectSymbols(e, bound, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool HasSymbol(const ExprNode& e) {
  return e.op == Op::kSymbol ||
         std::any_of(e.args.begin(), e.args.end(),
                     [](const Expr& arg) { return HasSymbol(*arg); });
}

namespace {

void CountDown(const ExprNode& e, int& left) {
  if (--left < 0) return;
  for (const Expr& arg : e.args) {
    if (left < 0) return;
    CountDown(*arg, left);
  }
}

// "0.50" as it is written, with as many decimals; empty for other expressions.
std::string WithDecimals(const ExprNode& e) {
  constexpr int kMost = 30;
  constexpr int64_t kMostBits = 300;
  if (e.op != Op::kNumber || e.decimals <= 0 || e.decimals > kMost ||
      e.value.bits() > kMostBits) {
    return {};
  }
  const BigRational scaled = e.value * BigRational::PowerOfTen(e.decimals);
  if (!scaled.integer()) return {};
  std::string digits = scaled.ToString();
  const bool negative = digits[0] == '-';
  if (negative) digits.erase(0, 1);
  const auto behind = static_cast<size_t>(e.decimals);
  if (digits.size() <= behind) {
    digits.insert(0, behind + 1 - digits.size(), '0');
  }
  digits.insert(digits.size() - behind, 1, '.');
  return negative ? "-" + digits : digits;
}

}  // namespace

bool LargerThan(const ExprNode& e, int nodes) {
  int left = nodes;
  CountDown(e, left);
  return left < 0;
}

Expr WithArgs(const ExprNode& e, std::vector<Expr> args) {
  auto node = std::make_shared<ExprNode>(e);
  node->args = std::move(args);
  if (e.op == Op::kMultiply) node->name.clear();
  return node;
}

Expr Substitute(const Expr& e, const std::string& symbol, const Expr& by) {
  if (e->op == Op::kSymbol) return e->name == symbol ? by : e;
  if (e->args.empty()) return e;
  std::vector<Expr> args;
  bool changed = false;
  for (const Expr& arg : e->args) {
    args.push_back(Substitute(arg, symbol, by));
    changed |= args.back() != arg;
  }
  return changed ? WithArgs(*e, std::move(args)) : e;
}

bool SameTree(const ExprNode& a, const ExprNode& b) {
  if (&a == &b) return true;
  return a.op == b.op && (a.name == b.name || a.op == Op::kMultiply) &&
         a.value == b.value && a.closed_low == b.closed_low &&
         a.closed_high == b.closed_high && a.columns == b.columns &&
         a.relations == b.relations && SameArgs(a, b);
}

std::string Describe(const ExprNode& e) {
  // Inside formulas, numbers have one form: f(0.5) is f(1/2).
  std::string out = WithDecimals(e);
  if (out.empty()) Write(e, out);
  if (out.size() > kDescribed) {
    out.resize(kDescribed - 3);
    // Do not cut a UTF-8 character in half.
    while (!out.empty() && (static_cast<uint8_t>(out.back()) & 0x80) != 0) {
      out.pop_back();
    }
    out += "...";
  }
  return out;
}

}  // namespace espalier
