#include "src/engine/log_ratio_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/schedule/trunk_backend.h"
#include "src/engine/load_reward_model.h"
#include "tests/engine/judge_steps.h"
#include "tests/engine/reward_trees.h"
#include "tests/models/testing/plain_network.h"
#include "tests/models/testing/reward_checkpoint.h"

namespace espalier {
namespace {

const TrunkBackend& TrunkOf(const LoadedModel& model) {
  return dynamic_cast<const TrunkBackend&>(*model.backend);
}

constexpr char kQuestion[] = "What is 17 + 25, and is it even?";

// The shipped format with another factor: at the published one the scores of
// short paths all lie close to one half.
RewardFormat Format(double factor) {
  RewardFormat format = ReadRewardFormat("implicit_prm").value();
  format.log_ratio = factor;
  return format;
}

struct TwoModels {
  explicit TwoModels(double factor, const std::string& weights = "fp32")
      : model(WriteRewardCheckpoint("implicit_prm", 7)),
        reference(WriteRewardCheckpoint("implicit_prm", 8)),
        executor(1) {
    auto both =
        LoadRewardModel(model.folder, Format(factor), {.weights = weights},
                        executor, reference.folder);
    EXPECT_TRUE(both.ok()) << both.status();
    loaded = *std::move(both);
  }
  std::unique_ptr<LogRatioReader> Open() {
    auto reader = LogRatioReader::Open(*loaded.scorer, *loaded.model.backend,
                                       *loaded.reference.backend, kQuestion);
    EXPECT_TRUE(reader.ok()) << reader.status();
    return *std::move(reader);
  }

  RewardCheckpoint model, reference;
  Executor executor;
  LoadedRewardModel loaded;
};

// What the published program computes for these steps: the closed conversation
// without what follows its last token; the sum of the log-ratios from the first
// token of the answer up to the one before the last.
class PublishedRatio {
 public:
  explicit PublishedRatio(const TwoModels& models)
      : tokenizer_(Tokenizer::Load(models.model.folder).value()),
        model_(models.model.plain),
        reference_(models.reference.plain) {}

  std::vector<int32_t> Ids(const std::vector<std::string>& steps) const {
    std::string text = "<|im_start|>user\n" + std::string(kQuestion) +
                       "<|im_end|>\n<|im_start|>assistant\n";
    for (size_t i = 0; i < steps.size(); ++i) {
      text += (i == 0 ? "Step " : "\n\nStep ") + std::to_string(i + 1) + ": " +
              steps[i];
    }
    return tokenizer_->Encode(text + "<|im_end|>", true).value();
  }

  double Ratio(const std::vector<std::string>& steps) const {
    const std::vector<int32_t> ids = Ids(steps);
    const size_t first = Ids({}).size() - 1;
    double sum = 0;
    const auto model = model_.Hidden(ids), reference = reference_.Hidden(ids);
    for (size_t i = first; i + 1 < ids.size(); ++i) {
      sum += LogProb(model_.Logits(model[i - 1]), ids[i]) -
             LogProb(reference_.Logits(reference[i - 1]), ids[i]);
    }
    return sum;
  }

 private:
  static double LogProb(const std::vector<double>& logits, int32_t token) {
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    return logits[static_cast<size_t>(token)] - std::log(sum);
  }

