#include "datasets/answers/value/modular_value.h"

#include <flint/nmod_vec.h>
#include <flint/ulong_extras.h>

#include <algorithm>

namespace espalier {
namespace {

constexpr int kMostModularSteps = 2000;

// Values modulo one prime p, and exponents modulo p - 1.
class Residues {
 public:
  Residues(ulong modulus, int64_t& budget)
      : modulus_(modulus), budget_(budget) {
    nmod_init(&mod_, modulus);
  }

  std::optional<ulong> Of(const ExprNode& e) {
    if (++steps_ > kMostModularSteps) return std::nullopt;
    switch (e.op) {
      case Op::kNumber:
      case Op::kBased:
        return Rational(e.value);
      case Op::kSymbol:
        return OfSymbol(e.name);
      case Op::kPercent: {
        const auto value = Of(*e.args[0]);
        const auto hundredth = Inverse(100);
        if (!value || !hundredth) return std::nullopt;
        return nmod_mul(*value, *hundredth, mod_);
      }
      case Op::kAdd:
      case Op::kMultiply:
        return OfAll(e);
      case Op::kPower:
        return OfPower(e);
      case Op::kFunction:
        return OfCount(e);
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<ulong> Inverse(ulong value) const {
    ulong inverse = 0;
    if (n_gcdinv(&inverse, value, modulus_) != 1) return std::nullopt;
    return inverse;
  }

  // A sample value of the symbol, different for each prime.
  ulong OfSymbol(const std::string& name) const {
    uint64_t h = modulus_;
    for (const char c : name) {
      h = (h ^ static_cast<uint8_t>(c)) * 1099511628211ULL;
      h ^= h >> 32;
    }
    h *= 0x9e3779b97f4a7c15ULL;
    return (h ^ (h >> 29)) % modulus_;
  }

  std::optional<ulong> Rational(const BigRational& value) const {
    const ulong top = fmpz_fdiv_ui(fmpq_numref(value.get()), modulus_);
    if (value.integer()) return top;
    const auto bottom =
        Inverse(fmpz_fdiv_ui(fmpq_denref(value.get()), modulus_));
    if (!bottom) return std::nullopt;
    return nmod_mul(top, *bottom, mod_);
  }

  std::optional<ulong> OfAll(const ExprNode& e) {
    ulong out = e.op == Op::kAdd ? 0 : 1;
    for (const Expr& arg : e.args) {
      const auto next = Of(*arg);
      if (!next) return std::nullopt;
      out = e.op == Op::kAdd ? nmod_add(out, *next, mod_)
                             : nmod_mul(out, *next, mod_);
    }
    return out;
  }

  std::optional<ulong> OfPower(const ExprNode& e) {
    const auto base = Of(*e.args[0]);
    if (!base) return std::nullopt;
    const ExprNode& exponent = *e.args[1];
    if (exponent.op == Op::kNumber && exponent.value.small()) {
      const int64_t n = exponent.value.small_value();
      if (n >= 0) return nmod_pow_ui(*base, static_cast<ulong>(n), mod_);
      const auto inverse = Inverse(*base);
      if (!inverse || n == INT64_MIN) return std::nullopt;
      return nmod_pow_ui(*inverse, static_cast<ulong>(-n), mod_);
    }
    // Fermat: exponents count modulo p - 1, for integer exponents only.
    if (!Whole(exponent) || *base == 0 || n_is_prime(modulus_) == 0) {
      return std::nullopt;
    }
    Residues exponents(modulus_ - 1, budget_);
    const auto n = exponents.Of(exponent);
    if (!n) return std::nullopt;
    return nmod_pow_ui(*base, *n, mod_);
  }

  // Whether only integers occur, and no division.
  static bool Whole(const ExprNode& e) {
    if (e.op == Op::kNumber) return e.value.integer();
    if (e.op == Op::kPower) {
      return Whole(*e.args[0]) && e.args[1]->op == Op::kNumber &&
             e.args[1]->value.integer() && e.args[1]->value.sign() >= 0;
    }
    const bool made = e.op == Op::kAdd || e.op == Op::kMultiply ||
                      (e.op == Op::kFunction && e.name == "factorial");
    return made && std::all_of(e.args.begin(), e.args.end(),
                               [](const Expr& arg) { return Whole(*arg); });
  }

  // low * (low + step) * ... * high
  std::optional<ulong> Falling(int64_t low, int64_t high, int64_t step) {
    const int64_t factors = std::max<int64_t>(high - low, 0) / step;
    if (factors > budget_) return std::nullopt;
    budget_ -= factors;
    ulong out = 1 % modulus_;
    for (int64_t k = low; k <= high; k += step) {
      out = nmod_mul(out, static_cast<ulong>(k) % modulus_, mod_);
    }
    return out;
  }

  std::optional<ulong> OfCount(const ExprNode& e) {
    int64_t n[2] = {0, 0};
    if (e.args.empty() || e.args.size() > 2) return std::nullopt;
    for (size_t i = 0; i < e.args.size(); ++i) {
      const ExprNode& arg = *e.args[i];
      if (arg.op != Op::kNumber || !arg.value.small() || arg.value.sign() < 0 ||
          arg.value.bits() > 40) {
        return std::nullopt;
      }
      n[i] = arg.value.small_value();
    }
    if (e.name == "factorial") return Falling(1, n[0], 1);
    if (e.name == "double_factorial") return Falling(2 - n[0] % 2, n[0], 2);
    if (e.name != "binomial" || e.args.size() != 2) return std::nullopt;
    if (n[1] > n[0]) return 0;
    const int64_t k = std::min(n[1], n[0] - n[1]);
    const auto top = Falling(n[0] - k + 1, n[0], 1);
    const auto bottom = Falling(1, k, 1);
    const auto inverse = bottom ? Inverse(*bottom) : std::nullopt;
    if (!top || !inverse) return std::nullopt;
    return nmod_mul(*top, *inverse, mod_);
  }

  const ulong modulus_;
  int64_t& budget_;
  nmod_t mod_;
  int steps_ = 0;
};

}  // namespace

std::optional<bool> RemaindersAgree(const ExprNode& a, const ExprNode& b,
                                    int64_t& budget) {
  // Primes without a pattern, so that no single number is 0 for all of them.
  constexpr ulong kPrimes[] = {1152921504606846883UL, 1037482910567382913UL,
                               987654321098765429UL, 871236450981237421UL};
  for (const ulong near : kPrimes) {
    Residues residues(n_nextprime(near, 0), budget);
    const auto x = residues.Of(a);
    const auto y = x ? residues.Of(b) : std::nullopt;
    if (!y) return std::nullopt;
    if (*x != *y) return false;
  }
  return true;
}

}  // namespace espalier
