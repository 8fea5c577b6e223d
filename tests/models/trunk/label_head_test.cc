#include "models/trunk/label_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace espalier {
namespace {

TEST(LabelHeadTest, EachOutputGivesItsLevels) {
  const LabelHead head{.labels = 3,
                       .weight = {1, 0, 0, 1, 2, -1},
                       .bias = {0.5f, -1, 0},
                       .outputs = {Level::kWindow2, Level::kStep,
                                   LevelSet(Level::kPath) | Level::kOutcome}};
  const std::vector<float> hidden = {0.25f, 2, -1, 0.5f};
  std::vector<StepScores> scores(2);
  head.Rewards(hidden.data(), 2, scores.data());
  const auto logistic = [](double z) { return 1 / (1 + std::exp(-z)); };
  for (size_t row = 0; row < 2; ++row) {
    const double x = row == 0 ? 0.25 : -1, y = row == 0 ? 2 : 0.5;
    EXPECT_NEAR(scores[row].windows[0], logistic(x + 0.5), 1e-6);
    EXPECT_NEAR(scores[row].step, logistic(y - 1), 1e-6);
    EXPECT_NEAR(scores[row].path, logistic(2 * x - y), 1e-6);
    EXPECT_EQ(scores[row].outcome, scores[row].path);
    EXPECT_TRUE(std::isnan(scores[row].windows[1]));
    EXPECT_TRUE(std::isnan(scores[row].windows[2]));
  }
}

// Three heads of two outputs, head by head.
TEST(LabelHeadTest, AnEnsembleGivesTheMeanAndTheSpreadOfItsHeads) {
  const LabelHead head{
      .labels = 6,
      .weight = {1, 0, 0, 1, 2, 0, 0, -1, -1, 1, 3, 3},
      .bias = {0.5f, 0, 0, 0.25f, -1, 0},
      .outputs = {Level::kStep, LevelSet(Level::kPath) | Level::kOutcome}};
  const double x = 0.25, y = -0.5;
  const std::vector<float> hidden = {0.25f, -0.5f};
  StepScores scores;
  head.Rewards(hidden.data(), 1, &scores);
  const auto logistic = [](double z) { return 1 / (1 + std::exp(-z)); };
  const std::vector<double> step = {logistic(x + 0.5), logistic(2 * x),
                                    logistic(-x + y - 1)};
  const std::vector<double> path = {logistic(y), logistic(-y + 0.25),
                                    logistic(3 * x + 3 * y)};
  const auto expect = [](const std::vector<double>& p, float mean,
                         float spread) {
    const double m = (p[0] + p[1] + p[2]) / 3;
    const double squares = (p[0] - m) * (p[0] - m) + (p[1] - m) * (p[1] - m) +
                           (p[2] - m) * (p[2] - m);
    EXPECT_NEAR(mean, m, 1e-6);
    EXPECT_NEAR(spread, std::sqrt(squares / 3), 1e-6);
    EXPECT_GT(spread, 0.01);
  };
  expect(step, scores.step, scores.spread_of(Level::kStep));
  expect(path, scores.path, scores.spread_of(Level::kPath));
  EXPECT_EQ(scores.outcome, scores.path);
  EXPECT_EQ(scores.spread_of(Level::kOutcome), scores.spread_of(Level::kPath));
  EXPECT_EQ(scores.spread_of(Level::kWindow2), 0);
}

}  // namespace
}  // namespace espalier
