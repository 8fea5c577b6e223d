#include "datasets/answers/value/rational_form.h"

#include <flint/fmpz_mpoly.h>
#include <flint/ulong_extras.h>

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "datasets/answers/value/calcium.h"
#include "datasets/answers/value/finite_sum.h"

namespace espalier {
namespace {

constexpr slong kVariables = 16;
constexpr slong kMostFormTerms = 400;
constexpr int64_t kMostFormBits = 20000;
constexpr int64_t kHighestDegree = 5000;
constexpr int64_t kHighestRoot = 12;
// Products of terms times bits in one multiplication.
constexpr int64_t kMostWork = 400000;
constexpr int kMostRationalSteps = 4000;
// Steps charged for writing a form's name.
constexpr int kKeySteps = 10;
// For all comparisons by one object.
constexpr int kMostStepsInAll = 20000;

}  // namespace

struct RationalForms::State {
  // A variable of the polynomials.
  struct Atom {
    std::string key;
    bool dependent = false;  // related to others in ways not known here
    ulong order = 0;         // for a root: g^order = radicand
    slong radicand = 0;
  };

  // Value wrapper for fmpz_mpoly_q.
  struct Form {
    explicit Form(State& s) : state(s) { fmpz_mpoly_q_init(q, state.ctx); }
    ~Form() { fmpz_mpoly_q_clear(q, state.ctx); }
    Form(const Form&) = delete;
    Form& operator=(const Form&) = delete;
    fmpz_mpoly_struct* num() { return fmpz_mpoly_q_numref(q); }
    fmpz_mpoly_struct* den() { return fmpz_mpoly_q_denref(q); }
    State& state;
    fmpz_mpoly_q_t q;
  };

  State() { fmpz_mpoly_ctx_init(ctx, kVariables, ORD_LEX); }
  ~State() { fmpz_mpoly_ctx_clear(ctx); }

  // -1 if there are too many.
  slong AtomIndex(Atom atom) {
    for (size_t i = 0; i < atoms.size(); ++i) {
      if (atoms[i].key == atom.key) return static_cast<slong>(i);
    }
    if (atoms.size() >= kVariables) return -1;
    atoms.push_back(std::move(atom));
    return static_cast<slong>(atoms.size()) - 1;
  }

  bool SetAtom(Form& out, Atom atom) {
    const slong i = AtomIndex(std::move(atom));
    if (i < 0) return false;
    fmpz_mpoly_q_gen(out.q, i, ctx);
    return true;
  }

  slong Terms(Form& f) {
    return fmpz_mpoly_length(f.num(), ctx) + fmpz_mpoly_length(f.den(), ctx);
  }
  int64_t Bits(Form& f) {
    return std::max(std::abs(fmpz_mpoly_max_bits(f.num())),
                    std::abs(fmpz_mpoly_max_bits(f.den())));
  }
  int64_t Degree(Form& f) {
    if (!fmpz_mpoly_total_degree_fits_si(f.num(), ctx) ||
        !fmpz_mpoly_total_degree_fits_si(f.den(), ctx)) {
      return kHighestDegree + 1;
    }
    return std::max(fmpz_mpoly_total_degree_si(f.num(), ctx),
                    fmpz_mpoly_total_degree_si(f.den(), ctx));
  }

  bool HasRoots() const {
    return std::any_of(atoms.begin(), atoms.end(),
                       [](const Atom& atom) { return atom.order > 0; });
  }

  // Replaces g^order by the radicand in a polynomial.
  void ReduceRoots(fmpz_mpoly_struct* p) {
    bool changed = false;
    fmpz_t c, factor;
    fmpz_init(c);
    fmpz_init(factor);
    const slong n = fmpz_mpoly_length(p, ctx);
    for (slong t = 0; t < n; ++t) {
      for (size_t v = 0; v < atoms.size(); ++v) {
        const Atom& atom = atoms[v];
        if (atom.order == 0) continue;
        const ulong e =
            fmpz_mpoly_get_term_var_exp_ui(p, t, static_cast<slong>(v), ctx);
        if (e < atom.order) continue;
        fmpz_set_si(factor, atom.radicand);
        fmpz_pow_ui(factor, factor, e / atom.order);
        fmpz_mpoly_get_term_coeff_fmpz(c, p, t, ctx);
        fmpz_mul(c, c, factor);
        fmpz_mpoly_set_term_coeff_fmpz(p, t, c, ctx);
        ulong exps[kVariables];
        fmpz_mpoly_get_term_exp_ui(exps, p, t, ctx);
        exps[v] = e % atom.order;
        fmpz_mpoly_set_term_exp_ui(p, t, exps, ctx);
        changed = true;
      }
    }
    fmpz_clear(c);
    fmpz_clear(factor);
    if (changed) {
      fmpz_mpoly_sort_terms(p, ctx);
      fmpz_mpoly_combine_like_terms(p, ctx);
    }
  }

