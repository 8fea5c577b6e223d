#include "datasets/answers/value/closed_sum.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace espalier {
namespace {

constexpr size_t kMostSumTerms = 40;
constexpr int64_t kHighestSumPower = 6;

// coefficient * k^power * ratio^k; without the ratio if it is null.
struct Term {
  Expr coefficient;
  int64_t power = 0;
  Expr ratio;
};
using Terms = std::vector<Term>;

bool DependsOnIndex(const ExprNode& e, const std::string& name) {
  const auto symbols = FreeSymbols(e);
  return std::binary_search(symbols.begin(), symbols.end(), name);
}

std::optional<Terms> Times(const Terms& a, const Terms& b) {
  if (a.size() * b.size() > kMostSumTerms) return std::nullopt;
  Terms out;
  for (const Term& x : a) {
    for (const Term& y : b) {
      Term product{Multiply(x.coefficient, y.coefficient), x.power + y.power,
                   x.ratio};
      if (y.ratio != nullptr) {
        product.ratio =
            x.ratio == nullptr ? y.ratio : Multiply(x.ratio, y.ratio);
      }
      out.push_back(std::move(product));
    }
  }
  return out;
}

std::optional<Terms> Split(const Expr& e, const std::string& k);

// r^(a k + b) = r^b (r^a)^k
std::optional<Terms> SplitGeometric(const Expr& base, const Expr& exponent,
                                    const std::string& k) {
  const auto parts = Split(exponent, k);
  if (!parts || DependsOnIndex(*base, k)) return std::nullopt;
  Term out{Number(1), 0, nullptr};
  for (const Term& part : *parts) {
    if (part.ratio != nullptr || part.power > 1) return std::nullopt;
    const Expr factor = Power(base, part.coefficient);
    if (part.power == 0) {
      out.coefficient = Multiply(out.coefficient, factor);
    } else {
      out.ratio = out.ratio == nullptr ? factor : Multiply(out.ratio, factor);
    }
  }
  return Terms{std::move(out)};
}

std::optional<Terms> SplitPower(const ExprNode& e, const std::string& k) {
  const Expr& base = e.args[0];
  const ExprNode& exponent = *e.args[1];
  if (DependsOnIndex(exponent, k)) return SplitGeometric(base, e.args[1], k);
  if (exponent.op != Op::kNumber || !exponent.value.small()) {
    return std::nullopt;
  }
  const int64_t n = exponent.value.small_value();
  // 1/2^k
  if (n == -1 && base->op == Op::kPower) {
    return SplitGeometric(base->args[0], Negate(base->args[1]), k);
  }
  if (n < 1 || n > kHighestSumPower) return std::nullopt;
  const auto once = Split(base, k);
  std::optional<Terms> out = once;
  for (int64_t i = 1; i < n && out; ++i) out = Times(*out, *once);
  return out;
}

// A sum of terms in the index k; nothing for other expressions.
std::optional<Terms> Split(const Expr& e, const std::string& k) {
  if (!DependsOnIndex(*e, k)) return Terms{{e, 0, nullptr}};
  if (e->op == Op::kSymbol) return Terms{{Number(1), 1, nullptr}};
  if (e->op == Op::kPower) return SplitPower(*e, k);
  if (e->op != Op::kAdd && e->op != Op::kMultiply) return std::nullopt;
  std::optional<Terms> out = Split(e->args[0], k);
  for (size_t i = 1; i < e->args.size() && out; ++i) {
    const auto next = Split(e->args[i], k);
    if (!next) return std::nullopt;
    if (e->op == Op::kMultiply) {
      out = Times(*out, *next);
    } else {
      out->insert(out->end(), next->begin(), next->end());
    }
    if (out && out->size() > kMostSumTerms) return std::nullopt;
  }
  return out;
}

// 1^m + ... + n^m (Faulhaber), by B_0 .. B_6 with B_1 = 1/2:
// sum over j of C(m + 1, j) B_j n^(m + 1 - j) / (m + 1).
Expr PowerSum(int64_t m, const Expr& n) {
  if (m == 0) return n;
  static const BigRational kBernoulli[] = {
      BigRational(1),      BigRational(1, 2), BigRational(1, 6), BigRational(0),
      BigRational(-1, 30), BigRational(0),    BigRational(1, 42)};
  std::vector<Expr> terms;
  BigRational choose = 1;
  for (int64_t j = 0; j <= m; ++j) {
    const BigRational factor = choose * kBernoulli[j] / BigRational(m + 1);
    terms.push_back(Multiply(Number(factor), Power(n, Number(m + 1 - j))));
    choose = choose * BigRational(m + 1 - j) / BigRational(j + 1);
  }
  return Make(Op::kAdd, std::move(terms));
}

Expr SumOf(const Term& term, const Expr& low, const Expr& high) {
  const bool endless = high->op == Op::kInfinity;
  Expr sum;
  if (term.ratio != nullptr) {
    const auto ratio = RationalValue(*term.ratio);
    const bool one = ratio && *ratio == BigRational(1);
    const bool shrinks = ratio && ratio->Absolute() < BigRational(1);
    if (term.power != 0 || one || (endless && !shrinks)) return nullptr;
    Expr ends = Power(term.ratio, low);
    if (!endless) {
      ends = Add(ends, Negate(Power(term.ratio, Add(high, Number(1)))));
    }
    sum = Divide(ends, Add(Number(1), Negate(term.ratio)));
  } else {
    if (endless || term.power > kHighestSumPower) return nullptr;
    sum = Add(PowerSum(term.power, high),
              Negate(PowerSum(term.power, Add(low, Number(-1)))));
  }
  return Multiply(term.coefficient, sum);
}

}  // namespace

Expr ClosedSum(const ExprNode& e) {
  const Expr& low = e.args[2];
  const Expr& high = e.args[3];
  if (e.op != Op::kSum || Contains(*low, Op::kInfinity) ||
      (high->op != Op::kInfinity && Contains(*high, Op::kInfinity)) ||
      LargerThan(*e.args[0], 100)) {
    return nullptr;
  }
  const auto terms = Split(e.args[0], e.args[1]->name);
  if (!terms) return nullptr;
  std::vector<Expr> sums{Number(0)};
  for (const Term& term : *terms) {
    Expr sum = SumOf(term, low, high);
    if (sum == nullptr) return nullptr;
    sums.push_back(std::move(sum));
  }
  return Make(Op::kAdd, std::move(sums));
}

}  // namespace espalier