  const std::unique_ptr<Tokenizer> tokenizer_;
  const PlainNetwork model_, reference_;
};

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<NodeId> AllNodes(const Tree& tree) {
  std::vector<NodeId> nodes;
  for (NodeId id = 1; id < tree.size(); ++id) nodes.push_back(id);
  return nodes;
}

void ExpectPublished(double factor, const std::string& weights,
                     double tolerance) {
  TwoModels models(factor, weights);
  const PublishedRatio published(models);
  RandomStream random(StreamKey(5, 1, 0, Purpose::kTest));
  Tree tree;
  Grow(tree, 16, random);
  const auto reader = models.Open();
  const std::vector<NodeId> nodes = AllNodes(tree);
  const SearchCompletion scored = Judge(*reader, tree, nodes);
  ASSERT_TRUE(scored.status.ok()) << scored.status;
  std::map<NodeId, double> ratio = {{kRoot, 0.0}};
  double lowest = 1, highest = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeId id = nodes[i];
    ratio[id] = published.Ratio(StrippedSteps(tree, id));
    const double path = Logistic(factor * ratio[id]);
    const double step = Logistic(factor * (ratio[id] - ratio[tree[id].parent]));
    EXPECT_NEAR(scored.scores[i].path, path, tolerance) << id;
    EXPECT_NEAR(scored.scores[i].step, step, tolerance) << id;
    lowest = std::min(lowest, path);
    highest = std::max(highest, path);
  }
  EXPECT_GT(highest - lowest, 2 * tolerance);  // the comparison can fail
}

TEST(LogRatioReaderTest, ScoresEqualThePublishedComputation) {
  ExpectPublished(0.05, "fp32", 1e-4);
}

TEST(LogRatioReaderTest, RoundedWeightsGiveNearlyTheSameScores) {
  ExpectPublished(0.05, "bf16", 2e-2);
}

TEST(LogRatioReaderTest, ShippedFactorIsThePublishedOne) {
  EXPECT_EQ(ReadRewardFormat("implicit_prm")->log_ratio, 0.001);
}

TEST(LogRatioReaderTest, IncrementalScoresOfATreeEqualWholePasses) {
  TwoModels models(0.05);
  RandomStream random(StreamKey(6, 2, 0, Purpose::kTest));
  Tree tree;
  const auto reader = models.Open();
  while (tree.size() < 201) {
    const auto first = static_cast<NodeId>(tree.size());
    Grow(tree, std::min(9, 201 - static_cast<int>(tree.size())), random);
    // Some steps are scored later, when their children are.
    std::vector<NodeId> nodes;
    for (NodeId id = first; id < tree.size(); ++id) {
      if (random.Below(3) > 0) nodes.push_back(id);
    }
    if (!nodes.empty()) {
      ASSERT_TRUE(Judge(*reader, tree, nodes).status.ok());
    }
  }
  const std::vector<NodeId> nodes = AllNodes(tree);
  const SearchCompletion scored = Judge(*reader, tree, nodes);
  ASSERT_TRUE(scored.status.ok()) << scored.status;
  const StepLayout& layout = models.loaded.scorer->layout;
  const std::vector<int32_t> stem = layout.Before(kQuestion).value();
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<std::string> steps;
    for (const NodeId above : tree.Path(nodes[i])) {
      steps.emplace_back(tree.text(above));
    }
    const std::vector<int32_t> ids = layout.Lay(kQuestion, steps)->ids;
    double sums[2] = {0, 0};
    const LoadedModel* loaded[] = {&models.loaded.model,
                                   &models.loaded.reference};
    for (int m = 0; m < 2; ++m) {
      // A whole pass: a fresh cache, one sequence, one node.
      TrunkBackend fresh(*loaded[m]->trunk, *loaded[m]->tokenizer,
                         models.executor, {.kv_bytes = 16 << 20});
      const SeqId seq = fresh.Extend(kEmptySeq, stem);
      fresh.Submit(
          {.id = 1,
           .body = TextScoreRequest{
               seq,
               {{ids.begin() + static_cast<std::ptrdiff_t>(stem.size()),
                 ids.end()}}}});
      std::vector<Completion> done;
      while (fresh.Step(done)) {
      }
      for (const float p : done[0].texts[0].logprobs) sums[m] += p;
      fresh.Release(seq);
    }
    // On kernels of this processor a pass has the same bits in any pieces.
    EXPECT_EQ(scored.scores[i].path,
              static_cast<float>(Logistic(0.05 * (sums[0] - sums[1]))))
        << nodes[i];
  }
}

TEST(LogRatioReaderTest, TwentyStepsOneByOneCostLittleMoreThanOnePass) {
  TwoModels models(0.05);
  Tree tree;
  const auto reader = models.Open();
  NodeId node = kRoot;
  for (int i = 0; i < 20; ++i) {
    node = AddStep(tree, node, LongStep(i));
    ASSERT_TRUE(Judge(*reader, tree, {node}).status.ok());
  }
  const PublishedRatio published(models);
  const double whole =
      static_cast<double>(published.Ids(StrippedSteps(tree, node)).size()) - 1;
  for (const LoadedModel* one :
       {&models.loaded.model, &models.loaded.reference}) {
    const double ratio =
        static_cast<double>(one->backend->stats().tokens_computed) / whole;
    std::printf("figure: implicit_prm, 20 steps one by one: %.3f of one pass\n",
                ratio);
    EXPECT_LE(ratio, 1.15);
  }
}

