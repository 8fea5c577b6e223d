// The trunk over LibTorch's operations, on the CPU and, if there is one, on a
// GPU: against PlainNetwork, every way of computing a row against the others,
// and the whole backend against the device "cpu".
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "models/trunk/trunk.h"
#include "src/engine/load_model.h"
#include "tests/models/testing/hf_layout.h"
#include "tests/models/testing/plain_network.h"
#include "tests/models/testing/random_checkpoint.h"
#include "tests/models/testing/trunk_driver.h"

namespace espalier {
namespace {

// Relative rounding of fp32 results computed in another order.
constexpr double kRounding = 1e-4;

class TorchTrunkTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto trunk = Trunk::Load(WriteRandom(TinyConfig(), 1), Fp32());
    if (absl::IsFailedPrecondition(trunk.status())) {
      GTEST_SKIP() << trunk.status().message();
    }
    ASSERT_TRUE(trunk.ok()) << trunk.status();
  }

  TrunkOptions Fp32() const {
    return {.device = GetParam(), .weights = WeightChoice::kFp32};
  }
  TrunkOptions Bf16() const {
    return {.device = GetParam(), .weights = WeightChoice::kBf16};
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, TorchTrunkTest,
                         testing::Values("torch-cpu", "cuda"),
                         [](const auto& device) {
                           return device.param == "cuda" ? "Cuda" : "Processor";
                         });

TEST_P(TorchTrunkTest, EveryNetworkEqualsThePlainOne) {
  uint64_t seed = 100;
  for (const NamedConfig& network : EveryNetwork()) {
    if (network.config.experts > 0) continue;  // refused
    const std::string folder = WriteRandom(network.config, ++seed);
    const PlainNetwork plain(folder);
    const auto tokens = DrawTokens(100, network.config.vocab_size, seed);
    const auto expected = plain.Hidden(tokens);
    SCOPED_TRACE(network.name);
    ExpectEqualsPlain(*LoadOrDie(folder, Fp32()), plain, tokens, expected,
                      kRounding);
    ExpectEqualsPlain(*LoadOrDie(folder, Bf16()), plain, tokens, expected,
                      0.05);
  }
}

TEST_P(TorchTrunkTest, ExpertsAreRefused) {
  TrunkConfig config = TinyConfig();
  config.reward_head = false;
  config.head = HeadKind::kNone;
  config.architecture = Architecture::kMixtral;
  config.tied_embeddings = false;
  config.experts = 4;
  config.chosen_experts = 2;
  const auto trunk = Trunk::Load(WriteRandom(config, 1), Fp32());
  ASSERT_TRUE(absl::IsUnimplemented(trunk.status())) << trunk.status();
  EXPECT_TRUE(absl::StrContains(trunk.status().message(), "experts"));
}

TEST_P(TorchTrunkTest, ChunksAndSingleTokensGiveTheSame) {
  for (const NamedConfig& network : EveryNetwork()) {
    if (network.config.experts > 0) continue;  // refused
    SCOPED_TRACE(network.name);
    const int n = std::min(150, network.config.context_length);
    const auto tokens = DrawTokens(n, network.config.vocab_size, 8);
    const auto trunk = LoadOrDie(WriteRandom(network.config, 7), Fp32());
    const auto whole = AllHidden(*trunk, tokens, n);
    for (const int chunk : {1, 7, 64, 100}) {
      ExpectNear(AllHidden(*trunk, tokens, chunk, chunk % 2 + 1), whole,
                 kRounding, absl::StrCat("chunks of ", chunk));
    }
  }
}

TEST_P(TorchTrunkTest, ARowAloneAndInAnyBatchIsTheSame) {
  const TrunkConfig config = TinyConfig();
  const auto trunk = LoadOrDie(WriteRandom(config, 9), Fp32());
  const size_t d = static_cast<size_t>(config.hidden_size);
  RandomStream rng(StreamKey(10, 0, 0, Purpose::kTest));
  Executor executor(1);
  for (int batch = 0; batch < 20; ++batch) {
    TestPages pages(*trunk);
    std::vector<std::vector<int32_t>> texts;
    std::vector<std::vector<PageId>> tables;
    for (int i = rng.Range(1, 40); i > 0; --i) {
      texts.push_back(DrawTokens(rng.Range(1, 300), config.vocab_size,
                                 static_cast<uint64_t>(batch * 100 + i)));
      tables.push_back(pages.Allocate(static_cast<int>(texts.back().size())));
    }
    std::vector<float> hidden(texts.size() * d);
    std::vector<Segment> segments;
    for (size_t i = 0; i < texts.size(); ++i) {
      segments.push_back({.pages = tables[i], .tokens = texts[i]});
      // Some request no output: the other rows must not shift.
      if (i % 3 != 1) segments[i].last_hidden = hidden.data() + i * d;
    }
    trunk->Forward(segments, *pages.memory, executor);
    for (size_t i = 0; i < texts.size(); i += 3) {
      const std::vector<float> found(hidden.begin() + i * d,
                                     hidden.begin() + (i + 1) * d);
      ExpectNear(found, Hidden(*trunk, texts[i], 1000), kRounding,
                 absl::StrCat("batch ", batch, ", text ", i));
    }
  }
}

// A tree of texts over shared pages, all its leaves in one pass, against each
// text separately.
TEST_P(TorchTrunkTest, ForksThatSharePagesEqualCopies) {
  for (const int window : {0, 90}) {
    TrunkConfig config = TinyConfig();
    if (window > 0) {
      config.architecture = Architecture::kMistral;
      config.reward_head = false;
      config.head = HeadKind::kNone;
      config.head_labels = 0;
      config.head_bias = false;
      config.sliding_window = window;
    }
    const auto trunk = LoadOrDie(WriteRandom(config, 11), Fp32());
    const size_t d = static_cast<size_t>(config.hidden_size);
    TestPages pages(*trunk);
    Executor executor(1);
    struct Branch {
      std::vector<int32_t> tokens;
      std::vector<PageId> table;
    };
    const auto extend = [&](const Branch& from, int count, uint64_t seed) {
      Branch out = from;
      const auto more = DrawTokens(count, config.vocab_size, seed);
      const int start = static_cast<int>(from.tokens.size());
      if (start % kPageSlots != 0) {  // the branching page is copied
        const PageId copy = pages.pool.Allocate();
        pages.pool.CopyPrefix(out.table.back(), copy, start % kPageSlots);
        out.table.back() = copy;
      }
      out.tokens.insert(out.tokens.end(), more.begin(), more.end());
      while (out.table.size() * kPageSlots < out.tokens.size()) {
        out.table.push_back(pages.pool.Allocate());
      }
      return out;
    };
    const auto run = [&](const std::vector<Branch>& branches,
                         const std::vector<size_t>& starts) {
      std::vector<float> hidden(branches.size() * d);
      std::vector<Segment> segments;
      for (size_t i = 0; i < branches.size(); ++i) {
        segments.push_back(
            {.pages = branches[i].table,
             .start = static_cast<int>(starts[i]),
             .tokens =
                 absl::MakeConstSpan(branches[i].tokens).subspan(starts[i]),
             .last_hidden = hidden.data() + i * d});
      }
      trunk->Forward(segments, *pages.memory, executor);
      return hidden;
    };
    const Branch root = extend({}, 150, 12);
    run({root}, {0});
    std::vector<Branch> middle, leaves;
    std::vector<size_t> middle_starts, leaf_starts;
    for (uint64_t i = 0; i < 3; ++i) {
      middle.push_back(extend(root, 40 + 30 * static_cast<int>(i), 20 + i));
      middle_starts.push_back(root.tokens.size());
    }
    run(middle, middle_starts);
    for (uint64_t i = 0; i < 9; ++i) {
      const Branch& from = middle[i / 3];
      leaves.push_back(extend(from, i % 2 == 0 ? 1 : 70, 30 + i));
      leaf_starts.push_back(from.tokens.size());
    }
    const std::vector<float> hidden = run(leaves, leaf_starts);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const std::vector<float> found(hidden.begin() + i * d,
                                     hidden.begin() + (i + 1) * d);
      ExpectNear(found, Hidden(*trunk, leaves[i].tokens, 1000), kRounding,
                 absl::StrCat("window ", window, ", leaf ", i));
    }
  }
}

