#include "base/random.h"

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace espalier {
namespace {

using Words4 = std::array<uint32_t, 4>;

// Known answers published with Random123 (kat_vectors, philox4x32 10).
TEST(RandomTest, PhiloxGivesThePublishedAnswers) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                       {0xffffffff, 0xffffffff}),
            (Words4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (Words4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Pearson's chi-square of `counts` against equal expected counts.
double ChiSquare(const std::vector<int>& counts) {
  double total = 0, sum = 0;
  for (const int c : counts) total += c;
  const double expected = total / counts.size();
  for (const int c : counts) sum += (c - expected) * (c - expected) / expected;
  return sum;
}

TEST(RandomTest, BelowIsUniform) {
  for (const uint32_t n : {2u, 3u, 7u, 10u, 100u}) {
    RandomStream rng(StreamKey(5, n, 0, Purpose::kTest));
    std::vector<int> counts(n, 0);
    for (int i = 0; i < 200000; ++i) {
      const uint32_t x = rng.Below(n);
      ASSERT_LT(x, n);
      ++counts[x];
    }
    // Mean n-1, variance 2(n-1): at most five deviations above the mean.
    EXPECT_LT(ChiSquare(counts), n - 1 + 5 * std::sqrt(2.0 * (n - 1)));
  }
}

// For n = 3 * 2^30 plain multiply-shift returns the first of every three
// results twice as often: half of the draws would be multiples of three.
TEST(RandomTest, BelowHasNoBiasForLargeRanges) {
  const uint32_t n = 3u << 30;
  RandomStream rng(StreamKey(6, 0, 0, Purpose::kTest));
  std::vector<int> counts(3, 0);
  for (int i = 0; i < 90000; ++i) ++counts[rng.Below(n) % 3];
  EXPECT_LT(ChiSquare(counts), 2 + 5 * 2);
}

TEST(RandomTest, RangeReachesBothEnds) {
  RandomStream rng(StreamKey(7, 0, 0, Purpose::kTest));
  std::set<int> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(rng.Range(-2, 3));
  EXPECT_EQ(seen, (std::set<int>{-2, -1, 0, 1, 2, 3}));
}

TEST(RandomTest, UniformHasTheRightMomentsAndBounds) {
  RandomStream rng(StreamKey(8, 0, 0, Purpose::kTest));
  const int n = 100000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double u = i % 2 ? rng.Uniform() : rng.UniformDouble();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
}

TEST(RandomTest, NormalHasTheRightMoments) {
  RandomStream rng(StreamKey(9, 0, 0, Purpose::kTest));
  const int n = 100000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double x = rng.Normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96.0 / n));
}

TEST(RandomTest, SameKeySameDraws) {
  const StreamKey key(1, 2, 3, Purpose::kSample, 4);
  RandomStream a(key), b(key);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(a.Next64(), b.Next64());
}

TEST(RandomTest, CopyGoesOnFromTheSamePlace) {
  RandomStream a(StreamKey(1, 2, 3, Purpose::kSample));
  a.Next32();
  RandomStream b = a;
  for (int i = 0; i < 10; ++i) ASSERT_EQ(a.Next32(), b.Next32());
}

TEST(RandomTest, EveryPartOfTheKeyChangesTheStream) {
  std::set<uint64_t> firsts;
  int keys = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    for (uint64_t problem = 0; problem < 5; ++problem) {
      for (uint64_t node = 0; node < 5; ++node) {
        for (uint32_t purpose = 1; purpose <= 5; ++purpose) {
          for (uint64_t index = 0; index < 5; ++index) {
            const StreamKey key(seed, problem, node,
                                static_cast<Purpose>(purpose), index);
            firsts.insert(RandomStream(key).Next64());
            ++keys;
          }
        }
      }
    }
  }
  EXPECT_EQ(static_cast<int>(firsts.size()), keys);
}

TEST(RandomTest, StreamsOfNeighbouringNodesAreUncorrelated) {
  const int n = 20000;
  double products = 0;
  for (int node = 0; node < n; ++node) {
    const auto first = [&](int at) {
      return RandomStream(StreamKey(1, 1, at, Purpose::kSample)).Uniform() -
             0.5;
    };
    products += first(node) * first(node + 1);
  }
  // A product of two independent uniforms has mean 0 and deviation 1/12.
  EXPECT_NEAR(products / n, 0, 5.0 / 12 / std::sqrt(n));
}

TEST(RandomTest, UniformAtIsTheSameInAnyOrder) {
  const StreamKey key(3, 1, 4, Purpose::kSample);
  std::vector<float> forward(100);
  for (int i = 0; i < 100; ++i) forward[i] = RandomStream::UniformAt(key, i);
  for (int i = 99; i >= 0; --i) {
    ASSERT_EQ(RandomStream::UniformAt(key, i), forward[i]);
  }
  EXPECT_EQ(std::set<float>(forward.begin(), forward.end()).size(), 100u);
}

TEST(RandomTest, UniformAtIsUniform) {
  const StreamKey key(3, 1, 5, Purpose::kSample);
  std::vector<int> counts(16, 0);
  for (int i = 0; i < 32000; ++i) {
    ++counts[static_cast<int>(RandomStream::UniformAt(key, i) * 16)];
  }
  EXPECT_LT(ChiSquare(counts), 15 + 5 * std::sqrt(30.0));
}

// FNV-1a's published hash of "a" is af63dc4c8601ec8c; the finaliser is that of
// splitmix64, whose first output for state 0 is e220a8397b1dcdaf.
TEST(RandomTest, HashesRestOnPublishedValues) {
  EXPECT_EQ(MixHash(0, 0), 0xe220a8397b1dcdafull);
  EXPECT_EQ(StableHash("a"),
            MixHash(0xaf63dc4c8601ec8cull - 0x9E3779B97F4A7C15ull, 0));
  EXPECT_NE(StableHash("ab"), StableHash("ba"));
  EXPECT_NE(MixHash(1, 2), MixHash(2, 1));
}

}  // namespace
}  // namespace espalier
