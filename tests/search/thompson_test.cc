#include "search/bandit/thompson.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace espalier {
namespace {

RewardStats Seen(const std::vector<double>& rewards) {
  RewardStats seen;
  for (const double r : rewards) seen.Add(r);
  return seen;
}

TEST(ThompsonTest, GaussianPosteriorMatchesNumbersByHand) {
  // Rewards .2 .4 .9: n 3, mean .5, squares .09 + .01 + .16 = .26.
  // kappa 4, nu 4, m 3 * .5 / 4 = .375,
  // tau2 (.1 + .26 + 3 * 1 * .25 / 4) / 4 = .5475 / 4 = .136875.
  const GaussianBelief now =
      Posterior(GaussianBelief{0, 1, 1, 0.1}, Seen({0.2, 0.4, 0.9}));
  EXPECT_DOUBLE_EQ(now.kappa, 4);
  EXPECT_DOUBLE_EQ(now.nu, 4);
  EXPECT_NEAR(now.m, 0.375, 1e-12);
  EXPECT_NEAR(now.tau2, 0.136875, 1e-12);
}

TEST(ThompsonTest, GaussianPosteriorIsTheSameRewardByReward) {
  // The update with one reward, applied repeatedly.
  GaussianBelief one{0.3, 2, 3, 0.05};
  RandomStream random(StreamKey(1, 0, 0, Purpose::kTest));
  RewardStats seen;
  for (int i = 0; i < 50; ++i) {
    const double r = random.UniformDouble();
    const double off = r - one.m;
    const double scale =
        one.nu * one.tau2 + one.kappa * off * off / (one.kappa + 1);
    one.m = (one.kappa * one.m + r) / (one.kappa + 1);
    one.kappa += 1;
    one.nu += 1;
    one.tau2 = scale / one.nu;
    seen.Add(r);
    const GaussianBelief all = Posterior(GaussianBelief{0.3, 2, 3, 0.05}, seen);
    EXPECT_NEAR(all.m, one.m, 1e-12);
    EXPECT_NEAR(all.tau2, one.tau2, 1e-12);
    EXPECT_DOUBLE_EQ(all.kappa, one.kappa);
    EXPECT_DOUBLE_EQ(all.nu, one.nu);
  }
}

TEST(ThompsonTest, BetaPosteriorCountsRewardsAsSuccesses) {
  const BetaBelief now = Posterior(BetaBelief{0.5, 0.5}, Seen({0.2, 0.4, 0.9}));
  EXPECT_NEAR(now.a, 2, 1e-12);  // .5 + 1.5
  EXPECT_NEAR(now.b, 2, 1e-12);  // .5 + 1.5
  const BetaBelief none = Posterior(BetaBelief{0.5, 0.5}, Seen({}));
  EXPECT_DOUBLE_EQ(none.a, 0.5);
  EXPECT_DOUBLE_EQ(none.b, 0.5);
}

struct Moments {
  double mean = 0, variance = 0;
};
Moments DrawMoments(const ThompsonPrior& prior, const RewardStats& seen) {
  RandomStream random(StreamKey(2, 0, 0, Purpose::kTest));
  constexpr int kDraws = 400000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = prior.Draw(seen, random);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  return {mean, squares / kDraws - mean * mean};
}

TEST(ThompsonTest, DrawsHaveTheMeanAndVarianceOfThePosterior) {
  const RewardStats seen = Seen({0.1, 0.5, 0.6, 0.7, 0.4, 0.9, 0.3, 0.8});
  const Moments gaussian = DrawMoments({}, seen);
  const GaussianBelief g = Posterior(GaussianBelief{0, 1, 1, 0.1}, seen);
  const double variance = g.tau2 / g.kappa * g.nu / (g.nu - 2);
  EXPECT_NEAR(gaussian.mean, g.m, 5 * std::sqrt(variance / 400000));
  EXPECT_NEAR(gaussian.variance / variance, 1, 0.02);

  const Moments beta = DrawMoments({.kind = PriorKind::kBeta}, seen);
  const BetaBelief b = Posterior(BetaBelief{0.5, 0.5}, seen);
  const double n = b.a + b.b;
  EXPECT_NEAR(beta.mean, b.a / n, 0.001);
  EXPECT_NEAR(beta.variance / (b.a * b.b / (n * n * (n + 1))), 1, 0.02);
}

TEST(ThompsonTest, StatisticsOfManyEqualRewardsHaveNoSpread) {
  RewardStats seen;
  for (int i = 0; i < 1000; ++i) seen.Add(0.3);
  EXPECT_DOUBLE_EQ(seen.mean, 0.3);
  EXPECT_NEAR(seen.squares, 0, 1e-20);
}

}  // namespace
}  // namespace espalier
