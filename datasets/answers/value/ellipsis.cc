#include "datasets/answers/value/ellipsis.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr int64_t kMostEllipsisBits = 1000;
constexpr int64_t kMostItems = 300;

std::optional<BigRational> Constant(const ExprNode& e) {
  if (e.op == Op::kNumber) {
    return e.value.bits() <= kMostEllipsisBits ? std::optional(e.value)
                                               : std::nullopt;
  }
  if (e.op == Op::kPower) {
    const auto base = Constant(*e.args[0]);
    const auto exponent = Constant(*e.args[1]);
    if (!base || !exponent || !exponent->small() || exponent->bits() > 12) {
      return std::nullopt;
    }
    const int64_t n = exponent->small_value();
    if ((n < 0 && base->zero()) ||
        base->bits() * std::abs(n) > kMostEllipsisBits) {
      return std::nullopt;
    }
    BigRational out = 1;
    for (int64_t i = 0; i < std::abs(n); ++i) out = out * *base;
    return n < 0 ? BigRational(1) / out : out;
  }
  if (e.op != Op::kAdd && e.op != Op::kMultiply) return std::nullopt;
  BigRational out = e.op == Op::kAdd ? 0 : 1;
  for (const Expr& arg : e.args) {
    const auto part = Constant(*arg);
    if (!part) return std::nullopt;
    out = e.op == Op::kAdd ? out + *part : out * *part;
    if (out.bits() > kMostEllipsisBits) return std::nullopt;
  }
  return out;
}

// a, a + step, ... or a, a * step, ...; `count` terms up to the last one.
struct Progression {
  BigRational first, last, step;
  bool geometric = false;
  int64_t count = 0;
};

std::optional<Progression> Find(const std::vector<Expr>& shown,
                                const Expr& last) {
  std::vector<BigRational> terms;
  for (const Expr& term : shown) {
    const auto value = Constant(*term);
    if (!value || terms.size() > 20) return std::nullopt;
    terms.push_back(*value);
  }
  const auto end = Constant(*last);
  if (!end || terms.empty()) return std::nullopt;
  Progression out{terms[0], *end, 1, false, 0};
  if (terms.size() > 1) out.step = terms[1] - terms[0];
  if (terms.size() == 1 && *end < terms[0]) return std::nullopt;
  bool arithmetic = !out.step.zero();
  for (size_t i = 1; i < terms.size(); ++i) {
    arithmetic &= terms[i] - terms[i - 1] == out.step;
  }
  if (arithmetic) {
    const BigRational steps = (*end - terms[0]) / out.step;
    const int64_t n = static_cast<int64_t>(terms.size());
    if (!steps.small() || steps.bits() > 40 || steps.small_value() < n - 1) {
      return std::nullopt;
    }
    out.count = steps.small_value() + 1;
    return out;
  }
  if (terms.size() < 3 || terms[0].zero() || terms[1].zero()) {
    return std::nullopt;
  }
  out.geometric = true;
  out.step = terms[1] / terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    if (!(terms[i] == terms[i - 1] * out.step)) return std::nullopt;
  }
  BigRational term = terms.back();
  for (out.count = static_cast<int64_t>(terms.size());
       out.count <= kMostEllipsisBits && term.bits() <= 2 * kMostEllipsisBits;
       ++out.count) {
    if (term == *end) return out;
    term = term * out.step;
  }
  return std::nullopt;
}

}  // namespace

Expr SumThrough(const std::vector<Expr>& shown, const Expr& last) {
  const auto p = Find(shown, last);
  if (!p) return nullptr;
  if (!p->geometric) {
    return Number((p->first + p->last) * BigRational(p->count, 2));
  }
  if (p->step == BigRational(1)) return nullptr;
  // (last * step - first) / (step - 1)
  return Number((p->last * p->step - p->first) / (p->step - BigRational(1)));
}

std::optional<std::vector<Expr>> ItemsThrough(const std::vector<Expr>& shown,
                                              const Expr& last) {
  const auto p = Find(shown, last);
  if (!p || p->count > kMostItems) return std::nullopt;
  std::vector<Expr> out;
  BigRational term = p->first;
  for (int64_t i = 0; i + 1 < p->count; ++i) {
    if (i >= static_cast<int64_t>(shown.size())) out.push_back(Number(term));
    term = p->geometric ? term * p->step : term + p->step;
  }
  return out;
}

}  // namespace espalier