TEST_P(TorchTrunkTest, PagesKeepTheirContentWhenMemoryGrows) {
  const TrunkConfig config = TinyConfig();
  const auto trunk = LoadOrDie(WriteRandom(config, 13), Fp32());
  const auto tokens = DrawTokens(130, config.vocab_size, 14);
  const auto memory = trunk->NewPages();
  Executor executor(1);
  std::vector<float> hidden(static_cast<size_t>(config.hidden_size));
  const std::vector<PageId> table = {0, 1, 2};
  for (int at = 0; at < 130; ++at) {
    memory->Grow(at / kPageSlots + 1 + at * at / 10);
    const Segment segment{.pages = table,
                          .start = at,
                          .tokens = absl::MakeConstSpan(tokens).subspan(
                              static_cast<size_t>(at), 1),
                          .last_hidden = hidden.data()};
    trunk->Forward(absl::MakeConstSpan(&segment, 1), *memory, executor);
  }
  ExpectNear(hidden, Hidden(*trunk, tokens, 1000), kRounding, "last row");
}

TEST_P(TorchTrunkTest, ACopiedPageLeavesTheSlotsBehindAlone) {
  const TrunkConfig config = TinyConfig();
  const auto trunk = LoadOrDie(WriteRandom(config, 15), Fp32());
  TestPages pages(*trunk);
  Executor executor(1);
  const auto first = DrawTokens(60, config.vocab_size, 16);
  auto second = DrawTokens(59, config.vocab_size, 17);
  std::copy_n(first.begin(), 20, second.begin());
  const std::vector<PageId> a = pages.Allocate(64), b = pages.Allocate(64);
  for (const auto& [table, text] :
       {std::pair(a, first), std::pair(b, second)}) {
    const Segment segment{.pages = table, .tokens = text};
    trunk->Forward(absl::MakeConstSpan(&segment, 1), *pages.memory, executor);
  }
  // The same 20 tokens: what b has after them must not change.
  pages.pool.CopyPrefix(a[0], b[0], 20);
  std::vector<float> hidden(static_cast<size_t>(config.hidden_size));
  const int32_t next = 5;
  const Segment segment{.pages = b,
                        .start = 59,
                        .tokens = absl::MakeConstSpan(&next, 1),
                        .last_hidden = hidden.data()};
  trunk->Forward(absl::MakeConstSpan(&segment, 1), *pages.memory, executor);
  second.push_back(next);
  ExpectNear(hidden, Hidden(*trunk, second, 1000), kRounding, "last row");
}

