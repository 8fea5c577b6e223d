#include "src/eval/fit_calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr int kScoreBins = 15;
constexpr double kLeastProbability = 1e-7;  // as LevelCalibration::Apply

struct Pool {
  double sum = 0, weight = 0;
  size_t size = 0;
  double mean() const { return sum / weight; }
};

std::vector<Pool> Pools(absl::Span<const double> values,
                        absl::Span<const double> weights) {
  ESP_CHECK(values.size() == weights.size());
  std::vector<Pool> pools;
  for (size_t i = 0; i < values.size(); ++i) {
    pools.push_back({values[i] * weights[i], weights[i], 1});
    while (pools.size() > 1) {
      Pool& before = pools[pools.size() - 2];
      const Pool& last = pools.back();
      if (before.mean() < last.mean()) break;
      before.sum += last.sum;
      before.weight += last.weight;
      before.size += last.size;
      pools.pop_back();
    }
  }
  return pools;
}

LevelCalibration FitIsotonic(absl::Span<const LabelledScore> scored) {
  std::vector<LabelledScore> sorted(scored.begin(), scored.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const LabelledScore& a, const LabelledScore& b) {
              return a.score < b.score;
            });
  // Equal scores have one value.
  std::vector<double> scores, labels, weights;
  for (const LabelledScore& one : sorted) {
    if (scores.empty() || scores.back() != one.score) {
      scores.push_back(one.score);
      labels.push_back(0);
      weights.push_back(0);
    }
    labels.back() += one.label;
    weights.back() += 1;
  }
  for (size_t i = 0; i < labels.size(); ++i) labels[i] /= weights[i];
  LevelCalibration curve;
  size_t at = 0;
  for (const Pool& pool : Pools(labels, weights)) {
    double centre = 0;
    for (size_t i = 0; i < pool.size; ++i, ++at) {
      centre += scores[at] * weights[at] / pool.weight;
    }
    curve.scores.push_back(std::clamp(centre, 0.0, 1.0));
    curve.probabilities.push_back(std::clamp(pool.mean(), 0.0, 1.0));
  }
  return curve;
}

// Negative log-likelihood of a logistic curve on logits x and targets t, with
// its derivatives: [0] by slope, [1] by intercept.
struct Likelihood {
  double loss = 0;
  double slope = 0, intercept = 0;              // first derivatives
  double slope2 = 0, both = 0, intercept2 = 0;  // second ones
};

Likelihood LikelihoodOf(const std::vector<std::pair<double, double>>& points,
                        double slope, double intercept) {
  Likelihood sum;
  for (const auto& [x, t] : points) {
    const double z = slope * x + intercept;
    // log(1 + exp(z)) - t z, without overflow.
    sum.loss += std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))) - t * z;
    const double p = 1 / (1 + std::exp(-z));
    const double d = p - t, w = p * (1 - p);
    sum.slope += d * x;
    sum.intercept += d;
    sum.slope2 += w * x * x;
    sum.both += w * x;
    sum.intercept2 += w;
  }
  return sum;
}

// Newton's method with halved steps; the loss is convex.
LevelCalibration FitLogistic(absl::Span<const LabelledScore> scored,
                             bool with_intercept) {
  double right = 0;
  for (const LabelledScore& one : scored) right += one.label;
  const double wrong = static_cast<double>(scored.size()) - right;
  const double high = (right + 1) / (right + 2), low = 1 / (wrong + 2);
  std::vector<std::pair<double, double>> points;
  for (const LabelledScore& one : scored) {
    const double p =
        std::clamp(one.score, kLeastProbability, 1 - kLeastProbability);
    points.emplace_back(std::log(p) - std::log1p(-p),
                        low + (high - low) * one.label);
  }
  double slope = 1, intercept = 0;
  for (int i = 0; i < 100; ++i) {
    const Likelihood now = LikelihoodOf(points, slope, intercept);
    constexpr double kRidge = 1e-12;  // where all logits are equal
    double step_slope = 0, step_intercept = 0;
    if (with_intercept) {
      const double a = now.slope2 + kRidge, d = now.intercept2 + kRidge;
      const double determinant = a * d - now.both * now.both;
      step_slope = (d * now.slope - now.both * now.intercept) / determinant;
      step_intercept = (a * now.intercept - now.both * now.slope) / determinant;
    } else {
      step_slope = now.slope / (now.slope2 + kRidge);
    }
    // What the step would gain, twice: below rounding it is the last one.
    const double gain = step_slope * now.slope + step_intercept * now.intercept;
    if (gain <= 1e-14 * (1 + now.loss)) {
      slope -= step_slope;
      intercept -= step_intercept;
      break;
    }
    double share = 1;
    while (share > 1e-10 && LikelihoodOf(points, slope - share * step_slope,
                                         intercept - share * step_intercept)
                                    .loss > now.loss) {
      share /= 2;
    }
    if (share <= 1e-10) break;
    slope -= share * step_slope;
    intercept -= share * step_intercept;
  }
  return {.slope = slope, .intercept = intercept};
}

}  // namespace

