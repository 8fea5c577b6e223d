#include "datasets/answers/value/finite_sum.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr int64_t kMostFiniteTerms = 300;
constexpr int kMostNodes = 20000;

// The integer value of a bound, through signs and sums of numbers.
bool WholeBound(const ExprNode& e, int64_t& out) {
  if (e.op == Op::kNumber && e.value.small() && e.value.bits() < 40) {
    out = e.value.small_value();
    return true;
  }
  if (e.op != Op::kAdd && e.op != Op::kMultiply) return false;
  int64_t total = e.op == Op::kAdd ? 0 : 1;
  for (const Expr& arg : e.args) {
    int64_t part = 0;
    if (!WholeBound(*arg, part) || std::abs(total) > (1 << 20) ||
        std::abs(part) > (1 << 20)) {
      return false;
    }
    total = e.op == Op::kAdd ? total + part : total * part;
  }
  out = total;
  return true;
}

}  // namespace

Expr WrittenOut(const ExprNode& e) {
  const Expr& body = e.args[0];
  const std::string& index = e.args[1]->name;
  const std::vector<std::string> symbols = FreeSymbols(*body);
  const bool depends =
      std::find(symbols.begin(), symbols.end(), index) != symbols.end();
  const bool sum = e.op == Op::kSum;
  if (!depends && !Contains(*e.args[3], Op::kInfinity) &&
      !Contains(*e.args[2], Op::kInfinity)) {
    Expr count = Add(Add(e.args[3], Negate(e.args[2])), Number(1));
    return sum ? Multiply(body, count) : Power(body, count);
  }
  int64_t low = 0, high = 0;
  if (!WholeBound(*e.args[2], low) || !WholeBound(*e.args[3], high)) {
    return nullptr;
  }
  if (high - low >= kMostFiniteTerms ||
      LargerThan(*body, kMostNodes / static_cast<int>(
                                         std::max<int64_t>(high - low, 1)))) {
    return nullptr;
  }
  std::vector<Expr> terms{Number(sum ? 0 : 1)};
  for (int64_t k = low; k <= high; ++k) {
    terms.push_back(Substitute(body, index, Number(k)));
  }
  return Make(sum ? Op::kAdd : Op::kMultiply, std::move(terms));
}

}  // namespace espalier