// The greedy samples of a request, and the model's own scores of them.
struct Texts {
  std::vector<std::vector<int32_t>> tokens;
  std::vector<float> logprobs;
  std::vector<float> rewards;
};

Texts GreedyTexts(const std::string& path, const LoadOptions& options) {
  Texts out;
  Executor executor(2);
  auto loaded = LoadModel(path, options, executor);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  Backend& backend = *loaded->backend;
  RequestId id = 0;
  for (int i = 0; i < 12; ++i) {
    const auto prompt = *loaded->tokenizer->Encode(
        absl::StrCat("a Ann has ", 11 + 7 * i, " shells.\nb She finds ", 3 + i,
                     " more.\n? How many shells does Ann have now?\n"));
    const SeqId from = backend.Extend(kEmptySeq, prompt);
    backend.Submit({.id = ++id,
                    .body = GenerateRequest{.from = from,
                                            .n = 1 + i % 3,
                                            .sampling = {.temperature = 0},
                                            .stop = {.max_tokens = 40}}});
  }
  std::vector<Completion> done;
  while (done.size() < 12) backend.Step(done);
  std::sort(done.begin(), done.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  ScoreRequest score;
  for (const Completion& completion : done) {
    EXPECT_TRUE(completion.status.ok()) << completion.status;
    for (const Continuation& c : completion.continuations) {
      out.tokens.push_back(c.tokens);
      out.logprobs.insert(out.logprobs.end(), c.logprobs.begin(),
                          c.logprobs.end());
      score.sequences.push_back(c.seq);
    }
  }
  if (!backend.capabilities().reward) return out;
  backend.Submit({.id = ++id, .body = std::move(score)});
  done.clear();
  while (done.empty()) backend.Step(done);
  for (const StepScores& s : done[0].scores) {
    out.rewards.push_back(s.step);
    out.rewards.push_back(s.path);
  }
  return out;
}

TEST_P(TorchTrunkTest, TheShippedModelsWriteWhatTheyWriteOnCpu) {
  for (const char* model : {"stories", "countdown"}) {
    SCOPED_TRACE(model);
    const std::string path = absl::StrCat("models/zoo/", model);
    const Texts expected =
        GreedyTexts(path, {.device = "cpu", .weights = "fp32"});
    const Texts found =
        GreedyTexts(path, {.device = GetParam(), .weights = "fp32"});
    ASSERT_EQ(found.tokens.size(), 24u);
    EXPECT_EQ(found.tokens, expected.tokens);
    ExpectNear(found.logprobs, expected.logprobs, 1e-3, "logprobs");
    ASSERT_FALSE(expected.rewards.empty());
    ExpectNear(found.rewards, expected.rewards, 1e-4, "rewards");
  }
}

TEST_P(TorchTrunkTest, Int8WeightsAreRefused) {
  TrunkOptions options = Fp32();
  options.weights = WeightChoice::kInt8;
  const auto trunk = Trunk::Load(WriteRandom(TinyConfig(), 1), options);
  EXPECT_TRUE(absl::IsInvalidArgument(trunk.status())) << trunk.status();
  EXPECT_TRUE(absl::StrContains(trunk.status().message(), "int8"));
}

TEST_P(TorchTrunkTest, AModelThatDoesNotFitIsRefusedWithTheSum) {
  TrunkOptions options = Fp32();
  options.kv_bytes = int64_t{1} << 50;
  const auto trunk = Trunk::Load(WriteRandom(TinyConfig(), 1), options);
  EXPECT_TRUE(absl::IsResourceExhausted(trunk.status())) << trunk.status();
  EXPECT_TRUE(absl::StrContains(trunk.status().message(), "keys and values"));
}

TEST(TorchDeviceTest, AGpuThatThereIsNotIsAClearError) {
  const auto trunk =
      Trunk::Load(WriteRandom(TinyConfig(), 1), {.device = "cuda:63"});
  ASSERT_TRUE(absl::IsFailedPrecondition(trunk.status())) << trunk.status();
  EXPECT_TRUE(absl::StrContains(trunk.status().message(), "--device cpu"));
}

}  // namespace
}  // namespace espalier
