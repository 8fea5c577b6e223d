#include "datasets/answers/value/compare_value.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "datasets/answers/value/ball_value.h"
#include "datasets/answers/value/closed_form.h"
#include "datasets/answers/value/exact_value.h"
#include "datasets/answers/value/modular_value.h"
#include "datasets/answers/value/points.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/value/zero_bound.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

// A value without its unit or percent sign.
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

// A number written with a decimal point, perhaps times a power of ten: its
// value and the weight of its last digit.
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

constexpr int kMostProofs = 3;
constexpr int kMostClosedForms = 12;
constexpr slong kValuePrecision = 160;
constexpr slong kPrecisions[] = {96, 320, 1200};

// Built of integers by operations that stay in the integers: 2^100, 100!.
bool IsWholeNumber(const ExprNode& e) {
  switch (e.op) {
    case Op::kNumber:
    case Op::kBased:
      return e.value.integer() && e.decimals < 0;
    case Op::kFunction:
      if (e.name != "factorial" && e.name != "binomial" &&
          e.name != "double_factorial" && e.name != "gcd" && e.name != "lcm") {
        return false;
      }
      break;
    case Op::kPower:
      if (e.args[1]->op == Op::kNumber && e.args[1]->value.sign() < 0) {
        return false;
      }
      break;
    case Op::kAdd:
    case Op::kMultiply:
      break;
    default:
      return false;
  }
  return std::all_of(e.args.begin(), e.args.end(),
                     [](const Expr& arg) { return IsWholeNumber(*arg); });
}

