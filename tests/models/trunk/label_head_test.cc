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

}  // namespace
}  // namespace espalier
