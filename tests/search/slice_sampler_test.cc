#include "search/bandit/slice_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace espalier {
namespace {

// The largest distance between a chain's draws and `cdf`.
double Distance(double start, double width, double low,
                const std::function<double(double)>& log_density,
                const std::function<double(double)>& cdf) {
  RandomStream random(StreamKey(1, 0, 0, Purpose::kTest));
  std::vector<double> x(200000);
  double at = start;
  for (double& v : x) v = at = SliceStep(at, width, low, log_density, random);
  std::sort(x.begin(), x.end());
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(x.size());
    most = std::max(most, std::abs(share - cdf(x[i])));
  }
  return most;
}

TEST(SliceSamplerTest, LeavesAHalfNormalInPlaceWhateverTheWidth) {
  for (const double width : {0.05, 0.3, 5.0}) {
    EXPECT_LT(Distance(
                  0.2, width, 0, [](double x) { return -0.5 * x * x; },
                  [](double x) { return std::erf(x / std::sqrt(2)); }),
              0.02)
        << width;
  }
}

TEST(SliceSamplerTest, FindsANarrowPeakAtItsBoundFromFarAway) {
  // Exponential with mean .001, above .5.
  EXPECT_LT(Distance(
                0.52, 1, 0.5, [](double x) { return -1000 * (x - 0.5); },
                [](double x) { return 1 - std::exp(-1000 * (x - 0.5)); }),
            0.02);
}

TEST(SliceSamplerTest, CrossesBetweenTwoPeaks) {
  // Two equal normals with deviation .5 at 1 and 4, truncated at 0.
  const auto normal = [](double x, double m) {
    return std::exp(-2 * (x - m) * (x - m));
  };
  const auto below = [](double x, double m) {
    return 0.5 * (1 + std::erf((x - m) * std::sqrt(2)));
  };
  const double cut = below(0, 1) + below(0, 4);
  EXPECT_LT(Distance(
                1, 3, 0,
                [&](double x) { return std::log(normal(x, 1) + normal(x, 4)); },
                [&](double x) {
                  return (below(x, 1) + below(x, 4) - cut) / (2 - cut);
                }),
            0.02);
}

}  // namespace
}  // namespace espalier
