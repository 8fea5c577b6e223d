// The perplexity cost of 8-bit and 4-bit weights on the shipped models, on
// solutions of problems they were trained for.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "datasets/tasks/stories.h"
#include "datasets/tasks/task_registry.h"
#include "models/kernels/choose_kernels.h"
#include "models/pages/page_pool.h"
#include "models/tokenizer/tokenizer.h"
#include "models/trunk/trunk.h"

namespace espalier {
namespace {

struct StoryText {
  std::vector<int32_t> tokens;
  size_t prompt = 0;  // of the tokens
};

std::vector<StoryText> StoryTexts(const Tokenizer& tokenizer, int count) {
  const Task* task = *FindTask("stories");
  std::vector<StoryText> out;
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i) {
    const GradedProblem story =
        MakeStory(*FindStoryBand("hard"), kFirstTestSeed, i);
    StoryText text{.tokens =
                       *tokenizer.Encode(*task->Render(story.problem), true)};
    text.prompt = text.tokens.size();
    const auto rest =
        *tokenizer.Encode(absl::StrJoin(story.reference.steps, "\n") + "\n");
    text.tokens.insert(text.tokens.end(), rest.begin(), rest.end());
    out.push_back(std::move(text));
  }
  return out;
}

// Over the tokens of the solutions, given their prompts.
double Perplexity(const std::string& folder, const TrunkOptions& options,
                  const std::vector<StoryText>& texts) {
  const auto trunk = Trunk::Load(folder, options).value();
  const size_t d = static_cast<size_t>(trunk->config().hidden_size);
  const size_t v = static_cast<size_t>(trunk->config().vocab_size);
  Executor executor(1);
  double sum = 0, count = 0;
  for (const StoryText& text : texts) {
    const auto memory = trunk->NewPages();
    PagePool pool(*memory, 64 << 20);
    std::vector<PageId> pages;
    for (size_t i = 0; i * kPageSlots < text.tokens.size(); ++i) {
      pages.push_back(pool.Allocate());
    }
    const size_t asked = text.tokens.size() - text.prompt;
    std::vector<float> hidden(text.tokens.size() * d), logits(asked * v);
    const Segment segment{
        .pages = pages, .tokens = text.tokens, .all_hidden = hidden.data()};
    trunk->Forward(absl::MakeConstSpan(&segment, 1), *memory, executor);
    trunk->Logits(hidden.data() + (text.prompt - 1) * d,
                  static_cast<int>(asked), logits.data(), executor);
    for (size_t i = 0; i < asked; ++i) {
      const float* const row = logits.data() + i * v;
      double total = 0;
      for (size_t j = 0; j < v; ++j) total += std::exp(double{row[j]});
      sum += std::log(total) - row[text.tokens[text.prompt + i]];
      ++count;
    }
  }
  return std::exp(sum / count);
}

// A sanitizer slows every operation of the plain path by a factor of ten to
// five hundred, and the figure does not depend on it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kStoryTexts = 1;
#else
constexpr int kStoryTexts = 24;
#endif

struct Case {
  const char* name;
  const char* path;
  WeightChoice weights;

  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

class WeightQualityTest : public testing::TestWithParam<Case> {};

TEST_P(WeightQualityTest, PerplexityOfStoriesChangesByHalfAPercentAtMost) {
  const auto& [name, path, weights] = GetParam();
  if (!ChooseKernels(path, WeightKind::kBf16, 64).ok()) {
    GTEST_SKIP() << "this machine has no kernel path " << path;
  }
  const std::string folder = "models/zoo/stories";
  const auto tokenizer = Tokenizer::Load(folder).value();
  const auto texts = StoryTexts(*tokenizer, kStoryTexts);
  const double exact = Perplexity(
      folder, {.weights = WeightChoice::kFp32, .kernels = "plain"}, texts);
  const double rounded =
      Perplexity(folder, {.weights = weights, .kernels = path}, texts);
  std::printf("%s: %.5f, fp32 %.5f, %+.3f %%\n", name, rounded, exact,
              100 * (rounded / exact - 1));
  EXPECT_LT(std::fabs(rounded / exact - 1), 0.005);
}

INSTANTIATE_TEST_SUITE_P(
    All, WeightQualityTest,
    testing::Values(Case{"PlainBf16", "plain", WeightChoice::kBf16},
                    Case{"PlainInt8", "plain", WeightChoice::kInt8},
                    Case{"PlainInt4", "plain", WeightChoice::kInt4},
                    Case{"Avx512Bf16", "avx512", WeightChoice::kBf16},
                    Case{"Avx512Int8", "avx512", WeightChoice::kInt8},
                    Case{"Avx512Int4", "avx512", WeightChoice::kInt4},
                    Case{"AmxBf16", "amx", WeightChoice::kBf16},
                    Case{"AmxInt8", "amx", WeightChoice::kInt8},
                    Case{"AmxInt4", "amx", WeightChoice::kInt4}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace espalier