  // False if the denominator vanishes.
  bool Reduce(Form& f) {
    if (HasRoots()) {
      ReduceRoots(f.num());
      ReduceRoots(f.den());
      if (fmpz_mpoly_is_zero(f.den(), ctx)) return false;
      fmpz_mpoly_q_canonicalise(f.q, ctx);
    }
    return Terms(f) <= kMostFormTerms && Bits(f) <= kMostFormBits &&
           Degree(f) <= kHighestDegree;
  }

  bool MayMultiply(Form& a, Form& b) {
    // A sum also multiplies the denominators.
    const int64_t products = Terms(a) * Terms(b);
    const int64_t bits = Bits(a) + Bits(b);
    // Quotients are reduced by a greatest common divisor, which costs more.
    const bool quotient = fmpz_mpoly_is_fmpz(a.den(), ctx) == 0 ||
                          fmpz_mpoly_is_fmpz(b.den(), ctx) == 0;
    steps += static_cast<int>(products * bits * (quotient ? 8 : 1) / 2000);
    return steps <= kMostRationalSteps && products <= 4 * kMostFormTerms &&
           bits <= kMostFormBits && products * bits <= kMostWork &&
           Degree(a) + Degree(b) <= kHighestDegree;
  }

  bool Times(Form& a, Form& b) {
    if (!MayMultiply(a, b)) return false;
    fmpz_mpoly_q_mul(a.q, a.q, b.q, ctx);
    return Reduce(a);
  }

  bool Plus(Form& a, Form& b) {
    if (!MayMultiply(a, b)) return false;
    fmpz_mpoly_q_add(a.q, a.q, b.q, ctx);
    return Reduce(a);
  }

  bool IntegerPower(Form& f, int64_t n) {
    if (n < 0) {
      if (fmpz_mpoly_q_is_zero(f.q, ctx)) return false;
      fmpz_mpoly_q_inv(f.q, f.q, ctx);
      n = -n;
    }
    if (n == 1) return true;
    if (Bits(f) * n > kMostFormBits || Degree(f) * n > kHighestDegree) {
      return false;
    }
    const slong terms = std::max(fmpz_mpoly_length(f.num(), ctx),
                                 fmpz_mpoly_length(f.den(), ctx));
    // (t terms)^n has at most C(n + t - 1, t - 1) terms.
    double most = 1;
    for (slong i = 1; i < terms && most <= 4 * kMostFormTerms; ++i) {
      most *= static_cast<double>(n + i) / static_cast<double>(i);
    }
    if (most > kMostFormTerms) return false;
    steps += static_cast<int>(most * static_cast<double>(Bits(f) * n) / 2000);
    fmpz_mpoly_pow_ui(f.num(), f.num(), static_cast<ulong>(n), ctx);
    fmpz_mpoly_pow_ui(f.den(), f.den(), static_cast<ulong>(n), ctx);
    return Reduce(f);
  }

  std::string Key(Form& f) {
    if (const auto value = Constant(f)) return value->ToString();
    char* num = fmpz_mpoly_get_str_pretty(f.num(), nullptr, ctx);
    char* den = fmpz_mpoly_get_str_pretty(f.den(), nullptr, ctx);
    std::string out = absl::StrCat(num, "/", den);
    flint_free(num);
    flint_free(den);
    return out;
  }

  std::optional<BigRational> Constant(Form& f) {
    if (!fmpz_mpoly_q_is_fmpq(f.q, ctx)) return std::nullopt;
    BigRational out;
    fmpz_mpoly_get_fmpz(fmpq_numref(out.get()), f.num(), ctx);
    fmpz_mpoly_get_fmpz(fmpq_denref(out.get()), f.den(), ctx);
    return out;
  }

  void SetConstant(Form& f, const BigRational& value) {
    fmpz_mpoly_q_set_fmpq(f.q, value.get(), ctx);
  }

