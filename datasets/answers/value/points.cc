#include "datasets/answers/value/points.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr int kPositivePoints = 4;
constexpr int kSignedPoints = 4;
// Where floors and signs jump.
constexpr int kWholeNumberPoints = 4;
constexpr slong kPointPrecision = 160;
constexpr slong kMiddlePrecision = 640;
constexpr double kHighestPrecision = 70000;

// Deterministic sample values: positive, or of either sign.
BigRational SampleValue(const std::string& name, int point, bool signs) {
  uint64_t h = 1469598103934665603ULL + static_cast<uint64_t>(point) * 7919;
  for (const char c : name)
    h = (h ^ static_cast<uint8_t>(c)) * 1099511628211ULL;
  h ^= h >> 31;
  h *= 0x9e3779b97f4a7c15ULL;
  h ^= h >> 29;
  if (point >= kPositivePoints + kSignedPoints) {
    return BigRational(static_cast<int64_t>(h % 23) - 11);
  }
  const int64_t thousandths = 500 + static_cast<int64_t>(h % 2503);
  const bool negative = signs && ((h >> 40) & 3) != 0;
  // Near and far: |x - 2| is not 2 - x.
  static constexpr struct {
    int64_t num, den;
  } kScales[] = {{1, 1}, {1, 7}, {23, 1}, {611, 1}};
  const auto& scale = kScales[point % 4];
  return BigRational(negative ? -thousandths : thousandths, 1009) *
         BigRational(scale.num, scale.den);
}

using SymbolNames = std::vector<std::string>;

void Note(const ExprNode& e, SymbolNames& names) {
  for (std::string& name : FreeSymbols(e)) names.push_back(std::move(name));
}

bool Has(const SymbolNames& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Symbols that stand for integers, such as exponents of negative numbers and
// bounds of sums: n in (-1)^n. `factors`: those of gcd(a, b).
void FindWholes(const ExprNode& e, SymbolNames& names, SymbolNames& factors) {
  if (e.op == Op::kPower && e.args[0]->op == Op::kNumber &&
      e.args[0]->value.sign() < 0) {
    Note(*e.args[1], names);
  }
  if (e.op == Op::kSum || e.op == Op::kProduct) {
    Note(*e.args[2], names);
    Note(*e.args[3], names);
  }
  if (e.op == Op::kFunction && e.name == "double_factorial") Note(e, names);
  // In floor(n/2) n is an integer; x need not be.
  if (e.op == Op::kFunction && (e.name == "floor" || e.name == "ceil")) {
    for (std::string& name : FreeSymbols(e)) {
      if (name == "n" || name == "m" || name == "k" || name == "N") {
        names.push_back(std::move(name));
      }
    }
  }
  if (e.op == Op::kFunction && (e.name == "gcd" || e.name == "lcm")) {
    Note(e, factors);
  }
  for (const Expr& arg : e.args) FindWholes(*arg, names, factors);
}

bool Jumps(const ExprNode& e) {
  if (e.op == Op::kFunction && (e.name == "floor" || e.name == "ceil" ||
                                e.name == "sgn" || e.name == "mod")) {
    return true;
  }
  return std::any_of(e.args.begin(), e.args.end(),
                     [](const Expr& arg) { return Jumps(*arg); });
}

constexpr int kWholes[] = {2, 3, 8, 5, 17, 12, 29, 30, 4, 7, 9, 6};
constexpr int kFactors[] = {12, 18, 30, 45, 8, 20, 42, 63};

// Uses enough digits that no number written in either can hide a difference.
PointComparison CompareSurely(const ExprNode& a, const ExprNode& b,
                              const Sample& sample, int64_t* budget) {
  PointComparison at = CompareAt(a, b, kPointPrecision, sample, budget);
  if (at.state != AtPoint::kTogether && at.state != AtPoint::kOpen) return at;
  const auto sure = [&at] {
    return at.state == AtPoint::kTogether && at.distance < -at.weight - 64;
  };
  if (sure()) return at;
  const double precision = kPointPrecision + 3 * at.weight;
  if (precision > 2 * kMiddlePrecision) {
    // Most differences show up earlier.
    at = CompareAt(a, b, kMiddlePrecision, sample, budget);
    if (at.state == AtPoint::kApart) return at;
  }
  if (at.weight == 0 || precision > kHighestPrecision) {
    at.state = AtPoint::kOpen;
    return at;
  }
  at = CompareAt(a, b, static_cast<slong>(precision), sample, budget);
  if (at.state == AtPoint::kTogether && !sure()) at.state = AtPoint::kOpen;
  return at;
}

// Whether floor(x) and similar agree so near to integers that no number in them
// lies between.
bool AgreeBesideWholes(const ExprNode& a, const ExprNode& b,
                       const SymbolNames& symbols, double weight,
                       int64_t* budget) {
  const auto digits = static_cast<int64_t>(std::min(weight, 3000.0) * 0.31) + 3;
  for (const int64_t side : {-1, 1}) {
    Sample sample;
    int64_t whole = 2;
    for (const std::string& name : symbols) {
      sample[name] = BigRational(whole) +
                     BigRational(side) * BigRational::PowerOfTen(-digits);
      whole += 3;
    }
    const PointComparison at = CompareSurely(a, b, sample, budget);
    if (at.state == AtPoint::kApart && at.real) return false;
  }
  return true;
}

}  // namespace

