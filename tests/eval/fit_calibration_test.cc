#include "src/eval/fit_calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace espalier {
namespace {

using Values = std::vector<double>;

RandomStream Draws(uint64_t index) {
  return RandomStream(StreamKey(7, 1, index, Purpose::kTest));
}

// The least weighted squared error of values that do not fall, over all ways
// to cut the sequence into blocks of one value each.
double LeastError(const Values& values, const Values& weights) {
  double least = std::numeric_limits<double>::infinity();
  const size_t cuts = values.size() - 1;
  for (size_t mask = 0; mask < size_t{1} << cuts; ++mask) {
    double error = 0, last = -1;
    bool rises = true;
    for (size_t begin = 0; begin < values.size();) {
      size_t end = begin + 1;
      while (end < values.size() && (mask >> (end - 1) & 1) == 0) ++end;
      double sum = 0, weight = 0;
      for (size_t i = begin; i < end; ++i) {
        sum += values[i] * weights[i];
        weight += weights[i];
      }
      const double mean = sum / weight;
      rises &= mean >= last;
      last = mean;
      for (size_t i = begin; i < end; ++i) {
        error += weights[i] * (values[i] - mean) * (values[i] - mean);
      }
      begin = end;
    }
    if (rises) least = std::min(least, error);
  }
  return least;
}

TEST(FitCalibrationTest, EqualScoresHaveNoCurve) {
  std::vector<LabelledScore> scored;
  for (int i = 0; i < 40; ++i) scored.push_back({0.5, i % 2 ? 1.0 : 0.0});
  for (const CurveKind kind :
       {CurveKind::kPlatt, CurveKind::kTemperature, CurveKind::kIsotonic}) {
    const auto curve = FitCalibration(kind, "step", scored);
    EXPECT_EQ(curve.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(curve.status().message().find("all 40 scores are 0.5"),
              absl::string_view::npos)
        << curve.status();
  }
}

TEST(FitCalibrationTest, PoolingEqualsTheBestOfAllCuts) {
  RandomStream random = Draws(1);
  for (int trial = 0; trial < 300; ++trial) {
    Values values, weights;
    for (int n = random.Range(1, 9); n > 0; --n) {
      values.push_back(random.Below(5) / 4.0);
      weights.push_back(random.Range(1, 3));
    }
    const Values fitted = PoolAdjacentViolators(values, weights);
    ASSERT_EQ(fitted.size(), values.size());
    EXPECT_TRUE(std::is_sorted(fitted.begin(), fitted.end()));
    double error = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      error += weights[i] * (values[i] - fitted[i]) * (values[i] - fitted[i]);
    }
    EXPECT_NEAR(error, LeastError(values, weights), 1e-12);
  }
}

// Labels that are right with probability logistic(slope * logit + intercept).
std::vector<LabelledScore> Draw(int count, double slope, double intercept,
                                uint64_t index) {
  RandomStream random = Draws(index);
  std::vector<LabelledScore> out;
  for (int i = 0; i < count; ++i) {
    const double score = .02 + .96 * random.UniformDouble();
    const double logit = std::log(score / (1 - score));
    const double right = 1 / (1 + std::exp(-(slope * logit + intercept)));
    out.push_back({score, random.UniformDouble() < right ? 1.0 : 0.0});
  }
  return out;
}

// Platt's loss: the negative log-likelihood of his targets.
double Loss(const std::vector<LabelledScore>& scored, double slope,
            double intercept) {
  double right = 0, loss = 0;
  for (const LabelledScore& one : scored) right += one.label;
  const double wrong = static_cast<double>(scored.size()) - right;
  for (const LabelledScore& one : scored) {
    const double target =
        one.label > 0 ? (right + 1) / (right + 2) : 1 / (wrong + 2);
    const double odds =
        std::pow(one.score / (1 - one.score), slope) * std::exp(intercept);
    const double p = odds / (1 + odds);
    loss -= target * std::log(p) + (1 - target) * std::log(1 - p);
  }
  return loss;
}

TEST(FitCalibrationTest, TemperatureAndPlattAreTheBestOnAGrid) {
  const auto scored = Draw(200, .5, -.7, 2);
  const auto temperature =
      FitCalibration(CurveKind::kTemperature, "step", scored);
  const auto platt = FitCalibration(CurveKind::kPlatt, "step", scored);
  ASSERT_TRUE(temperature.ok() && platt.ok());
  EXPECT_EQ(temperature->intercept, 0);
  double best = 1e300, best_platt = 1e300, at = 0;
  for (int i = 1; i <= 300; ++i) {
    const double slope = i / 100.0;
    const double loss = Loss(scored, slope, 0);
    if (loss < best) at = slope;
    best = std::min(best, loss);
  }
  for (int i = 4; i <= 16; ++i) {
    for (int k = -30; k <= 4; ++k) {
      best_platt = std::min(best_platt, Loss(scored, i / 20., k / 20.));
    }
  }
  EXPECT_NEAR(temperature->slope, at, .01);
  EXPECT_LE(Loss(scored, temperature->slope, 0), best + 1e-9);
  EXPECT_LE(Loss(scored, platt->slope, platt->intercept), best_platt + 1e-9);
  EXPECT_NEAR(Loss(scored, platt->slope, platt->intercept), best_platt, .2);
  // The labels' own curve is found from many.
  const auto many =
      FitCalibration(CurveKind::kPlatt, "step", Draw(40000, .5, -.7, 3));
  EXPECT_NEAR(many->slope, .5, .03);
  EXPECT_NEAR(many->intercept, -.7, .03);
}

TEST(FitCalibrationTest, EveryKindCalibratesWhatItWasNotFittedOn) {
  const auto fit = Draw(20000, .5, -.7, 4), other = Draw(20000, .5, -.7, 5);
  const ScoreQuality before = MeasureScores(other);
  for (const CurveKind kind : {CurveKind::kPlatt, CurveKind::kIsotonic}) {
    const auto curve = FitCalibration(kind, "path", fit);
    ASSERT_TRUE(curve.ok()) << curve.status();
    EXPECT_EQ(curve->level, "path");
    EXPECT_EQ(curve->labels, 20000);
    const ScoreQuality after = MeasureScores(Calibrated(*curve, other));
    EXPECT_GT(before.ece, .1);
    EXPECT_LT(after.ece, .02);
    EXPECT_LT(after.brier, before.brier);
    double last = 0;
    for (int i = 0; i <= 1000; ++i) {
      const double p = curve->Apply(i / 1000.0);
      EXPECT_GE(p, last);
      last = p;
    }
    // A file keeps the curve.
    const auto read = Calibration::Parse(Calibration({*curve}).Text(), "x");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_NEAR(read->levels()[0].Apply(.3), curve->Apply(.3), 1e-9);
  }
}

TEST(FitCalibrationTest, SeparatedScoresGiveAFiniteCurve) {
  std::vector<LabelledScore> scored;
  for (int i = 0; i < 20; ++i) {
    scored.push_back({i / 19.0, i < 10 ? 0.0 : 1.0});
  }
  for (const CurveKind kind :
       {CurveKind::kPlatt, CurveKind::kTemperature, CurveKind::kIsotonic}) {
    const auto curve = FitCalibration(kind, "step", scored);
    ASSERT_TRUE(curve.ok()) << curve.status();
    EXPECT_TRUE(std::isfinite(curve->slope));
    EXPECT_LT(curve->Apply(.1), curve->Apply(.9));
  }
}

TEST(FitCalibrationTest, LabelsThatGiveNoCurveAreRefused) {
  const auto error = [](std::vector<LabelledScore> scored) {
    for (const CurveKind kind :
         {CurveKind::kPlatt, CurveKind::kTemperature, CurveKind::kIsotonic}) {
      const auto curve = FitCalibration(kind, "step", scored);
      EXPECT_FALSE(curve.ok());
      EXPECT_NE(curve.status().message().find("level step"),
                absl::string_view::npos);
    }
  };
  error({{.5, 1}, {.4, 0}});
  error(std::vector<LabelledScore>(30, {.5, 1}));
  std::vector<LabelledScore> falls;
  for (int i = 0; i < 30; ++i) falls.push_back({i / 30.0, i < 15 ? 1.0 : 0.0});
  error(falls);
}

TEST(FitCalibrationTest, QualityIsThatOfTheDefinition) {
  // Bins of 1/15: .95 and .99 share one, .5 is alone.
  const ScoreQuality quality =
      MeasureScores({{.95, 1}, {.99, 0}, {.5, 1}, {.5, 0}});
  EXPECT_EQ(quality.labels, 4);
  EXPECT_NEAR(quality.ece, std::abs(.95 + .99 - 1) / 4 + 0, 1e-12);
  EXPECT_NEAR(quality.brier, (.0025 + .9801 + .25 + .25) / 4, 1e-12);
  EXPECT_TRUE(std::isnan(MeasureScores({}).ece));
}

TEST(ScoreQualityTest, ThirdsAreMeasuredApart) {
  // Of 1 to 7 steps, by hand.
  const std::vector<std::vector<int>> thirds = {{0},
                                                {0, 1},
                                                {0, 1, 2},
                                                {0, 0, 1, 2},
                                                {0, 0, 1, 1, 2},
                                                {0, 0, 1, 1, 2, 2},
                                                {0, 0, 0, 1, 1, 2, 2}};
  for (size_t n = 1; n <= thirds.size(); ++n) {
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(ThirdOf(static_cast<int64_t>(i), static_cast<int64_t>(n)),
                thirds[n - 1][i]);
    }
  }
  const std::vector<LabelledScore> scored = {
      {.score = 0.75, .label = 1, .third = 0},
      {.score = 0.25, .label = 1, .third = 2},
      {.score = 0.25, .label = 0, .third = 2}};
  const auto parts = MeasureThirds(scored);
  EXPECT_EQ(parts[0].labels, 1);
  EXPECT_NEAR(parts[0].ece, 0.25, 1e-12);
  EXPECT_EQ(parts[1].labels, 0);
  EXPECT_TRUE(std::isnan(parts[1].ece));
  // One bin of mean score .25 and mean label .5.
  EXPECT_NEAR(parts[2].ece, 0.25, 1e-12);
  EXPECT_NEAR(parts[2].brier, (0.75 * 0.75 + 0.25 * 0.25) / 2, 1e-12);
  // A curve keeps the third.
  const LevelCalibration curve{.level = "step", .slope = 2};
  EXPECT_EQ(Calibrated(curve, scored)[1].third, 2);
}

}  // namespace
}  // namespace espalier