  // Multiplies `out` by n^(p/q) for n > 0, prime by prime.
  bool TimesRoot(Form& out, ulong n, int64_t p, int64_t q) {
    n_factor_t factors;
    n_factor_init(&factors);
    n_factor(&factors, n, 1);
    for (int i = 0; i < factors.num; ++i) {
      const ulong prime = factors.p[i];
      if (prime > (1UL << 62)) return false;
      int64_t top = static_cast<int64_t>(factors.exp[i]) * p, bottom = q;
      const int64_t common = std::gcd(top, bottom);
      top /= common;
      bottom /= common;
      int64_t whole = top / bottom, rest = top % bottom;
      if (rest < 0) {
        rest += bottom;
        --whole;
      }
      Form factor(*this);
      if (std::abs(whole) * 64 > kMostFormBits) return false;
      SetConstant(factor, BigRational(static_cast<int64_t>(prime)));
      if (whole != 0 && (!IntegerPower(factor, whole) || !Times(out, factor))) {
        return false;
      }
      if (rest == 0) continue;
      if (!SetAtom(factor,
                   {absl::StrCat("root ", bottom, " ", prime), false,
                    static_cast<ulong>(bottom), static_cast<slong>(prime)})) {
        return false;
      }
      if (!IntegerPower(factor, rest) || !Times(out, factor)) return false;
    }
    return true;
  }

  // value^(p/q) for a rational value; roots of negative numbers are i times the
  // root for q = 2 and refused otherwise.
  bool RationalRoot(const BigRational& value, int64_t p, int64_t q, Form& out) {
    if (value.zero()) {
      if (p <= 0) return false;
      SetConstant(out, 0);
      return true;
    }
    const BigRational size = value.Absolute();
    const fmpz* const top = fmpq_numref(size.get());
    const fmpz* const bottom = fmpq_denref(size.get());
    if (!fmpz_abs_fits_ui(top) || !fmpz_abs_fits_ui(bottom)) return false;
    if (q > kHighestRoot || std::abs(p) > 60) return false;
    SetConstant(out, 1);
    if (!TimesRoot(out, fmpz_get_ui(top), p, q) ||
        !TimesRoot(out, fmpz_get_ui(bottom), -p, q)) {
      return false;
    }
    if (value.sign() > 0) return true;
    if (q != 2) return false;
    Form i(*this);
    return SetAtom(i, {"i", false, 2, -1}) && IntegerPower(i, p) &&
           Times(out, i);
  }

  bool Dependent(const std::string& name, const std::vector<Form*>& args,
                 Form& out) {
    std::string key = name;
    steps += kKeySteps;
    for (Form* arg : args) absl::StrAppend(&key, "|", Key(*arg));
    if (key.size() > 2000) return false;
    return SetAtom(out, {std::move(key), true});
  }

  bool BuildPower(const ExprNode& e, Form& out) {
    Form exponent(*this);
    if (!Build(*e.args[0], out) || !Build(*e.args[1], exponent)) return false;
    const std::optional<BigRational> power = Constant(exponent);
    if (power.has_value() && power->small()) {
      if (power->zero()) {
        SetConstant(out, 1);
        return true;
      }
      if (std::abs(power->small_value()) <= kMostFormBits &&
          IntegerPower(out, power->small_value())) {
        return true;
      }
      // Too large to write out; known only by its name.
      if (!Build(*e.args[0], out)) return false;
      if (fmpz_mpoly_q_is_zero(out.q, ctx)) return false;
    } else if (power.has_value() && power->bits() < 32) {
      if (const auto value = Constant(out)) {
        Form root(*this);
        const int64_t p = fmpz_get_si(fmpq_numref(power->get()));
        const int64_t q = fmpz_get_si(fmpq_denref(power->get()));
        if (RationalRoot(*value, p, q, root)) {
          fmpz_mpoly_q_swap(out.q, root.q, ctx);
          return true;
        }
      }
    }
    Form made(*this);
    if (!Dependent("power", {&out, &exponent}, made)) return false;
    fmpz_mpoly_q_swap(out.q, made.q, ctx);
    return true;
  }

  // Functions of rational numbers with rational values.
  static std::optional<BigRational> Exact(const std::string& name,
                                          const std::vector<BigRational>& x);

