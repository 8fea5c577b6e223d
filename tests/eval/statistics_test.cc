#include "src/eval/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace espalier {
namespace {

// Values of R's prop.test(k, n, correct = FALSE).
TEST(WilsonIntervalTest, MatchesPublishedValues) {
  const Interval a = WilsonInterval(8, 10);
  EXPECT_NEAR(a.low, 0.4901625, 1e-6);
  EXPECT_NEAR(a.high, 0.9433178, 1e-6);
  const Interval b = WilsonInterval(0, 20);
  EXPECT_NEAR(b.low, 0, 1e-12);
  EXPECT_NEAR(b.high, 0.1611252, 1e-6);
  EXPECT_EQ(WilsonInterval(0, 0).high, 1);
}

TEST(ShareIntervalTest, SeedsOfAProblemAreNoFurtherProblems) {
  // With one seed, or seeds that agree: Wilson's interval over the problems.
  const std::vector<double> whole = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0};
  EXPECT_NEAR(ShareInterval(whole).low, 0.4901625, 1e-6);
  EXPECT_NEAR(ShareInterval(whole).high, 0.9433178, 1e-6);
  // A share of one half on each of few problems is no certainty.
  EXPECT_LT(ShareInterval({0.5, 0.5, 0.5}).low, 0.2);
  EXPECT_GT(ShareInterval({0.5, 0.5, 0.5}).high, 0.8);
  std::vector<double> thirds;
  for (int i = 0; i < 300; ++i)
    thirds.push_back(i % 2 == 0 ? 1. / 3 : i % 4 / 3.);
  double mean = 0, square = 0;
  for (const double share : thirds) {
    mean += share / 300;
    square += share * share / 300;
  }
  const double spread = 1.96 * std::sqrt((square - mean * mean) / 300);
  EXPECT_NEAR(ShareInterval(thirds).low, mean - spread, 0.005);
  EXPECT_NEAR(ShareInterval(thirds).high, mean + spread, 0.005);
  EXPECT_EQ(ShareInterval({}).low, 0);
  EXPECT_EQ(ShareInterval({}).high, 1);
}

TEST(ComparePairedTest, IntervalCoversTheNormalApproximation) {
  std::vector<double> a, b;
  for (int i = 0; i < 1000; ++i) {
    a.push_back(i % 10 < 6);
    b.push_back(i % 10 < 5);
  }
  const PairedDifference d = ComparePaired(a, b, 1);
  EXPECT_NEAR(d.mean, 0.1, 1e-12);
  // The difference is 1 in a tenth of the cases: sd = sqrt(.09 / 1000).
  EXPECT_NEAR(d.interval.low, 0.1 - 1.96 * std::sqrt(0.09 / 1000), 0.004);
  EXPECT_NEAR(d.interval.high, 0.1 + 1.96 * std::sqrt(0.09 / 1000), 0.004);
}

TEST(BootstrapMeanTest, IntervalCoversTheNormalApproximation) {
  std::vector<double> values;
  for (int i = 0; i < 900; ++i) values.push_back(i % 3 * 0.5);
  const MeanWithInterval m = BootstrapMean(values, 1);
  EXPECT_NEAR(m.mean, 0.5, 1e-12);
  // 0, .5 and 1 in equal parts: a variance of 1/6.
  EXPECT_NEAR(m.interval.low, 0.5 - 1.96 * std::sqrt(1.0 / 6 / 900), 0.004);
  EXPECT_NEAR(m.interval.high, 0.5 + 1.96 * std::sqrt(1.0 / 6 / 900), 0.004);
  const MeanWithInterval equal = BootstrapMean({0.25, 0.25}, 1);
  EXPECT_DOUBLE_EQ(equal.interval.low, 0.25);
  EXPECT_DOUBLE_EQ(equal.interval.high, 0.25);
}

TEST(AreaUnderCurveTest, CountsPairsWithTiesAsHalf) {
  // By hand: pairs (.9,.5) (.9,.2) (.5,.5)=half (.5,.2): 3.5 of 4.
  EXPECT_DOUBLE_EQ(
      AreaUnderCurve({{0.9, true}, {0.5, true}, {0.5, false}, {0.2, false}}),
      3.5 / 4);
  EXPECT_TRUE(std::isnan(AreaUnderCurve({{0.9, true}})));
  EXPECT_DOUBLE_EQ(
      AreaUnderCurve({{0.9, true}, {std::nan(""), true}, {0.5, false}}), 1);
}

}  // namespace
}  // namespace espalier
