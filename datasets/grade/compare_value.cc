#include "datasets/grade/compare_value.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "datasets/grade/ball_value.h"
#include "datasets/grade/clean_text.h"
#include "datasets/grade/exact_value.h"
#include "datasets/grade/modular_value.h"
#include "datasets/grade/units.h"
#include "datasets/grade/zero_bound.h"

namespace espalier {
namespace {

// A value without the sign that says what it counts.
struct Peeled {
  Expr core;
  std::string unit;
  bool percent = false;
};

bool IsMinusOne(const ExprNode& e) {
  return e.op == Op::kNumber && e.value == BigRational(-1);
}

Peeled Peel(const Expr& e) {
  if (e->op == Op::kMultiply && e->args.size() == 2 &&
      IsMinusOne(*e->args[0])) {
    Peeled inner = Peel(e->args[1]);
    if (inner.core != e->args[1]) {
      inner.core = Negate(inner.core);
      return inner;
    }
    return {e, "", false};
  }
  if (e->op == Op::kQuantity) {
    Peeled inner = Peel(e->args[0]);
    inner.unit = inner.unit.empty() ? e->name : inner.unit + " " + e->name;
    return inner;
  }
  if (e->op == Op::kPercent) {
    Peeled inner = Peel(e->args[0]);
    inner.percent = true;
    return inner;
  }
  return {e, "", false};
}

// A number written with a point, perhaps times a power of ten: its value and
// how much its last digit counts.
struct Decimal {
  BigRational value;
  BigRational last_place;
  int significant = 0;
  int decimals = 0;
};

std::optional<Decimal> AsDecimal(const ExprNode& e) {
  if (e.op == Op::kNumber && e.decimals >= 0) {
    return Decimal{e.value, BigRational::PowerOfTen(-e.decimals), e.significant,
                   e.decimals};
  }
  if (e.op == Op::kPercent) {
    auto inner = AsDecimal(*e.args[0]);
    if (!inner) return std::nullopt;
    const BigRational hundredth(1, 100);
    inner->value = inner->value * hundredth;
    inner->last_place = inner->last_place * hundredth;
    return inner;
  }
  if (e.op != Op::kMultiply || e.args.size() != 2) return std::nullopt;
  auto first = AsDecimal(*e.args[0]);
  const ExprNode& power = *e.args[1];
  if (!first || power.op != Op::kPower) return std::nullopt;
  const ExprNode& base = *power.args[0];
  const ExprNode& exponent = *power.args[1];
  const bool ten = base.op == Op::kNumber && base.value == BigRational(10) &&
                   exponent.op == Op::kNumber && exponent.value.small() &&
                   exponent.value.bits() < 10;
  if (!ten) return std::nullopt;
  const BigRational scale =
      BigRational::PowerOfTen(exponent.value.small_value());
  first->value = first->value * scale;
  first->last_place = first->last_place * scale;
  return first;
}

// Deterministic sample values: positive numbers, or of either sign.
BigRational SampleValue(const std::string& name, int point, bool signs) {
  uint64_t h = 1469598103934665603ULL + static_cast<uint64_t>(point) * 7919;
  for (const char c : name)
    h = (h ^ static_cast<uint8_t>(c)) * 1099511628211ULL;
  h ^= h >> 31;
  h *= 0x9e3779b97f4a7c15ULL;
  h ^= h >> 29;
  const int64_t thousandths = 500 + static_cast<int64_t>(h % 2503);
  const bool negative = signs && ((h >> 40) & 3) != 0;
  // Near and far: |x - 2| is no 2 - x.
  static constexpr struct {
    int64_t num, den;
  } kScales[] = {{1, 1}, {1, 7}, {23, 1}, {611, 1}};
  const auto& scale = kScales[point % 4];
  return BigRational(negative ? -thousandths : thousandths, 1009) *
         BigRational(scale.num, scale.den);
}

constexpr int kMostProofs = 3;
constexpr int kPositivePoints = 4;
constexpr int kSignedPoints = 4;
constexpr slong kPointPrecision = 160;
constexpr slong kPrecisions[] = {96, 320, 1200};

// Values at one point: apart, the same (both are known exactly), together
// (their difference is within 2^-bits of their size), or neither.
enum class AtPoint { kApart, kSame, kTogether, kOpen };

// `distance`: the logarithm to base 2 of what they differ by at most.
AtPoint CompareAt(const ExprNode& a, const ExprNode& b, slong precision,
                  const Sample& sample, int64_t* budget, bool* branch,
                  bool* real, double* distance) {
  BallEvaluator evaluator(precision, sample, budget);
  Ball x, y, difference;
  if (!evaluator.Evaluate(a, x) || !evaluator.Evaluate(b, y)) {
    return AtPoint::kOpen;
  }
  *branch = evaluator.met_branch();
  *real = arb_contains_zero(acb_imagref(x.get())) != 0 &&
          arb_contains_zero(acb_imagref(y.get())) != 0;
  acb_sub(difference.get(), x.get(), y.get(), precision);
  if (acb_contains_zero(difference.get()) == 0) return AtPoint::kApart;
  if (acb_is_zero(difference.get()) != 0) return AtPoint::kSame;
  mag_t size, error;
  mag_init(size);
  mag_init(error);
  acb_get_mag(size, x.get());
  acb_get_mag(error, difference.get());
  *distance = mag_get_d_log2_approx(error);
  mag_mul_2exp_si(error, error, precision / 2);
  // A value of 0 itself must be small on its own.
  const bool together =
      mag_cmp(error, size) < 0 || mag_cmp_2exp_si(error, 0) < 0;
  mag_clear(size);
  mag_clear(error);
  return together ? AtPoint::kTogether : AtPoint::kOpen;
}

// Symbols that stand for whole numbers, as the exponents of negative ones and
// the bounds of sums do: n in (-1)^n.
void FindWholes(const ExprNode& e, std::vector<std::string>& names) {
  const auto note = [&names](const ExprNode& whole) {
    for (std::string& name : FreeSymbols(whole)) {
      names.push_back(std::move(name));
    }
  };
  if (e.op == Op::kPower && e.args[0]->op == Op::kNumber &&
      e.args[0]->value.sign() < 0) {
    note(*e.args[1]);
  }
  if (e.op == Op::kSum || e.op == Op::kProduct) {
    note(*e.args[2]);
    note(*e.args[3]);
  }
  for (const Expr& arg : e.args) FindWholes(*arg, names);
}

constexpr int kWholePoints[] = {2, 3, 8, 5, 17, 12, 29, 30};

// Unknown functions as symbols, which balls can sample: f(x) by how it is
// written, the initial value I(0) as I_0.
Expr WithoutApplications(const Expr& e) {
  if (e->args.empty()) return e;
  if (e->op == Op::kApply) {
    const ExprNode& arg = *e->args[0];
    const bool index = e->args.size() == 1 && arg.op == Op::kNumber &&
                       arg.value.integer() && arg.value.sign() >= 0;
    const std::string shown = Describe(*e);
    // Longer ones are shown in part only.
    if (shown.size() > 60) return e;
    return Symbol(index ? absl::StrCat(e->name, "_", Describe(arg)) : shown);
  }
  std::vector<Expr> args;
  for (const Expr& arg : e->args) args.push_back(WithoutApplications(arg));
  return WithArgs(*e, std::move(args));
}

bool HoldsShape(const ExprNode& e) {
  return !IsScalar(e) ||
         std::any_of(e.args.begin(), e.args.end(),
                     [](const Expr& arg) { return HoldsShape(*arg); });
}

std::string Both(const Expr& a) {
  return absl::StrCat("both are ", Describe(*a));
}

std::string Apart(const Expr& a, const Expr& b) {
  return absl::StrCat("gold is ", Describe(*a), ", the answer ", Describe(*b));
}

}  // namespace

int InfinitySign(const ExprNode& e) {
  if (e.op == Op::kInfinity) return 1;
  if (e.op == Op::kQuantity || e.op == Op::kPercent) {
    return InfinitySign(*e.args[0]);
  }
  if (e.op != Op::kMultiply || e.args.size() != 2) return 0;
  const ExprNode& factor = *e.args[0];
  if (factor.op != Op::kNumber) return 0;
  return factor.value.sign() * InfinitySign(*e.args[1]);
}

ValueVerdict ValueComparer::Compare(const Expr& gold, const Expr& answer) {
  const int gold_sign = InfinitySign(*gold);
  const int answer_sign = InfinitySign(*answer);
  if (gold_sign != 0 || answer_sign != 0) {
    return gold_sign == answer_sign
               ? ValueVerdict{Sameness::kEqual, Both(gold)}
               : ValueVerdict{Sameness::kDifferent, Apart(gold, answer)};
  }
  Peeled a = Peel(gold), b = Peel(answer);
  const auto both = [&](const Expr& x, const Expr& y) {
    ValueVerdict verdict = CompareCores(x, y);
    if (verdict.same == Sameness::kDifferent) verdict.how = Apart(gold, answer);
    return verdict;
  };
  // "2.5 million" is 2500000.
  const BigRational a_scale = TakeScale(a.unit), b_scale = TakeScale(b.unit);
  if (!(a_scale == BigRational(1) && b_scale == BigRational(1))) {
    const auto scaled = [](const Peeled& p, const BigRational& scale) {
      Expr e = Multiply(p.core, Number(scale));
      return TrimBlanks(p.unit).empty() ? e : Make(Op::kQuantity, {e}, p.unit);
    };
    return Compare(scaled(a, a_scale), scaled(b, b_scale));
  }
  // A number in another base may stand without its base.
  if ((a.core->op == Op::kBased) != (b.core->op == Op::kBased)) {
    const Expr x = a.core->op == Op::kBased ? a.core->args[0] : a.core;
    const Expr y = b.core->op == Op::kBased ? b.core->args[0] : b.core;
    const ValueVerdict values = both(a.core, b.core);
    if (values.same != Sameness::kDifferent ||
        CompareCores(x, y).same != Sameness::kEqual) {
      return values;
    }
    // Gold's question names its base; an answer's own base may be a mistake.
    if (a.core->op == Op::kBased) {
      return {Sameness::kEqual, absl::StrCat("both show ", Describe(*x))};
    }
    return {Sameness::kUnknown, absl::StrCat("both show ", Describe(*x),
                                             ", but the answer names a base")};
  }
  if (policy_.units == GradePolicy::Units::kRequired &&
      a.unit.empty() != b.unit.empty()) {
    return {Sameness::kDifferent, Apart(gold, answer) + ": a unit is missing"};
  }
  // Radians are plain numbers, but 1 radian is no degree.
  const auto radians = [](const std::string& unit) {
    return unit == " radians" || unit == " radian" || unit == " rad";
  };
  if ((radians(a.unit) && b.unit == " degree") ||
      (radians(b.unit) && a.unit == " degree")) {
    return both(radians(a.unit) ? a.core : gold,
                radians(b.unit) ? b.core : answer);
  }
  const bool both_units = !a.unit.empty() && !b.unit.empty() &&
                          policy_.units != GradePolicy::Units::kDrop;
  if (both_units && a.unit != b.unit) {
    BigRational factor;
    if (!Convertible(ReadUnit(a.unit), ReadUnit(b.unit), &factor)) {
      return {Sameness::kDifferent,
              absl::StrCat("gold is in", a.unit, ", the answer in", b.unit)};
    }
    if (!(factor == BigRational(1))) {
      a.core = Multiply(Number(factor), a.core);
    }
  }
  // Percents count no things.
  const std::string& counted = a.percent ? b.unit : a.unit;
  if (a.percent != b.percent && !counted.empty() &&
      counted.find("percent") == std::string::npos) {
    return {Sameness::kDifferent, Apart(gold, answer)};
  }
  const bool one_degree = (a.unit == " degree") != (b.unit == " degree") &&
                          (a.unit.empty() || b.unit.empty());
  if (one_degree) {
    const ValueVerdict plain = both(a.core, b.core);
    if (plain.same == Sameness::kEqual) return plain;
    return both(gold, answer);
  }
  if (a.percent == b.percent) return both(a.core, b.core);
  if (policy_.percent != GradePolicy::Percent::kValue) {
    const ValueVerdict dropped = both(a.core, b.core);
    if (dropped.same == Sameness::kEqual ||
        policy_.percent == GradePolicy::Percent::kDrop) {
      return dropped;
    }
  }
  return both(a.percent ? Make(Op::kPercent, {a.core}) : a.core,
              b.percent ? Make(Op::kPercent, {b.core}) : b.core);
}

bool ValueComparer::Rounds(const Expr& decimal, const Expr& exact) {
  const auto shown = AsDecimal(*decimal);
  if (!shown || policy_.rounding_digits <= 0 ||
      shown->significant < policy_.rounding_digits) {
    return false;
  }
  // A whole number is not rounded to decimals; of two decimals the one with
  // fewer must still have some that money has not.
  if (exact->op == Op::kNumber && exact->decimals < 0 &&
      exact->value.integer()) {
    return false;
  }
  if (const auto other = AsDecimal(*exact)) {
    if (shown->decimals < 3 || other->decimals <= shown->decimals) {
      return false;
    }
  }
  const Sample none;
  Ball x;
  if (!BallEvaluator(128, none, &budget_).Evaluate(*exact, x)) return false;
  Ball shift, bound;
  acb_set_fmpq(shift.get(), shown->value.get(), 128);
  acb_sub(x.get(), x.get(), shift.get(), 128);
  const BigRational half = shown->last_place * BigRational(1, 2);
  acb_set_fmpq(bound.get(), half.get(), 128);
  arb_t size;
  arb_init(size);
  acb_abs(size, x.get(), 128);
  const bool rounds = arb_le(size, acb_realref(bound.get())) != 0;
  arb_clear(size);
  return rounds;
}

bool ValueComparer::WithinTolerance(const Expr& a, const Expr& b) {
  if (policy_.tolerance <= 0) return false;
  const Sample none;
  Ball x, y;
  if (!BallEvaluator(128, none, &budget_).Evaluate(*a, x) ||
      !BallEvaluator(128, none, &budget_).Evaluate(*b, y)) {
    return false;
  }
  arb_t size, distance, bound;
  arb_init(size);
  arb_init(distance);
  arb_init(bound);
  acb_abs(size, x.get(), 128);
  acb_sub(y.get(), y.get(), x.get(), 128);
  acb_abs(distance, y.get(), 128);
  arb_set_d(bound, policy_.tolerance);
  arb_mul(bound, bound, size, 128);
  const bool within = arb_le(distance, bound) != 0;
  arb_clear(size);
  arb_clear(distance);
  arb_clear(bound);
  return within;
}

ValueVerdict ValueComparer::CompareCores(const Expr& a, const Expr& b) {
  if (a->op == Op::kNumber && b->op == Op::kNumber && a->value == b->value) {
    return {Sameness::kEqual, Both(a)};
  }
  const bool plain_numbers = a->op == Op::kNumber && b->op == Op::kNumber;
  const Sameness form =
      plain_numbers ? Sameness::kDifferent : forms_.Compare(*a, *b);
  if (form == Sameness::kEqual) return {form, Both(a)};
  if (Rounds(a, b) || Rounds(b, a)) {
    return {Sameness::kEqual, absl::StrCat(Describe(*a), " and ", Describe(*b),
                                           " agree to the digits shown")};
  }
  if (WithinTolerance(a, b)) {
    return {Sameness::kEqual, absl::StrCat(Describe(*a), " and ", Describe(*b),
                                           " are within the tolerance")};
  }
  const bool applied = Contains(*a, Op::kApply) || Contains(*b, Op::kApply);
  if (form == Sameness::kDifferent && !applied) return {form, Apart(a, b)};
  if (SameTree(*a, *b)) return {Sameness::kEqual, Both(a)};
  if (HoldsShape(*a) || HoldsShape(*b)) {
    return {Sameness::kDifferent, Apart(a, b)};
  }
  if (!applied) return CompareBalls(a, b);
  const Expr x = WithoutApplications(a), y = WithoutApplications(b);
  const Sameness named = forms_.Compare(*x, *y);
  if (named == Sameness::kEqual) return {named, Both(a)};
  if (form == Sameness::kDifferent) return {form, Apart(a, b)};
  return CompareBalls(x, y);
}

// What no digits can tell, of numbers no more than 2^distance apart.
Sameness ValueComparer::ProveEqual(const Expr& a, const Expr& b,
                                   double distance) {
  if (const auto agree = RemaindersAgree(*a, *b, factors_)) {
    return *agree ? Sameness::kEqual : Sameness::kDifferent;
  }
  const auto bound = ZeroBoundBits(*Add(a, Negate(b)));
  if (bound && distance < -*bound) return Sameness::kEqual;
  // Lists make many pairs; Calcium's proofs cost the most.
  return proofs_++ < kMostProofs ? ExactlyEqual(*a, *b) : Sameness::kUnknown;
}

// Digits tell numbers apart, but prove none equal: tanh(1000) is 1 to 800
// digits.
ValueVerdict ValueComparer::CompareNumbers(const Expr& a, const Expr& b) {
  bool branch = false, real = false, tried = false;
  double distance = 0;
  AtPoint state = AtPoint::kOpen;
  for (const slong precision : kPrecisions) {
    state =
        CompareAt(*a, *b, precision, {}, &budget_, &branch, &real, &distance);
    if (state == AtPoint::kApart) return {Sameness::kDifferent, Apart(a, b)};
    if (state == AtPoint::kSame) return {Sameness::kEqual, Both(a)};
    if (state != AtPoint::kTogether) continue;
    const bool last = precision == kPrecisions[std::size(kPrecisions) - 1];
    if (tried && !last) continue;
    tried = true;
    const Sameness proof = ProveEqual(a, b, distance);
    if (proof == Sameness::kEqual) return {proof, Both(a)};
    if (proof == Sameness::kDifferent) return {proof, Apart(a, b)};
  }
  return {Sameness::kUnknown,
          absl::StrCat(Describe(*a), " and ", Describe(*b),
                       state == AtPoint::kTogether
                           ? " agree to all digits tried, which proves nothing"
                           : ": their values cannot be told")};
}

ValueVerdict ValueComparer::CompareBalls(const Expr& a, const Expr& b) {
  std::vector<std::string> symbols = FreeSymbols(*a);
  for (std::string& name : FreeSymbols(*b)) symbols.push_back(std::move(name));
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  bool branch = false, real = false;
  double distance = 0;
  if (symbols.empty()) return CompareNumbers(a, b);
  if (symbols.size() > 24) return {Sameness::kUnknown, "too many symbols"};
  std::vector<std::string> wholes;
  FindWholes(*a, wholes);
  FindWholes(*b, wholes);
  int agreed = 0;
  for (int point = 0; point < kPositivePoints + kSignedPoints; ++point) {
    const bool signs = point >= kPositivePoints;
    Sample sample;
    Expr x = a, y = b;
    for (const std::string& name : symbols) {
      const BigRational whole(kWholePoints[point]);
      if (std::find(wholes.begin(), wholes.end(), name) == wholes.end()) {
        sample[name] = SampleValue(name, point, signs);
        continue;
      }
      sample[name] = whole;
      // Sums are written out once their bounds are numbers.
      x = Substitute(x, name, Number(whole));
      y = Substitute(y, name, Number(whole));
    }
    const AtPoint state = CompareAt(*x, *y, kPointPrecision, sample, &budget_,
                                    &branch, &real, &distance);
    // With roots of negative numbers, identities that hold for positive
    // symbols break: sqrt(xy) = sqrt(x) sqrt(y).
    const bool counts = !signs || (!branch && real);
    if (state == AtPoint::kApart && counts) {
      return {Sameness::kDifferent, Apart(a, b)};
    }
    agreed += state == AtPoint::kTogether || state == AtPoint::kSame ? 1 : 0;
  }
  if (agreed < 2) {
    return {Sameness::kUnknown, Apart(a, b) + ": their values cannot be told"};
  }
  return {Sameness::kEqual, absl::StrCat("both are ", Describe(*a), " at ",
                                         agreed, " random points")};
}

std::optional<int> ValueComparer::RatioSign(const Expr& a, const Expr& b) {
  if (const auto ratio = forms_.ConstantRatio(*a, *b)) return ratio->sign();
  // A real factor such as sqrt(2): the quotient at one point, then equality.
  Sample sample;
  for (const Expr* e : {&a, &b}) {
    for (const std::string& name : FreeSymbols(**e)) {
      sample[name] = SampleValue(name, 0, false);
    }
  }
  Ball x, y;
  BallEvaluator evaluator(kPointPrecision, sample, &budget_);
  if (!evaluator.Evaluate(*a, x) || !evaluator.Evaluate(*b, y) ||
      acb_contains_zero(y.get()) != 0 || acb_contains_zero(x.get()) != 0) {
    return std::nullopt;
  }
  acb_div(x.get(), x.get(), y.get(), kPointPrecision);
  if (arb_contains_zero(acb_imagref(x.get())) == 0 ||
      arb_contains_zero(acb_realref(x.get())) != 0) {
    return std::nullopt;
  }
  // a(s) b = b(s) a as functions says that the quotient is constant.
  Expr left = a, right = b;
  for (const auto& [name, value] : sample) {
    left = Substitute(left, name, Number(value));
    right = Substitute(right, name, Number(value));
  }
  if (CompareCores(Multiply(left, b), Multiply(right, a)).same !=
      Sameness::kEqual) {
    return std::nullopt;
  }
  return arb_is_positive(acb_realref(x.get())) != 0 ? 1 : -1;
}

std::optional<int> ValueComparer::Order(const Expr& a, const Expr& b) {
  const int a_sign = InfinitySign(*a), b_sign = InfinitySign(*b);
  if (a_sign != 0 || b_sign != 0) {
    return a_sign == b_sign ? 0 : a_sign < b_sign ? -1 : 1;
  }
  const Sample none;
  Ball x, y;
  if (!BallEvaluator(128, none, &budget_).Evaluate(*a, x) ||
      !BallEvaluator(128, none, &budget_).Evaluate(*b, y) ||
      arb_contains_zero(acb_imagref(x.get())) == 0 ||
      arb_contains_zero(acb_imagref(y.get())) == 0) {
    return std::nullopt;
  }
  if (arb_lt(acb_realref(x.get()), acb_realref(y.get())) != 0) return -1;
  if (arb_gt(acb_realref(x.get()), acb_realref(y.get())) != 0) return 1;
  if (CompareCores(a, b).same == Sameness::kEqual) return 0;
  return std::nullopt;
}

}  // namespace espalier