TEST(LogRatioReaderTest, SequencesAreReleased) {
  TwoModels models(0.05);
  {
    RandomStream random(StreamKey(6, 3, 0, Purpose::kTest));
    Tree tree;
    Grow(tree, 20, random);
    const auto reader = models.Open();
    ASSERT_TRUE(Judge(*reader, tree, {5, 17, 19}).status.ok());
    reader->SetRetention(17, kEvictNow);
    ASSERT_TRUE(Judge(*reader, tree, {18, 20}).status.ok());
    // A request that is given up with one of its parts in flight.
    reader->Ask(2, tree, {12, 14});
    const std::vector<StepJudge::Part> parts = reader->TakeParts();
    ASSERT_FALSE(parts.empty());
    reader->Cancel();
    ASSERT_TRUE(Judge(*reader, tree, {14}).status.ok());
    EXPECT_GT(TrunkOf(models.loaded.model).sequences().live(), 0);
  }
  for (const LoadedModel* one :
       {&models.loaded.model, &models.loaded.reference}) {
    EXPECT_EQ(TrunkOf(*one).sequences().live(), 0);
    EXPECT_EQ(TrunkOf(*one).pool().used(), 0);
  }
}

TEST(LogRatioReaderTest, StepWithoutTextHasThePathOfItsParent) {
  TwoModels models(0.05);
  Tree tree;
  const NodeId a = AddStep(tree, kRoot, "first of all\n");
  const NodeId empty = AddStep(tree, a, "\n");
  const auto reader = models.Open();
  const SearchCompletion scored = Judge(*reader, tree, {a, empty});
  ASSERT_TRUE(scored.status.ok()) << scored.status;
  EXPECT_EQ(scored.scores[1].path, scored.scores[0].path);
  EXPECT_EQ(scored.scores[1].step, 0.5f);
}

TEST(LogRatioReaderTest, PathLongerThanTheContextIsRefusedByName) {
  TwoModels models(0.05);
  Tree tree;
  NodeId node = kRoot;
  for (int i = 0; i < 3; ++i) {
    node = AddStep(tree, node,
                   std::string(1400, static_cast<char>('a' + i)) + "\n");
  }
  const auto reader = models.Open();
  const SearchCompletion scored = Judge(*reader, tree, {node});
  EXPECT_EQ(scored.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(scored.status.message()),
              testing::AllOf(testing::HasSubstr("a path of 3 steps takes 4"),
                             testing::HasSubstr("implicit_prm"),
                             testing::HasSubstr("is 4096")));
  const auto open = LogRatioReader::Open(
      *models.loaded.scorer, *models.loaded.model.backend,
      *models.loaded.reference.backend, std::string(5000, 'q'));
  EXPECT_THAT(std::string(open.status().message()),
              testing::HasSubstr("the question takes 5"));
}

TEST(LogRatioReaderTest, ReferenceIsNeededAndHasTheSameTokens) {
  const RewardCheckpoint model = WriteRewardCheckpoint("implicit_prm", 7);
  Executor executor(1);
  const auto error = [&](const std::string& format,
                         const std::string& reference) {
    return std::string(LoadRewardModel(model.folder, *ReadRewardFormat(format),
                                       {}, executor, reference)
                           .status()
                           .message());
  };
  EXPECT_THAT(error("implicit_prm", ""),
              testing::AllOf(testing::HasSubstr("implicit_prm compares"),
                             testing::HasSubstr("--reference-model")));
  EXPECT_THAT(error("math_psa", model.folder),
              testing::AllOf(testing::HasSubstr("math_psa reads one model"),
                             testing::HasSubstr("leave out")));
  EXPECT_THAT(
      error("implicit_prm", "models/zoo/stories"),
      testing::AllOf(testing::HasSubstr("models/zoo/stories: a reference"),
                     testing::HasSubstr("share the reward model's tokenizer")));
}

}  // namespace
}  // namespace espalier
