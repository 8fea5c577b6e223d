#include "models/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace espalier {
namespace {

using testing::HasSubstr;

// Applies repetition_penalty to logits (Hugging Face's
// RepetitionPenaltyLogitsProcessor: scores below zero are multiplied).
std::vector<float> Penalized(std::vector<float> logits,
                             const std::vector<int32_t>& seen, float penalty) {
  for (const int32_t token : seen) {
    logits[token] =
        logits[token] < 0 ? logits[token] * penalty : logits[token] / penalty;
  }
  return logits;
}

std::vector<float> RandomLogits(RandomStream& rng, int n) {
  std::vector<float> logits(n);
  for (float& l : logits) l = static_cast<float>(3 * rng.Normal());
  return logits;
}

// The probabilities after the options, by definition: long double and a full
// sort.
std::vector<long double> ByDefinition(const std::vector<float>& logits,
                                      const SamplingOptions& o) {
  const size_t n = logits.size();
  std::vector<long double> p(n);
  long double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += p[i] = std::exp(static_cast<long double>(logits[i]) / o.temperature);
  }
  for (auto& x : p) x /= sum;
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return p[a] > p[b]; });
  if (o.top_k > 0 && o.top_k < static_cast<int>(n)) order.resize(o.top_k);
  long double mass = 0;
  for (const int i : order) mass += p[i];
  long double running = 0;
  size_t keep = 0;
  while (keep < order.size() && (keep == 0 || running < o.top_p * mass)) {
    running += p[order[keep++]];
  }
  order.resize(keep);
  std::vector<long double> kept(n, 0);
  long double total = 0;
  for (const int i : order) {
    if (p[i] >= o.min_p * p[order[0]]) total += kept[i] = p[i];
  }
  for (auto& x : kept) x /= total;
  return kept;
}

