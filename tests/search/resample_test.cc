#include "search/parts/resample.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "search/parts/confidence.h"

namespace espalier {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

RandomStream Stream(uint64_t i) {
  return RandomStream(StreamKey(i, 0, 0, Purpose::kTest));
}

TEST(ResampleTest, WeightsAreOddsAtTemperatureOne) {
  // Odds 9, 1 and 1/9 sum to 91/9.
  const auto w = Softmax({Logit(0.9), Logit(0.5), Logit(0.1)}, 1);
  EXPECT_NEAR(w[0], 81.0 / 91, 1e-12);
  EXPECT_NEAR(w[1], 9.0 / 91, 1e-12);
  EXPECT_NEAR(w[2], 1.0 / 91, 1e-12);
  // At temperature 2 the roots of the odds: 3, 1, 1/3.
  const auto half = Softmax({Logit(0.9), Logit(0.5), Logit(0.1)}, 2);
  EXPECT_NEAR(half[0], 9.0 / 13, 1e-12);
  EXPECT_NEAR(half[2], 1.0 / 13, 1e-12);
}

TEST(ResampleTest, ZeroTemperatureSharesAmongTheHighest) {
  EXPECT_EQ(Softmax({1, 3, 3, 2}, 0), (std::vector<double>{0, 0.5, 0.5, 0}));
}

TEST(ResampleTest, WhatIsLostWeighsNothing) {
  EXPECT_EQ(Softmax({kNever, 2, kNever}, 1), (std::vector<double>{0, 1, 0}));
  EXPECT_TRUE(Softmax({}, 1).empty());
}

TEST(ResampleTest, SystematicDrawsWithinOneOfTheExpectedCount) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random = Stream(seed);
    std::array<int, 4> counts{};
    for (const size_t i :
         Resample({0.35, 0, 0.5, 0.15}, 10, Resampling::kSystematic, random)) {
      ++counts[i];
    }
    EXPECT_TRUE(counts[0] == 3 || counts[0] == 4) << counts[0];
    EXPECT_EQ(counts[1], 0);
    EXPECT_EQ(counts[2], 5);
    EXPECT_TRUE(counts[3] == 1 || counts[3] == 2) << counts[3];
  }
}

TEST(ResampleTest, SystematicPositionsShareOneDraw) {
  RandomStream random = Stream(7), same = Stream(7);
  const double u = same.UniformDouble();
  // Positions (i + u) / 4 against bounds .3 and 1.
  std::vector<size_t> expected;
  for (int i = 0; i < 4; ++i) expected.push_back((i + u) / 4 < 0.3 ? 0 : 1);
  EXPECT_EQ(Resample({0.3, 0.7}, 4, Resampling::kSystematic, random), expected);
}

TEST(ResampleTest, MultinomialFollowsTheWeights) {
  RandomStream random = Stream(1);
  std::array<int, 3> counts{};
  constexpr int kDraws = 100000;
  for (const size_t i :
       Resample({0.2, 0.5, 0.3}, kDraws, Resampling::kMultinomial, random)) {
    ++counts[i];
  }
  // Five standard deviations of the widest.
  const double slack = 5 * std::sqrt(kDraws * 0.25);
  EXPECT_NEAR(counts[0], 0.2 * kDraws, slack);
  EXPECT_NEAR(counts[1], 0.5 * kDraws, slack);
  EXPECT_NEAR(counts[2], 0.3 * kDraws, slack);
}

TEST(ResampleTest, DistinctDrawsNeverRepeatAndStopWhereWeightsEnd) {
  int first_two = 0;
  constexpr int kTrials = 20000;
  for (uint64_t seed = 0; seed < kTrials; ++seed) {
    RandomStream random = Stream(seed);
    const auto drawn = DrawDistinct({0.5, 0.25, 0, 0.25}, 4, random);
    ASSERT_EQ(drawn.size(), 3u);
    EXPECT_NE(drawn[0], drawn[1]);
    EXPECT_NE(drawn[0], drawn[2]);
    EXPECT_NE(drawn[1], drawn[2]);
    first_two += drawn[0] == 0 && drawn[1] == 1;
  }
  // 1/2 * (1/4) / (1/2) = 1/4.
  EXPECT_NEAR(first_two, kTrials / 4.0, 5 * std::sqrt(kTrials * 3 / 16.0));
}

TEST(ResampleTest, DistinctDrawsComeInRounds) {
  // The second draw repeats the first: a second round excludes it.
  RecordedDraws draws{{0.1, 0.2, 0.9, 0.4}};
  RandomStream random(&draws);
  EXPECT_EQ(DrawDistinct({0.4, 0.3, 0.3}, 3, random),
            (std::vector<size_t>{0, 2, 1}));
  EXPECT_EQ(draws.next, 4u);
}

}  // namespace
}  // namespace espalier
