#include "search/bandit/model_arms.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(ModelArmsTest, OneModelIsChosenWithoutADraw) {
  const ModelArms models(1, ModelChoice::kThompson);
  EXPECT_EQ(models.Choose([](const RewardStats&) {
    ADD_FAILURE() << "drawn";
    return 0.0;
  }),
            0);
}

TEST(ModelArmsTest, TheHighestDrawWins) {
  ModelArms models(3, ModelChoice::kThompson);
  models.Add(0, 0.1);
  models.Add(1, 0.9);
  models.Add(2, 0.5);
  EXPECT_EQ(models.Choose([](const RewardStats& seen) { return seen.mean; }),
            1);
}

TEST(ModelArmsTest, UpperBoundsTryEveryModelAndThenWeighMeanAgainstCount) {
  ModelArms models(2, ModelChoice::kUcb);
  const auto never = [](const RewardStats&) {
    ADD_FAILURE() << "drawn";
    return 0.0;
  };
  EXPECT_EQ(models.Choose(never), 0);
  models.Add(0, 1);
  EXPECT_EQ(models.Choose(never), 1);
  models.Add(1, 0.5);
  EXPECT_EQ(models.Choose(never), 0);
  // N = 10: model 0 at .9 of 9, bound .9 + sqrt(2 ln 10 / 9) = 1.615; model 1
  // at .5 of 1, bound .5 + sqrt(2 ln 10) = 2.646.
  for (int i = 0; i < 8; ++i) models.Add(0, 0.8875);
  EXPECT_EQ(models.Choose(never), 1);
}

}  // namespace
}  // namespace espalier