TEST(SamplerTest, EveryDrawIsTheInverseOfTheCumulativeDistribution) {
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  const SamplingOptions cases[] = {
      {},
      {.temperature = 0.6f},
      {.temperature = 2},
      {.top_k = 7},
      {.top_p = 0.83f},
      {.min_p = 0.05f},
      {.temperature = 1.3f, .top_k = 20, .top_p = 0.9f, .min_p = 0.02f},
      {.top_k = 1},
      {.top_k = 1000},
  };
  int checked = 0;
  for (int round = 0; round < 100; ++round) {
    const auto logits = RandomLogits(rng, rng.Range(1, 60));
    for (const SamplingOptions& options : cases) {
      const auto p = ByDefinition(logits, options);
      for (int k = 0; k < 20; ++k) {
        const float u = rng.Uniform();
        long double sum = 0;
        size_t expected = 0;
        bool near_edge = false;
        for (size_t i = 0; i < p.size(); ++i) {
          sum += p[i];
          near_edge |= std::abs(sum - u) < 1e-9L;
          if (sum <= u) expected = i + 1;
        }
        if (near_edge) continue;
        const auto got = Sample(logits, options, u);
        ASSERT_TRUE(got.ok());
        ASSERT_EQ(got->token, static_cast<int>(expected));
        ASSERT_NEAR(got->sampler_logprob, std::log(p[expected]), 1e-5);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 17000);
}

TEST(SamplerTest, LogProbAndEntropyAreThoseOfTheModelWhateverTheFilters) {
  RandomStream rng(StreamKey(2, 0, 0, Purpose::kTest));
  for (int round = 0; round < 200; ++round) {
    const auto logits = RandomLogits(rng, 50);
    const auto p = ByDefinition(logits, {});
    long double entropy = 0;
    for (const auto x : p) entropy -= x * std::log(x);
    const auto got =
        Sample(logits, {.temperature = 0.5f, .top_k = 9}, rng.Uniform());
    EXPECT_NEAR(got->logprob, std::log(p[got->token]), 1e-5);
    EXPECT_NEAR(got->entropy, entropy, 1e-5);
  }
}

TEST(SamplerTest, ARepetitionPenaltyChangesTheDrawAndNotTheModelsLogProb) {
  RandomStream rng(StreamKey(4, 0, 0, Purpose::kTest));
  TokenDistribution d;
  int changed = 0;
  for (int round = 0; round < 300; ++round) {
    const auto logits = RandomLogits(rng, 40);
    std::vector<int32_t> seen;
    for (int32_t t = 0; t < 40; ++t) {
      if (rng.Below(3) == 0) seen.push_back(t);
    }
    const float penalty = rng.Below(2) == 0 ? 1.3f : 0.8f;
    SamplingOptions options{.temperature = 0.7f, .top_k = 12};
    if (round % 3 == 0) options = {.temperature = 0};
    const auto p = ByDefinition(logits, {});
    options.repetition_penalty = penalty;
    ASSERT_TRUE(d.Assign(logits, options, seen).ok());
    SamplingOptions plain = options;
    plain.repetition_penalty = 1;
    const float u = rng.Uniform();
    const Sampled got = d.Draw(u);
    const auto expected = Sample(Penalized(logits, seen, penalty), plain, u);
    ASSERT_EQ(got.token, expected->token);
    ASSERT_NEAR(got.sampler_logprob, expected->sampler_logprob, 1e-6);
    ASSERT_NEAR(got.logprob, std::log(p[got.token]), 1e-5);
    changed += got.token != Sample(logits, plain, u)->token;
  }
  EXPECT_GT(changed, 20);
}

// Realistic vocabulary sizes, against sums and sorts in long double.
TEST(SamplerTest, LargeVocabulariesFollowTheirDefinition) {
  RandomStream rng(StreamKey(5, 0, 0, Purpose::kTest));
  const SamplingOptions cases[] = {{},
                                   {.temperature = 0.6f},
                                   {.top_k = 50},
                                   {.top_k = 3000},
                                   {.top_p = 0.95f},
                                   {.temperature = 3, .top_p = 0.9999f},
                                   {.top_k = 500, .top_p = 0.8f},
                                   {.min_p = 0.01f}};
  TokenDistribution d;
  for (const int n : {255, 256, 257, 4097, 16384}) {
    auto logits = RandomLogits(rng, n);
    // Ties, as quantised weights cause them.
    for (float& l : logits) l = std::round(l * 64) / 64;
    for (const SamplingOptions& options : cases) {
      const auto p = ByDefinition(logits, options);
      ASSERT_TRUE(d.Assign(logits, options).ok());
      for (int k = 0; k < 40; ++k) {
        const float u = rng.Uniform();
        const Sampled got = d.Draw(u);
        // u lies in the token's interval, up to rounding.
        long double below = 0;
        for (int i = 0; i < got.token; ++i) below += p[i];
        ASSERT_GT(p[got.token], 0);
        ASSERT_GT(u, below - 2e-6L);
        ASSERT_LT(u, below + p[got.token] + 2e-6L);
        ASSERT_NEAR(got.sampler_logprob, std::log(p[got.token]), 1e-5);
      }
    }
  }
}

TEST(SamplerTest, AlternativesAreTheTopTokensInOrder) {
  RandomStream rng(StreamKey(6, 0, 0, Purpose::kTest));
  for (const int n : {3, 1000}) {
    auto logits = RandomLogits(rng, n);
    for (float& l : logits) l = std::round(l * 8) / 8;
    const auto p = ByDefinition(logits, {});
    std::vector<int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return logits[a] > logits[b]; });
    TokenDistribution d;
    ASSERT_TRUE(d.Assign(logits, {.top_k = 2}).ok());
    const auto best = d.Alternatives(20);
    ASSERT_EQ(best.size(), static_cast<size_t>(std::min(n, 20)));
    for (size_t i = 0; i < best.size(); ++i) {
      EXPECT_EQ(best[i].token, order[i]);
      EXPECT_NEAR(best[i].logprob, std::log(p[order[i]]), 1e-5);
    }
    EXPECT_TRUE(d.Alternatives(0).empty());
  }
}