PointComparison CompareAt(const ExprNode& a, const ExprNode& b, slong precision,
                          const Sample& sample, int64_t* budget) {
  PointComparison out;
  BallEvaluator left(precision, sample, budget);
  BallEvaluator right(precision, sample, budget);
  Ball x, y, difference;
  const bool has_left = left.Evaluate(a, x);
  const bool has_right = right.Evaluate(b, y);
  out.weight = std::max(left.weight(), right.weight());
  if (!has_left || !has_right) {
    const bool pole = has_left ? right.met_pole() : left.met_pole();
    if (has_left != has_right && pole) out.state = AtPoint::kPole;
    return out;
  }
  out.branch = left.met_branch() || right.met_branch();
  out.real = arb_contains_zero(acb_imagref(x.get())) != 0 &&
             arb_contains_zero(acb_imagref(y.get())) != 0;
  acb_sub(difference.get(), x.get(), y.get(), precision);
  if (acb_contains_zero(difference.get()) == 0) {
    out.state = AtPoint::kApart;
    return out;
  }
  if (acb_is_zero(difference.get()) != 0) {
    out.state = AtPoint::kSame;
    return out;
  }
  mag_t size, error;
  mag_init(size);
  mag_init(error);
  acb_get_mag(size, x.get());
  acb_get_mag(error, difference.get());
  out.distance = mag_get_d_log2_approx(error);
  out.size = mag_get_d_log2_approx(size);
  mag_mul_2exp_si(error, error, precision / 2);
  // A value of 0 must itself be small.
  const bool together =
      mag_cmp(error, size) < 0 || mag_cmp_2exp_si(error, 0) < 0;
  mag_clear(size);
  mag_clear(error);
  if (together) out.state = AtPoint::kTogether;
  return out;
}

PointsVerdict CompareAtPoints(const Expr& a, const Expr& b,
                              const std::vector<std::string>& symbols,
                              int64_t* budget) {
  SymbolNames wholes, factors;
  FindWholes(*a, wholes, factors);
  FindWholes(*b, wholes, factors);
  const bool jumps = Jumps(*a) || Jumps(*b);
  const int points =
      kPositivePoints + kSignedPoints + (jumps ? kWholeNumberPoints : 0);
  double weight = 0;
  PointsVerdict out;
  int poles = 0;
  for (int point = 0; point < points; ++point) {
    const bool signs = point >= kPositivePoints;
    Sample sample;
    Expr x = a, y = b;
    int seen = 0;
    for (const std::string& name : symbols) {
      if (Has(factors, name)) {
        const size_t at = static_cast<size_t>(point + 3 * seen++);
        sample[name] = BigRational(kFactors[at % std::size(kFactors)]);
        continue;
      }
      if (!Has(wholes, name)) {
        sample[name] = SampleValue(name, point, signs);
        continue;
      }
      const BigRational whole(kWholes[point]);
      sample[name] = whole;
      // Sums are written out once their bounds are numbers.
      x = Substitute(x, name, Number(whole));
      y = Substitute(y, name, Number(whole));
    }
    const PointComparison at = CompareSurely(*x, *y, sample, budget);
    weight = std::max(weight, at.weight);
    // With roots of negative numbers, identities that hold for positive symbols
    // fail: sqrt(xy) = sqrt(x) sqrt(y).
    const bool counts = !signs || (!at.branch && at.real);
    if (at.state == AtPoint::kApart && counts) {
      out.same = Sameness::kDifferent;
      return out;
    }
    if (at.state == AtPoint::kTogether || at.state == AtPoint::kSame) {
      ++out.agreed;
    }
    poles += at.state == AtPoint::kPole && !signs ? 1 : 0;
    if (at.state == AtPoint::kPole &&
        point >= kPositivePoints + kSignedPoints) {
      return {};
    }
  }
  if (jumps && out.agreed >= 2 && wholes.empty() &&
      !AgreeBesideWholes(*a, *b, symbols, weight, budget)) {
    return {};
  }
  if (poles == kPositivePoints) {
    out.same = Sameness::kDifferent;
  } else if (out.agreed >= 2) {
    out.same = Sameness::kEqual;
  }
  return out;
}

Sample PositiveSample(const std::vector<std::string>& names) {
  Sample sample;
  for (const std::string& name : names) {
    sample[name] = SampleValue(name, 0, false);
  }
  return sample;
}

}  // namespace espalier
