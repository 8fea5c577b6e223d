// Every network on every kernel path against PlainNetwork, which shares no code
// with it, and every way of computing a row against the others.
#include "models/trunk/trunk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "models/kernels/choose_kernels.h"
#include "models/kernels/kernel_path.h"
#include "models/pages/page_pool.h"
#include "tests/models/testing/hf_layout.h"
#include "tests/models/testing/plain_network.h"
#include "tests/models/testing/random_checkpoint.h"
#include "tests/models/testing/trunk_driver.h"

namespace espalier {
namespace {

struct Kernels {
  std::string name;
  TrunkOptions options;
  // Of outputs, relative to the largest magnitude in a row. None for 4-bit
  // weights: they change networks with few random weights beyond comparison.
  // Their products are tested separately, and WeightQualityTest covers a
  // trained network.
  std::optional<double> tolerance;
};

std::vector<Kernels> EveryKernels() {
  std::vector<Kernels> out = {
      {"fp32", {.weights = WeightChoice::kFp32, .kernels = "plain"}, 1e-5},
      {"plain bf16",
       {.weights = WeightChoice::kBf16, .kernels = "plain"},
       1e-5},
      {"plain int8",
       {.weights = WeightChoice::kInt8, .kernels = "plain"},
       0.06},
      {"plain int4",
       {.weights = WeightChoice::kInt4, .kernels = "plain"},
       std::nullopt}};
  for (const KernelPath* path : KernelPaths()) {
    const std::string name = path->name();
    if (name == "plain") continue;
    out.push_back({name + " bf16",
                   {.weights = WeightChoice::kBf16, .kernels = name},
                   0.04});
    out.push_back({name + " int8",
                   {.weights = WeightChoice::kInt8, .kernels = name},
                   0.15});
    out.push_back({name + " int4",
                   {.weights = WeightChoice::kInt4, .kernels = name},
                   std::nullopt});
  }
  return out;
}

TEST(TrunkTest, EveryNetworkEqualsThePlainOne) {
  uint64_t seed = 100;
  for (const NamedConfig& network : EveryNetwork()) {
    const std::string folder = WriteRandom(network.config, ++seed);
    const PlainNetwork plain(folder);
    const auto tokens = DrawTokens(100, network.config.vocab_size, seed);
    const auto expected = plain.Hidden(tokens);
    for (const Kernels& kernels : EveryKernels()) {
      if (!kernels.tolerance.has_value()) continue;
      // Rounded numbers may choose other experts, and then all differs.
      const TrunkConfig& c = network.config;
      if (c.chosen_experts<c.experts&& * kernels.tolerance> 1e-4) continue;
      SCOPED_TRACE(network.name + " " + kernels.name);
      const auto trunk = LoadOrDie(folder, kernels.options);
      // The norm of a small output amplifies the rounding of weights.
      const double amplified =
          c.norms_after && *kernels.tolerance > 1e-4 ? 2 : 1;
      ExpectEqualsPlain(*trunk, plain, tokens, expected,
                        amplified * *kernels.tolerance);
    }
  }
}

TEST(TrunkTest, ChunksAndSingleTokensGiveTheSameBits) {
  for (const NamedConfig& network : EveryNetwork()) {
    const std::string folder = WriteRandom(network.config, 7);
    const int n = std::min(150, network.config.context_length);
    const auto tokens = DrawTokens(n, network.config.vocab_size, 8);
    for (const Kernels& kernels : EveryKernels()) {
      SCOPED_TRACE(network.name + " " + kernels.name);
      const auto trunk = LoadOrDie(folder, kernels.options);
      const auto whole = AllHidden(*trunk, tokens, n);
      for (const int chunk : {1, 7, 64, 100}) {
        ASSERT_EQ(AllHidden(*trunk, tokens, chunk, chunk % 2 + 1), whole)
            << chunk;
      }
    }
  }
}

class RowBitsTest : public testing::TestWithParam<std::string> {
 protected:
  // The network of the parameter's name.
  static TrunkConfig Config() {
    for (const NamedConfig& network : EveryNetwork()) {
      if (network.name == GetParam()) return network.config;
    }
    ADD_FAILURE() << "no such network";
    return TinyConfig();
  }
};
INSTANTIATE_TEST_SUITE_P(Networks, RowBitsTest,
                         testing::Values("LlamaWithRewardHead", "GraniteBiased",
                                         "Olmo3", "Gemma2", "Qwen3Moe",
                                         "Mixtral"),
                         [](const auto& info) { return info.param; });

TEST_P(RowBitsTest, ARowAloneAndInAnyBatchHasTheSameBits) {
  const TrunkConfig config = Config();
  const std::string folder = WriteRandom(config, 9);
  for (const Kernels& kernels : EveryKernels()) {
    SCOPED_TRACE(kernels.name);
    const auto trunk = LoadOrDie(folder, kernels.options);
    RandomStream rng(StreamKey(10, 0, 0, Purpose::kTest));
    const int batches = GetParam() == "LlamaWithRewardHead" ? 64 : 24;
    for (int batch = 0; batch < batches; ++batch) {
      const int count = rng.Range(1, 40);
      const size_t d = static_cast<size_t>(config.hidden_size);
      std::vector<std::vector<int32_t>> texts;
      std::vector<std::vector<PageId>> tables;
      std::vector<Segment> segments;
      TestPages pages(*trunk);
      std::vector<float> hidden(static_cast<size_t>(count) * d);
      for (int i = 0; i < count; ++i) {
        texts.push_back(DrawTokens(rng.Range(1, 90), config.vocab_size,
                                   static_cast<uint64_t>(batch * 100 + i)));
        tables.push_back(pages.Allocate(static_cast<int>(texts.back().size())));
      }
      for (size_t i = 0; i < texts.size(); ++i) {
        segments.push_back({.pages = tables[i],
                            .tokens = texts[i],
                            .last_hidden = hidden.data() + i * d});
      }
      Executor executor(batch % 2 + 1);
      trunk->Forward(segments, *pages.memory, executor);
      const size_t i = static_cast<size_t>(rng.Range(0, count - 1));
      const auto alone = Hidden(*trunk, texts[i], 1000);
      ASSERT_TRUE(
          std::equal(alone.begin(), alone.end(), hidden.begin() + i * d));
    }
  }
}

TEST(TrunkTest, LogitsOfARowDoNotDependOnItsCompany) {
  const std::string folder = WriteRandom(TinyConfig(), 21);
  for (const Kernels& kernels : EveryKernels()) {
    SCOPED_TRACE(kernels.name);
    const auto trunk = LoadOrDie(folder, kernels.options);
    const size_t d = static_cast<size_t>(trunk->config().hidden_size);
    const size_t v = static_cast<size_t>(trunk->config().vocab_size);
    RandomStream rng(StreamKey(22, 0, 0, Purpose::kTest));
    std::vector<float> hidden(70 * d);
    for (float& x : hidden) x = static_cast<float>(rng.Normal());
    std::vector<float> all(70 * v), one(v);
    Executor two(2), single(1);
    trunk->Logits(hidden.data(), 70, all.data(), two);
    for (const size_t r : {0, 16, 33, 69}) {
      trunk->Logits(hidden.data() + r * d, 1, one.data(), single);
      ASSERT_TRUE(std::equal(one.begin(), one.end(), all.begin() + r * v));
    }
  }
}

TEST(TrunkTest, AForkThatSharesPagesEqualsACopy) {
  const TrunkConfig config = TinyConfig();
  const std::string folder = WriteRandom(config, 11);
  for (const Kernels& kernels : EveryKernels()) {
    SCOPED_TRACE(kernels.name);
    const auto trunk = LoadOrDie(folder, kernels.options);
    TestPages pages(*trunk);
    Executor executor(1);
    const auto prefix = DrawTokens(100, config.vocab_size, 12);
    const auto branch = DrawTokens(30, config.vocab_size, 13);
    const std::vector<PageId> table = pages.Allocate(100);
    const Segment first{.pages = table, .tokens = prefix};
    trunk->Forward(absl::MakeConstSpan(&first, 1), *pages.memory, executor);
    const PageId copy = pages.pool.Allocate();
    pages.pool.CopyPrefix(table[1], copy, 100 - kPageSlots);
    const std::vector<PageId> forked = {table[0], copy, pages.pool.Allocate()};
    std::vector<float> hidden(static_cast<size_t>(config.hidden_size));
    const Segment second{.pages = forked,
                         .start = 100,
                         .tokens = branch,
                         .last_hidden = hidden.data()};
    trunk->Forward(absl::MakeConstSpan(&second, 1), *pages.memory, executor);
    std::vector<int32_t> whole = prefix;
    whole.insert(whole.end(), branch.begin(), branch.end());
    EXPECT_EQ(hidden, Hidden(*trunk, whole, 1000));
  }
}

TEST(TrunkTest, RewardsAreSigmoidsOfTheHeads) {
  TrunkConfig config = TinyConfig();
  const auto trunk = LoadOrDie(WriteRandom(config, 14));
  const auto hidden = Hidden(*trunk, DrawTokens(20, config.vocab_size, 15), 20);
  float out[2];
  trunk->Head(hidden.data(), 1, out);
  StepScores scores;
  trunk->Rewards(hidden.data(), 1, &scores);
  EXPECT_NEAR(scores.step, 1 / (1 + std::exp(-out[0])), 1e-6);
  EXPECT_NEAR(scores.path, 1 / (1 + std::exp(-out[1])), 1e-6);
}

TEST(TrunkTest, PublishedCheckpointLoads) {
  const char* data = std::getenv("ESPALIER_DATA");
  if (data == nullptr) GTEST_SKIP() << "ESPALIER_DATA is not set";
  const auto trunk = LoadOrDie(std::string(data) + "/models/tiny-llama");
  EXPECT_EQ(trunk->config().vocab_size, 16);
}

TEST(TrunkTest, AMissingFolderIsAClearError) {
  const auto trunk = Trunk::Load("/no/such/folder");
  ASSERT_FALSE(trunk.ok());
  EXPECT_NE(trunk.status().message().find("/no/such/folder"),
            absl::string_view::npos);
}

TEST(TrunkTest, AModelThatDoesNotFitIsRefusedWithTheSum) {
  const auto trunk = Trunk::Load(WriteRandom(TinyConfig(), 16),
                                 {.kv_bytes = int64_t{1} << 60});
  ASSERT_FALSE(trunk.ok());
  EXPECT_NE(trunk.status().message().find("keys and values"),
            absl::string_view::npos)
      << trunk.status();
}

}  // namespace
}  // namespace espalier