TEST(SamplerTest, FrequenciesPassChiSquare) {
  const std::vector<float> logits = {0, 1, -1, 0.5f, 2, -3, 0, 1.5f};
  const auto p = ByDefinition(logits, {});
  std::vector<int> seen(8);
  constexpr int kDraws = 200000;
  const StreamKey key(3, 0, 0, Purpose::kTest);
  for (int i = 0; i < kDraws; ++i) {
    ++seen[Sample(logits, {}, RandomStream::UniformAt(key, i))->token];
  }
  double chi = 0;
  for (int i = 0; i < 8; ++i) {
    const double expected = kDraws * static_cast<double>(p[i]);
    chi += (seen[i] - expected) * (seen[i] - expected) / expected;
  }
  EXPECT_LT(chi, 24.3);  // 7 degrees of freedom, p = .001
}

TEST(SamplerTest, TemperatureZeroTakesTheLargestAndOfEqualsTheLowestId) {
  const std::vector<float> logits = {1, 5, 5, -2};
  for (const float u : {0.f, 0.5f, 0.999999f}) {
    EXPECT_EQ(Sample(logits, {.temperature = 0}, u)->token, 1);
    EXPECT_EQ(Sample(logits, {.top_k = 1}, u)->token, 1);
    EXPECT_EQ(Sample(logits, {.temperature = 1e-30f}, u)->token,
              u < 0.5f ? 1 : 2);
  }
}

TEST(SamplerTest, ExtremesStayInRange) {
  const std::vector<float> huge = {3e38f, -3e38f, 3e38f};
  EXPECT_EQ(Sample(huge, {}, 0)->token, 0);
  EXPECT_EQ(Sample(huge, {}, 0.99999994f)->token, 2);
  EXPECT_NEAR(Sample(huge, {}, 0)->entropy, std::log(2.0), 1e-6);
  EXPECT_EQ(Sample({7.f}, {}, 0.3f)->token, 0);
  EXPECT_EQ(Sample({7.f}, {}, 0.3f)->logprob, 0);
  EXPECT_EQ(Sample({1.f, 2.f}, {.top_p = 1e-6f}, 0.9f)->token, 1);
  EXPECT_EQ(Sample({1.f, 2.f}, {.min_p = 1}, 0.1f)->token, 1);
}

TEST(SamplerTest, NumbersThatAreNotFiniteAreReported) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const float bad : {inf, -inf, std::nanf("")}) {
    const auto got = Sample({0.f, bad, 1.f}, {}, 0.5f);
    EXPECT_EQ(got.status().code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(got.status().message()), HasSubstr("token 1"));
  }
  EXPECT_FALSE(Sample({}, {}, 0.5f).ok());
}

TEST(SamplerTest, OptionsThatMakeNoSenseAreNamed) {
  const auto error = [](const SamplingOptions& o) {
    return std::string(CheckSamplingOptions(o).message());
  };
  EXPECT_THAT(error({.temperature = -1}), HasSubstr("temperature"));
  EXPECT_THAT(error({.temperature = std::nanf("")}), HasSubstr("temperature"));
  EXPECT_THAT(error({.top_k = -3}), HasSubstr("top_k"));
  EXPECT_THAT(error({.top_p = 0}), HasSubstr("top_p"));
  EXPECT_THAT(error({.min_p = 2}), HasSubstr("min_p"));
  for (const float penalty : {0.f, -1.f, std::nanf("")}) {
    EXPECT_THAT(error({.repetition_penalty = penalty}),
                HasSubstr("repetition_penalty"));
  }
  EXPECT_TRUE(CheckSamplingOptions({}).ok());
}

}  // namespace
}  // namespace espalier
