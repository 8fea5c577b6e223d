#include "models/sampling/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "hwy/targets.h"

namespace espalier {
namespace {

std::vector<float> RandomLogits(size_t n, double scale) {
  RandomStream rng(StreamKey(n, 0, 0, Purpose::kTest));
  std::vector<float> logits(n);
  for (float& l : logits) l = static_cast<float>(scale * rng.Normal());
  return logits;
}

struct Weights {
  std::vector<float> weights;
  std::vector<double> sums;
  SoftmaxSums total;
};

Weights Compute(const std::vector<float>& logits, float temperature) {
  const size_t n = logits.size();
  Weights out{std::vector<float>(PaddedWeights(n)),
              std::vector<double>(WeightBlocks(n)),
              {}};
  size_t at = 0;
  const float highest = HighestLogit(logits.data(), n, &at);
  out.total = ExpWeights(logits.data(), n, highest, temperature, true,
                         out.weights.data(), out.sums.data());
  return out;
}

TEST(SoftmaxTest, WeightsAndSumsAreThoseOfExp) {
  for (const size_t n : {1, 15, 16, 17, 256, 300, 5000}) {
    for (const float t : {1.0f, 0.3f, 2.5f}) {
      const auto logits = RandomLogits(n, 4);
      const Weights got = Compute(logits, t);
      size_t at = 0;
      const double top = HighestLogit(logits.data(), n, &at);
      EXPECT_EQ(logits[at], top);
      double exps = 0, weighted = 0, sum = 0, all = 0;
      for (size_t i = 0; i < n; ++i) {
        const double x = logits[i] - top;
        exps += std::exp(x);
        weighted += x * std::exp(x);
        const double w = std::exp(x / t);
        sum += w;
        // The rounding error of the exponent is relative to it.
        const double error = 3e-7 * (1 - x / t);
        EXPECT_NEAR(got.weights[i], w, error * w + 2e-38);
      }
      for (const double block : got.sums) all += block;
      EXPECT_NEAR(all, sum, 2e-6 * sum);
      EXPECT_NEAR(got.total.exps, exps, 2e-6 * exps);
      EXPECT_NEAR(got.total.weighted, weighted, 1e-5 * exps);
      for (size_t i = n; i < PaddedWeights(n); ++i) {
        EXPECT_EQ(got.weights[i], 0);
      }
    }
  }
}

// The same samples on every machine.
TEST(SoftmaxTest, BitsDoNotDependOnTheInstructionSet) {
  const auto logits = RandomLogits(3000, 5);
  const Weights first = Compute(logits, 0.7f);
  int paths = 0;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    const Weights other = Compute(logits, 0.7f);
    EXPECT_EQ(other.weights, first.weights) << hwy::TargetName(target);
    EXPECT_EQ(other.sums, first.sums) << hwy::TargetName(target);
    EXPECT_EQ(other.total.exps, first.total.exps);
    EXPECT_EQ(other.total.weighted, first.total.weighted);
    ++paths;
  }
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_GE(paths, 1);
}

TEST(SoftmaxTest, ALogitThatIsNoNumberIsFoundWhereverItStands) {
  for (size_t n : {1, 7, 64, 1000}) {
    for (size_t i = 0; i < n; i += n / 7 + 1) {
      for (const float bad : {INFINITY, -INFINITY, NAN}) {
        auto logits = RandomLogits(n, 1);
        logits[i] = bad;
        size_t at = 0;
        const float highest = HighestLogit(logits.data(), n, &at);
        EXPECT_NE(highest, highest);
      }
    }
  }
}

}  // namespace
}  // namespace espalier