// Unknown functions as symbols, which balls can sample: f(x) named as written,
// the initial value I(0) as I_0.
Expr WithoutApplications(const Expr& e) {
  if (e->args.empty()) return e;
  if (e->op == Op::kApply) {
    const ExprNode& arg = *e->args[0];
    const bool index = e->args.size() == 1 && arg.op == Op::kNumber &&
                       arg.value.integer() && arg.value.sign() >= 0;
    const std::string shown = Describe(*e);
    // Longer ones are shown only in part.
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
  if ((a.core->op == Op::kBased) != (b.core->op == Op::kBased)) {
    const Expr x = a.core->op == Op::kBased ? a.core->args[0] : a.core;
    const Expr y = b.core->op == Op::kBased ? b.core->args[0] : b.core;
    const ValueVerdict values = both(a.core, b.core);
    if (values.same != Sameness::kDifferent ||
        CompareCores(x, y).same != Sameness::kEqual) {
      return values;
    }
    // Digits without a base have their decimal value; the question may have
    // named another base.
    return {Sameness::kUnknown,
            absl::StrCat("both show ", Describe(*x), ", but only ",
                         a.core->op == Op::kBased ? "gold" : "the answer",
                         " names a base")};
  }
  if (policy_.units == GradePolicy::Units::kRequired &&
      a.unit.empty() != b.unit.empty()) {
    return {Sameness::kDifferent, Apart(gold, answer) + ": a unit is missing"};
  }
  // Radians are plain numbers, but 1 radian is not 1 degree.
  const auto radians = [](const std::string& unit) {
    return IsPhrase(unit, Reading::kRadian);
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
  // Percentages do not count things.
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
  // An integer is not rounded to decimals, however it is written; of two
  // decimals, the one with fewer digits must still have more than the two of
  // money.
  if (const auto other = AsDecimal(*exact)) {
    if (shown->decimals < 3 || other->decimals <= shown->decimals) {
      return false;
    }
  } else if (IsWholeNumber(*exact)) {
    return false;
  } else if (const auto value = forms_.AsRational(*exact)) {
    if (value->integer()) return false;
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

// For numbers at most 2^distance apart, which digits cannot separate.
Sameness ValueComparer::ProveEqual(const Expr& a, const Expr& b,
                                   double distance) {
  if (const auto agree = RemaindersAgree(*a, *b, factors_)) {
    return *agree ? Sameness::kEqual : Sameness::kDifferent;
  }
  const bool closes = closed_forms_++ < kMostClosedForms;
  const Expr x = closes ? ClosedForm(a, forms_) : nullptr;
  const Expr y = closes ? ClosedForm(b, forms_) : nullptr;
  if (x != nullptr || y != nullptr) {
    const Sameness closed =
        forms_.Compare(x != nullptr ? *x : *a, y != nullptr ? *y : *b);
    if (closed == Sameness::kEqual) return closed;
  }
  const auto bound = ZeroBoundBits(*Add(a, Negate(b)));
  if (bound && distance < -*bound) return Sameness::kEqual;
  // Lists make many pairs; Calcium's proofs cost the most.
  if (proofs_++ >= kMostProofs) return Sameness::kUnknown;
  return ExactlyEqual(x != nullptr ? *x : *a, y != nullptr ? *y : *b);
}

// Digits can prove numbers different but not equal: tanh(1000) is 1 to 800
// digits.
ValueVerdict ValueComparer::CompareNumbers(const Expr& a, const Expr& b) {
  bool tried = false;
  AtPoint state = AtPoint::kOpen;
  for (const slong precision : kPrecisions) {
    const PointComparison at = CompareAt(*a, *b, precision, {}, &budget_);
    state = at.state;
    if (state == AtPoint::kApart) return {Sameness::kDifferent, Apart(a, b)};
    if (state == AtPoint::kSame) return {Sameness::kEqual, Both(a)};
    if (state != AtPoint::kTogether) continue;
    const bool last = precision == kPrecisions[std::size(kPrecisions) - 1];
    if (tried && !last) continue;
    tried = true;
    const Sameness proof = ProveEqual(a, b, at.distance);
    if (proof == Sameness::kEqual) return {proof, Both(a)};
    if (proof == Sameness::kDifferent) return {proof, Apart(a, b)};
  }
  if (state == AtPoint::kPole) {
    return {Sameness::kDifferent, Apart(a, b) + ": one has no value"};
  }
  return {Sameness::kUnknown,
          absl::StrCat(Describe(*a), " and ", Describe(*b),
                       state == AtPoint::kTogether
                           ? " agree to all digits tried, which proves nothing"
                           : ": their values cannot be compared")};
}

ValueVerdict ValueComparer::CompareBalls(const Expr& a, const Expr& b) {
  std::vector<std::string> symbols = FreeSymbols(*a);
  for (std::string& name : FreeSymbols(*b)) symbols.push_back(std::move(name));
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  if (symbols.empty()) return CompareNumbers(a, b);
  if (symbols.size() > 24) return {Sameness::kUnknown, "too many symbols"};
  // Quotients of polynomials that are too large to expand.
  if (const auto agree = RemaindersAgree(*a, *b, factors_)) {
    return *agree ? ValueVerdict{Sameness::kEqual, Both(a)}
                  : ValueVerdict{Sameness::kDifferent, Apart(a, b)};
  }
  const PointsVerdict points = CompareAtPoints(a, b, symbols, &budget_);
  if (points.same == Sameness::kDifferent) {
    return {Sameness::kDifferent, Apart(a, b)};
  }
  // "det(A)", "the integral of f": unevaluated expressions are not numbers.
  if (points.same == Sameness::kUnknown && points.agreed == 0 && budget_ > 0 &&
      HasSymbol(*a) != HasSymbol(*b)) {
    Ball number;
    const Sample none;
    const ExprNode& closed = HasSymbol(*a) ? *b : *a;
    if (BallEvaluator(128, none, &budget_).Evaluate(closed, number)) {
      return {Sameness::kDifferent,
              Apart(a, b) + ": one is a number, the other contains a symbol"};
    }
  }
  if (points.same == Sameness::kUnknown) {
    return {Sameness::kUnknown,
            Apart(a, b) + ": their values cannot be compared"};
  }
  return {Sameness::kEqual, absl::StrCat("both are ", Describe(*a), " at ",
                                         points.agreed, " random points")};
}

std::optional<int> ValueComparer::RatioSign(const Expr& a, const Expr& b) {
  if (const auto ratio = forms_.ConstantRatio(*a, *b)) return ratio->sign();
  // A real factor such as sqrt(2): take the quotient at one point, then test
  // equality.
  std::vector<std::string> names = FreeSymbols(*a);
  for (std::string& name : FreeSymbols(*b)) names.push_back(std::move(name));
  const Sample sample = PositiveSample(names);
  Ball x, y;
  BallEvaluator evaluator(kValuePrecision, sample, &budget_);
  if (!evaluator.Evaluate(*a, x) || !evaluator.Evaluate(*b, y) ||
      acb_contains_zero(y.get()) != 0 || acb_contains_zero(x.get()) != 0) {
    return std::nullopt;
  }
  acb_div(x.get(), x.get(), y.get(), kValuePrecision);
  if (arb_contains_zero(acb_imagref(x.get())) == 0 ||
      arb_contains_zero(acb_realref(x.get())) != 0) {
    return std::nullopt;
  }
  // a(s) b = b(s) a as functions means that the quotient is constant.
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

bool ValueComparer::Contradict(const Expr& a, const Expr& b) {
  if (Compare(a, b).same != Sameness::kDifferent) return false;
  const auto first = AsDecimal(*a), second = AsDecimal(*b);
  if (!first && !second) return true;
  // "1/3 = 0.33", "2/3 = 0.7"
  const Sample none;
  Ball x, y;
  if (!BallEvaluator(128, none, &budget_).Evaluate(*a, x) ||
      !BallEvaluator(128, none, &budget_).Evaluate(*b, y)) {
    return false;
  }
  BigRational place;
  for (const auto& decimal : {first, second}) {
    if (decimal && place < decimal->last_place) place = decimal->last_place;
  }
  Ball bound;
  acb_sub(y.get(), y.get(), x.get(), 128);
  acb_set_fmpq(bound.get(), place.get(), 128);
  arb_t distance, size;
  arb_init(distance);
  arb_init(size);
  acb_abs(distance, y.get(), 128);
  acb_abs(size, x.get(), 128);
  arb_div_ui(size, size, 50, 128);
  const bool near = arb_le(distance, size) != 0 ||
                    arb_le(distance, acb_realref(bound.get())) != 0;
  arb_clear(distance);
  arb_clear(size);
  return !near;
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