  bool BuildFunction(const ExprNode& e, Form& out) {
    std::vector<std::unique_ptr<Form>> args;
    std::vector<Form*> pointers;
    std::vector<BigRational> values;
    for (const Expr& arg : e.args) {
      args.push_back(std::make_unique<Form>(*this));
      if (!Build(*arg, *args.back())) return false;
      pointers.push_back(args.back().get());
      if (const auto value = Constant(*args.back())) values.push_back(*value);
    }
    if (e.op == Op::kApply) {
      std::string key = "apply " + e.name;
      for (Form* arg : pointers) absl::StrAppend(&key, "|", Key(*arg));
      return key.size() < 2000 && SetAtom(out, {std::move(key), false});
    }
    if (values.size() == args.size()) {
      if (const auto value = Exact(e.name, values)) {
        SetConstant(out, *value);
        return true;
      }
      if (e.name == "root" && values[1].small() &&
          values[1].small_value() >= 2) {
        const int64_t n = values[1].small_value();
        const bool flip = values[0].sign() < 0 && n % 2 == 1;
        if (RationalRoot(flip ? values[0].Absolute() : values[0], 1, n, out)) {
          if (flip) fmpz_mpoly_q_neg(out.q, out.q, ctx);
          return true;
        }
      }
    }
    return Dependent("function " + e.name, pointers, out);
  }

  bool Build(const ExprNode& e, Form& out) {
    if (++steps > kMostRationalSteps) return false;
    switch (e.op) {
      case Op::kNumber:
      case Op::kBased:
        if (e.value.bits() > kMostFormBits) return false;
        SetConstant(out, e.value);
        return true;
      case Op::kSymbol:
        return SetAtom(out, {"symbol " + e.name});
      case Op::kPi:
        return SetAtom(out, {"pi"});
      case Op::kE:
        return SetAtom(out, {"e"});
      case Op::kImaginary:
        return SetAtom(out, {"i", false, 2, -1});
      case Op::kAdd:
      case Op::kMultiply: {
        if (!Build(*e.args[0], out)) return false;
        for (size_t i = 1; i < e.args.size(); ++i) {
          Form next(*this);
          if (!Build(*e.args[i], next)) return false;
          if (!(e.op == Op::kAdd ? Plus(out, next) : Times(out, next))) {
            return false;
          }
        }
        return true;
      }
      case Op::kPower:
        return BuildPower(e, out);
      case Op::kFunction:
      case Op::kApply:
        return BuildFunction(e, out);
      case Op::kPercent: {
        Form hundredth(*this);
        SetConstant(hundredth, BigRational(1, 100));
        return Build(*e.args[0], out) && Times(out, hundredth);
      }
      case Op::kQuantity: {
        if (!Build(*e.args[0], out)) return false;
        if (e.name != " degree") return true;
        Form half_turn(*this), part(*this);
        SetConstant(part, BigRational(1, 180));
        return SetAtom(half_turn, {"pi"}) && Times(half_turn, part) &&
               Times(out, half_turn);
      }
      case Op::kSum:
      case Op::kProduct: {
        const Expr sum = WrittenOut(e);
        if (sum != nullptr) steps += 8 * static_cast<int>(sum->args.size());
        return sum != nullptr && Build(*sum, out);
      }
      default:
        return false;
    }
  }

  // Whether different forms mean different values.
  bool Complete() const {
    bool pi = false, euler = false;
    std::map<slong, ulong> orders;
    for (const Atom& atom : atoms) {
      if (atom.dependent) return false;
      pi |= atom.key == "pi";
      euler |= atom.key == "e";
      if (atom.order == 0) continue;
      const auto [at, fresh] = orders.emplace(atom.radicand, atom.order);
      if (!fresh && at->second != atom.order) return false;
    }
    // Roots of order 4 and i meet: i^(1/2) = (1 + i) / sqrt(2).
    return !(pi && euler);
  }

  fmpz_mpoly_ctx_t ctx;
  std::vector<Atom> atoms;
  // Begins a comparison; false once the whole budget is spent.
  bool Begin() {
    total += steps;
    steps = 0;
    return total <= kMostStepsInAll;
  }

