#include "models/sampling/top_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "hwy/targets.h"
#include "models/sampling/sampler.h"
#include "tests/models/schedule/backend_fixture.h"

namespace espalier {
namespace {

enum class Order { kRandom, kRising, kFalling, kEqual };

std::vector<float> Logits(size_t n, Order order) {
  RandomStream rng(StreamKey(n, 1, 0, Purpose::kTest));
  std::vector<float> logits(n);
  for (float& l : logits) l = static_cast<float>(4 * rng.Normal());
  if (order == Order::kRising) std::sort(logits.begin(), logits.end());
  if (order == Order::kFalling) std::sort(logits.rbegin(), logits.rend());
  if (order == Order::kEqual) logits.assign(n, 1.5f);
  return logits;
}

TEST(TopSumTest, IsThatOfASortWhateverTheOrder) {
  for (const size_t n : {1, 5, 63, 64, 65, 129, 1000, 4096}) {
    for (const size_t k : {1, 2, 20, 64, 1000}) {
      for (const Order order :
           {Order::kRandom, Order::kRising, Order::kFalling, Order::kEqual}) {
        const std::vector<float> logits = Logits(n, order);
        const size_t most = std::min(n, k);
        std::vector<float> sorted = logits;
        std::sort(sorted.begin(), sorted.end(), std::greater<float>());
        const double sum =
            std::accumulate(sorted.begin(), sorted.begin() + most, 0.0);
        EXPECT_NEAR(SumHighest(logits.data(), n, most), sum, 1e-9 * n)
            << n << " " << k;
      }
    }
  }
}

TEST(TopSumTest, BitsDoNotDependOnTheInstructionSet) {
  const std::vector<float> logits = Logits(3001, Order::kRandom);
  const double first = SumHighest(logits.data(), logits.size(), 20);
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_EQ(SumHighest(logits.data(), logits.size(), 20), first)
        << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(TopSumTest, ConfidenceIsThatOfTheModelWhateverTheSampler) {
  for (const size_t n : {3, 20, 500}) {
    const std::vector<float> logits = Logits(n, Order::kRandom);
    for (const int k : {1, 5, 20}) {
      const double expected = PlainConfidence(PlainLogprobs(logits), k);
      for (const SamplingOptions& options :
           {SamplingOptions{}, SamplingOptions{.temperature = 0},
            SamplingOptions{.temperature = 0.6f, .top_k = 4, .top_p = 0.9f},
            SamplingOptions{.repetition_penalty = 1.5f}}) {
        TokenDistribution d;
        const int32_t seen[] = {0, 2};
        ASSERT_TRUE(d.Assign(logits, options, seen).ok());
        EXPECT_NEAR(d.Confidence(k), expected, 1e-5) << n << " " << k;
      }
    }
  }
}

}  // namespace
}  // namespace espalier
