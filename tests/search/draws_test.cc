#include "search/bandit/draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

namespace espalier {
namespace {

constexpr int kDraws = 200000;

std::vector<double> Sorted(uint64_t seed,
                           const std::function<double(RandomStream&)>& draw) {
  RandomStream random(StreamKey(seed, 0, 0, Purpose::kTest));
  std::vector<double> draws(kDraws);
  for (double& x : draws) x = draw(random);
  std::sort(draws.begin(), draws.end());
  return draws;
}

double Mean(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

double Variance(const std::vector<double>& x) {
  const double mean = Mean(x);
  double sum = 0;
  for (const double v : x) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(x.size());
}

// The largest distance between the empirical distribution and `cdf`.
double Distance(const std::vector<double>& sorted,
                const std::function<double(double)>& cdf) {
  double most = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const double share =
        static_cast<double>(i + 1) / static_cast<double>(sorted.size());
    most = std::max(most, std::abs(share - cdf(sorted[i])));
  }
  return most;
}

// Kolmogorov-Smirnov: exceeded about once in 10^5 by the true distribution.
const double kFar = 2.5 / std::sqrt(kDraws);

TEST(DrawsTest, GammaDrawsHaveTheMomentsOfTheirShape) {
  for (const double shape : {0.3, 0.5, 1.0, 2.5, 40.0}) {
    const auto x =
        Sorted(1, [&](RandomStream& r) { return DrawGamma(shape, r); });
    const double error = std::sqrt(shape / kDraws);
    EXPECT_NEAR(Mean(x), shape, 5 * error) << shape;
    EXPECT_NEAR(Variance(x) / shape, 1, 0.04) << shape;
    EXPECT_GE(x.front(), 0);
  }
}

TEST(DrawsTest, GammaDrawsFollowTheClosedFormsOfShapesHalfOneAndTwo) {
  EXPECT_LT(Distance(Sorted(2, [](RandomStream& r) { return DrawGamma(1, r); }),
                     [](double x) { return 1 - std::exp(-x); }),
            kFar);
  EXPECT_LT(Distance(Sorted(3, [](RandomStream& r) { return DrawGamma(2, r); }),
                     [](double x) { return 1 - (1 + x) * std::exp(-x); }),
            kFar);
  EXPECT_LT(
      Distance(Sorted(4, [](RandomStream& r) { return DrawGamma(0.5, r); }),
               [](double x) { return std::erf(std::sqrt(x)); }),
      kFar);
}

TEST(DrawsTest, BetaDrawsFollowTheClosedFormsOfJeffreysAndOfPowers) {
  EXPECT_LT(
      Distance(Sorted(5, [](RandomStream& r) { return DrawBeta(0.5, 0.5, r); }),
               [](double x) {
                 return 2 / std::numbers::pi * std::asin(std::sqrt(x));
               }),
      kFar);
  EXPECT_LT(
      Distance(Sorted(6, [](RandomStream& r) { return DrawBeta(3, 1, r); }),
               [](double x) { return x * x * x; }),
      kFar);
}

TEST(DrawsTest, BetaDrawsOfTinyShapesStayInTheUnitInterval) {
  const auto x =
      Sorted(7, [](RandomStream& r) { return DrawBeta(1e-3, 3e-3, r); });
  EXPECT_GE(x.front(), 0);
  EXPECT_LE(x.back(), 1);
  EXPECT_NEAR(Mean(x), 0.25, 0.01);
}

TEST(DrawsTest, StudentDrawsFollowTheClosedFormsOfOneAndTwoDegrees) {
  EXPECT_LT(
      Distance(Sorted(8, [](RandomStream& r) { return DrawStudentT(1, r); }),
               [](double x) { return 0.5 + std::atan(x) / std::numbers::pi; }),
      kFar);
  EXPECT_LT(
      Distance(Sorted(9, [](RandomStream& r) { return DrawStudentT(2, r); }),
               [](double x) { return 0.5 + x / (2 * std::sqrt(2 + x * x)); }),
      kFar);
}

TEST(DrawsTest, StudentDrawsAreNormalsOverTheRootOfAScaledChiSquare) {
  for (const double nu : {3.0, 7.5, 100.0}) {
    const auto polar =
        Sorted(10, [&](RandomStream& r) { return DrawStudentT(nu, r); });
    const auto plain = Sorted(11, [&](RandomStream& r) {
      const double chi2 = 2 * DrawGamma(nu / 2, r);
      return r.Normal() / std::sqrt(chi2 / nu);
    });
    EXPECT_LT(Distance(polar,
                       [&](double x) {
                         const auto at =
                             std::upper_bound(plain.begin(), plain.end(), x);
                         return static_cast<double>(at - plain.begin()) /
                                kDraws;
                       }),
              1.5 * kFar)
        << nu;
  }
}

}  // namespace
}  // namespace espalier