  int steps = 0;
  int total = 0;
};

std::optional<BigRational> RationalForms::State::Exact(
    const std::string& name, const std::vector<BigRational>& x) {
  const auto floor = [](const BigRational& v) {
    BigRational out;
    fmpz_fdiv_q(fmpq_numref(out.get()), fmpq_numref(v.get()),
                fmpq_denref(v.get()));
    return out;
  };
  const bool whole = std::all_of(
      x.begin(), x.end(), [](const BigRational& v) { return v.integer(); });
  if (name == "abs") return x[0].Absolute();
  if (name == "sgn") return BigRational(x[0].sign());
  if (name == "floor") return floor(x[0]);
  if (name == "ceil") return BigRational() - floor(BigRational() - x[0]);
  if (name == "re") return x[0];
  if (name == "im") return BigRational();
  if (name == "min") return *std::min_element(x.begin(), x.end());
  if (name == "max") return *std::max_element(x.begin(), x.end());
  if (name == "mod" && !x[1].zero()) {
    return x[0] - x[1] * floor(x[0] / x[1]);
  }
  if ((name == "gcd" || name == "lcm") && whole) {
    BigRational out = x[0];
    for (size_t i = 1; i < x.size(); ++i) {
      fmpz* const to = fmpq_numref(out.get());
      const fmpz* const with = fmpq_numref(x[i].get());
      name == "gcd" ? fmpz_gcd(to, to, with) : fmpz_lcm(to, to, with);
    }
    return out;
  }
  const bool small =
      whole && x[0].small() && x[0].sign() >= 0 && x[0].small_value() <= 1500;
  if (name == "factorial" && small) {
    BigRational out;
    fmpz_fac_ui(fmpq_numref(out.get()), static_cast<ulong>(x[0].small_value()));
    return out;
  }
  if (name == "double_factorial" && small) {
    BigRational out = 1;
    for (int64_t k = x[0].small_value(); k > 1; k -= 2) {
      out = out * BigRational(k);
    }
    return out;
  }
  if (name == "binomial" && small && x[1].small() && x[1].sign() >= 0 &&
      x[1].small_value() <= 1500) {
    BigRational out;
    fmpz_bin_uiui(fmpq_numref(out.get()),
                  static_cast<ulong>(x[0].small_value()),
                  static_cast<ulong>(x[1].small_value()));
    return out;
  }
  return std::nullopt;
}

RationalForms::RationalForms() : state_(std::make_unique<State>()) {}
RationalForms::~RationalForms() = default;

Sameness RationalForms::Compare(const ExprNode& a, const ExprNode& b) {
  if (!state_->Begin()) return Sameness::kUnknown;
  State::Form left(*state_), right(*state_);
  if (!state_->Build(a, left) || !state_->Build(b, right)) {
    return Sameness::kUnknown;
  }
  fmpz_mpoly_q_neg(right.q, right.q, state_->ctx);
  if (!state_->Plus(left, right)) return Sameness::kUnknown;
  if (fmpz_mpoly_q_is_zero(left.q, state_->ctx)) return Sameness::kEqual;
  return state_->Complete() ? Sameness::kDifferent : Sameness::kUnknown;
}

std::optional<BigRational> RationalForms::ConstantRatio(const ExprNode& a,
                                                        const ExprNode& b) {
  if (!state_->Begin()) return std::nullopt;
  State::Form left(*state_), right(*state_);
  if (!state_->Build(a, left) || !state_->Build(b, right)) return std::nullopt;
  if (!state_->IntegerPower(right, -1) || !state_->Times(left, right)) {
    return std::nullopt;
  }
  auto ratio = state_->Constant(left);
  if (ratio.has_value() && ratio->zero()) return std::nullopt;
  return ratio;
}

bool RationalForms::SameNumerators(const ExprNode& a, const ExprNode& b) {
  if (!state_->Begin()) return false;
  State::Form left(*state_), right(*state_);
  if (!state_->Build(a, left) || !state_->Build(b, right)) return false;
  fmpz_mpoly_one(left.den(), state_->ctx);
  fmpz_mpoly_one(right.den(), state_->ctx);
  if (!state_->IntegerPower(right, -1) || !state_->Times(left, right)) {
    return false;
  }
  const auto ratio = state_->Constant(left);
  return ratio.has_value() && !ratio->zero();
}

std::optional<BigRational> RationalForms::AsRational(const ExprNode& e) {
  if (!state_->Begin()) return std::nullopt;
  State::Form form(*state_);
  if (!state_->Build(e, form)) return std::nullopt;
  return state_->Constant(form);
}

}  // namespace espalier