std::vector<double> PoolAdjacentViolators(absl::Span<const double> values,
                                          absl::Span<const double> weights) {
  std::vector<double> out;
  for (const Pool& pool : Pools(values, weights)) {
    out.insert(out.end(), pool.size, pool.mean());
  }
  return out;
}

absl::StatusOr<LevelCalibration> FitCalibration(
    CurveKind kind, const std::string& level,
    absl::Span<const LabelledScore> scored) {
  const auto error = [&](const std::string& what) {
    return absl::InvalidArgumentError(
        absl::StrCat("level ", level, ": ", what));
  };
  const auto count = static_cast<int64_t>(scored.size());
  if (count < kLeastLabels) {
    return error(absl::StrCat("expected at least ", kLeastLabels,
                              " labels to fit a curve on, found ", count));
  }
  const auto [least, most] =
      std::minmax_element(scored.begin(), scored.end(),
                          [](const LabelledScore& a, const LabelledScore& b) {
                            return a.label < b.label;
                          });
  if (least->label == most->label) {
    return error(absl::StrCat("all ", count, " labels are ", least->label,
                              "; a curve needs right and wrong ones"));
  }
  const auto same = [&](const LabelledScore& one) {
    return one.score == scored[0].score;
  };
  if (std::all_of(scored.begin(), scored.end(), same)) {
    return error(absl::StrCat("all ", count, " scores are ", scored[0].score,
                              "; a curve needs scores that differ"));
  }
  LevelCalibration curve = kind == CurveKind::kIsotonic
                               ? FitIsotonic(scored)
                               : FitLogistic(scored, kind == CurveKind::kPlatt);
  const bool rises =
      kind == CurveKind::kIsotonic ? curve.scores.size() > 1 : curve.slope > 0;
  if (!rises) {
    return error(
        absl::StrCat("the scores do not rise with the ", count,
                     " labels, so no curve that keeps their order fits"));
  }
  curve.level = level;
  curve.labels = count;
  return curve;
}

std::vector<LabelledScore> Calibrated(const LevelCalibration& curve,
                                      absl::Span<const LabelledScore> scored) {
  std::vector<LabelledScore> out;
  for (const LabelledScore& one : scored) {
    out.push_back({curve.Apply(one.score), one.label, one.third});
  }
  return out;
}

ScoreQuality MeasureScores(absl::Span<const LabelledScore> scored) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (scored.empty()) return {.brier = kNone, .ece = kNone};
  const auto count = static_cast<double>(scored.size());
  ScoreQuality quality{.labels = static_cast<int64_t>(scored.size())};
  std::array<double, kScoreBins> apart{};  // sums of score - label
  for (const LabelledScore& one : scored) {
    const double difference = one.score - one.label;
    quality.brier += difference * difference / count;
    const int bin =
        std::min(kScoreBins - 1, static_cast<int>(one.score * kScoreBins));
    apart[static_cast<size_t>(bin)] += difference;
  }
  for (const double sum : apart) quality.ece += std::abs(sum) / count;
  return quality;
}

std::array<ScoreQuality, 3> MeasureThirds(
    absl::Span<const LabelledScore> scored) {
  std::array<std::vector<LabelledScore>, 3> parts;
  for (const LabelledScore& one : scored) {
    parts[static_cast<size_t>(one.third)].push_back(one);
  }
  return {MeasureScores(parts[0]), MeasureScores(parts[1]),
          MeasureScores(parts[2])};
}

}  // namespace espalier
