#include "models/kernels/int4.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace espalier {
namespace {

std::vector<float> Draw(size_t n, uint64_t seed) {
  RandomStream rng(StreamKey(seed, 0, 0, Purpose::kTest));
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(rng.Normal());
  return values;
}

double Error(const float* x, size_t n, double step) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const double q = std::clamp(std::nearbyint(x[i] / step), -8.0, 7.0);
    sum += (x[i] - q * step) * (x[i] - q * step);
  }
  return sum;
}

TEST(Int4Test, EveryGroupsMultiplierIsNearlyTheBestOfAll) {
  double all_found = 0, all_best = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    auto row = Draw(3 * 64 + 20, seed);
    // Groups of different magnitude, as in trained matrices.
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] *= static_cast<float>(1 + (i / 64 + seed) % 4);
    }
    Int4Row out;
    QuantizeInt4(row.data(), static_cast<int>(row.size()), out);
    ASSERT_EQ(out.multipliers.size(), 4u);
    ASSERT_EQ(out.numbers.size(), row.size());
    for (size_t g = 0; g < 4; ++g) {
      const size_t n = std::min<size_t>(64, row.size() - 64 * g);
      double best = std::numeric_limits<double>::infinity();
      for (int m = 1; m <= 15; ++m) {
        best = std::min(best, Error(&row[64 * g], n, m * out.scale));
      }
      double found = 0;
      for (size_t i = 64 * g; i < 64 * g + n; ++i) {
        ASSERT_GE(out.numbers[i], -8);
        ASSERT_LE(out.numbers[i], 7);
        const double off = row[i] - out.product(i) * out.scale;
        found += off * off;
      }
      ASSERT_LE(found, best * 1.25) << "seed " << seed << " group " << g;
      all_found += found;
      all_best += best;
    }
  }
  EXPECT_LE(all_found, all_best * 1.01);
}

TEST(Int4Test, ZerosStayZerosAndOneNumberIsKept) {
  Int4Row out;
  std::vector<float> row(100, 0.0f);
  QuantizeInt4(row.data(), 100, out);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(out.product(i), 0);
  row[70] = -3;
  QuantizeInt4(row.data(), 100, out);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_NEAR(out.scale * static_cast<float>(out.product(i)), row[i], 1e-5);
  }
}

}  // namespace
}  // namespace espalier
