#include "src/engine/reward_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "models/schedule/trunk_backend.h"
#include "src/engine/load_reward_model.h"
#include "tests/engine/reward_trees.h"
#include "tests/models/testing/published_reward.h"
#include "tests/models/testing/reward_checkpoint.h"

namespace espalier {
namespace {

constexpr char kReaderQuestion[] = "What is 17 + 25, and is it even?";

struct TestModel {
  explicit TestModel(const std::string& name,
                     const std::string& weights = "fp32")
      : TestModel(WriteRewardCheckpoint(name, 7), name, weights) {}
  TestModel(RewardCheckpoint written, const std::string& name,
            const std::string& weights)
      : checkpoint(std::move(written)), executor(1) {
    const RewardFormat format = ReadRewardFormat(name).value();
    auto model = LoadRewardModel(checkpoint.folder, format,
                                 {.weights = weights}, executor);
    EXPECT_TRUE(model.ok()) << name << model.status();
    loaded = *std::move(model);
  }
  std::unique_ptr<RewardReader> Open(
      const std::string& question = kReaderQuestion) {
    auto reader = RewardReader::Open(*loaded.scorer, backend(), question);
    EXPECT_TRUE(reader.ok()) << reader.status();
    return *std::move(reader);
  }
  TrunkBackend& backend() {
    return dynamic_cast<TrunkBackend&>(*loaded.model.backend);
  }
  // Reads what the scores of `nodes` need.
  void Read(RewardReader& reader, const Tree& tree,
            const std::vector<NodeId>& nodes) {
    const auto query = reader.Ask(tree, nodes);
    ASSERT_TRUE(query.ok()) << query.status();
    backend().Submit({.id = 1, .body = query->request});
    std::vector<Completion> done;
    while (backend().Step(done)) {
    }
    ASSERT_EQ(done.size(), 1u);
    ASSERT_TRUE(done[0].status.ok()) << done[0].status;
    reader.Take(query->nodes, done[0].rows);
  }

  RewardCheckpoint checkpoint;
  Executor executor;
  LoadedRewardModel loaded;
};

// The steps as the published programs count them.
std::vector<std::string> StepsOf(const Tree& tree, NodeId node,
                                 const std::string& format) {
  std::vector<std::string> steps;
  if (format == "qwen_rm" || format == "rlhflow_orm" ||
      format.rfind("skywork_reward", 0) == 0) {
    return {std::string(absl::StripAsciiWhitespace(tree.Response(node)))};
  }
  if (format == "prorag" || format == "laser") {
    return {std::string(tree.Response(node))};
  }
  for (const NodeId id : tree.Path(node)) {
    const std::string step(absl::StripAsciiWhitespace(
        absl::string_view(tree.text(id).data(), tree.text(id).size())));
    if (format != "skywork_prm") {
      steps.push_back(step);
      continue;
    }
    for (size_t at = 0; at <= step.size();) {
      const size_t end = std::min(step.find('\n', at), step.size());
      if (end > at) steps.push_back(step.substr(at, end - at));
      at = end + 1;
    }
  }
  return steps;
}

class RewardReaderTest : public testing::TestWithParam<std::string> {};

TEST_P(RewardReaderTest, ScoresEqualThePublishedComputation) {
  TestModel model(GetParam());
  const PublishedReward published(GetParam(), model.checkpoint);
  RandomStream random(StreamKey(5, 1, 0, Purpose::kTest));
  Tree tree;
  Grow(tree, 24, random);
  const auto reader = model.Open();
  std::vector<NodeId> nodes;
  for (NodeId id = 1; id < tree.size(); ++id) nodes.push_back(id);
  model.Read(*reader, tree, nodes);
  double lowest = 1, highest = 0;
  std::map<NodeId, double> step;
  for (const NodeId id : nodes) {
    step[id] = published.Score(kReaderQuestion, StepsOf(tree, id, GetParam()));
    double path = step[id];
    for (const NodeId above : tree.Path(id)) {
      if (published.outcome() || published.windows()) continue;
      path = std::min(path, step[above]);
    }
    const StepScores scores = reader->Score(tree, id);
    EXPECT_NEAR(scores.step, step[id], 1e-4) << id;
    EXPECT_NEAR(scores.path, path, 1e-4) << id;
    EXPECT_EQ(std::isnan(scores.windows[0]), !published.windows());
    if (published.windows()) {
      EXPECT_EQ(scores.windows[0], scores.step);
    }
    EXPECT_EQ(std::isnan(scores.outcome), !published.outcome());
    lowest = std::min(lowest, step[id]);
    highest = std::max(highest, step[id]);
  }
  EXPECT_GT(highest - lowest, 1e-3);  // the comparison can fail
}

TEST_P(RewardReaderTest, RoundedWeightsGiveNearlyTheSameScores) {
  TestModel model(GetParam(), "bf16");
  const PublishedReward published(GetParam(), model.checkpoint);
  RandomStream random(StreamKey(5, 9, 0, Purpose::kTest));
  Tree tree;
  Grow(tree, 12, random);
  const auto reader = model.Open();
  std::vector<NodeId> nodes;
  for (NodeId id = 1; id < tree.size(); ++id) nodes.push_back(id);
  model.Read(*reader, tree, nodes);
  for (const NodeId id : nodes) {
    EXPECT_NEAR(reader->Score(tree, id).step,
                published.Score(kReaderQuestion, StepsOf(tree, id, GetParam())),
                2e-2);
  }
}

TEST_P(RewardReaderTest, IncrementalScoresOfATreeEqualWholePasses) {
  TestModel model(GetParam());
  RandomStream random(StreamKey(6, 2, 0, Purpose::kTest));
  Tree tree;
  const auto reader = model.Open();
  std::vector<NodeId> nodes;
  while (tree.size() < 201) {
    const auto first = static_cast<NodeId>(tree.size());
    Grow(tree, std::min(9, 201 - static_cast<int>(tree.size())), random);
    // Some steps are scored later, when their children are.
    nodes.clear();
    for (NodeId id = first; id < tree.size(); ++id) {
      if (random.Below(3) > 0) nodes.push_back(id);
    }
    model.Read(*reader, tree, nodes);
  }
  nodes.clear();
  for (NodeId id = 1; id < tree.size(); ++id) nodes.push_back(id);
  model.Read(*reader, tree, nodes);
  for (const NodeId id : nodes) {
    // A whole pass: a fresh cache, one sequence, one node.
    TrunkBackend fresh(*model.loaded.model.trunk, *model.loaded.model.tokenizer,
                       model.executor, {.kv_bytes = 16 << 20});
    const RewardScorer& scorer = *model.loaded.scorer;
    std::vector<std::string> steps;
    for (const NodeId above : tree.Path(id)) {
      steps.emplace_back(tree.text(above));
    }
    const SeqId seq =
        fresh.Extend(kEmptySeq, scorer.layout.Lay(kReaderQuestion, steps)->ids);
    ScoreRequest request{
        {seq},
        scorer.head.layers.empty() ? ScoreRead::kLogprobs : ScoreRead::kHidden,
        scorer.layout.choices()};
    fresh.Submit({.id = 1, .body = std::move(request)});
    std::vector<Completion> done;
    while (fresh.Step(done)) {
    }
    ASSERT_TRUE(done[0].status.ok()) << done[0].status;
    const std::vector<float>& row = done[0].rows[0];
    const std::vector<double> outputs =
        scorer.head.layers.empty() ? std::vector<double>(row.begin(), row.end())
                                   : scorer.head.Apply(row);
    // On kernels of this processor a pass has the same bits in any pieces.
    EXPECT_EQ(reader->Score(tree, id).step,
              static_cast<float>(SearchScore(
                  scorer.format(), RewardValue(scorer.format(), outputs))))
        << id;
    fresh.Release(seq);
  }
}

TEST_P(RewardReaderTest, SequencesAreReleased) {
  TestModel model(GetParam());
  {
    RandomStream random(StreamKey(6, 3, 0, Purpose::kTest));
    Tree tree;
    Grow(tree, 30, random);
    const auto reader = model.Open();
    model.Read(*reader, tree, {5, 17, 29, 30});
    reader->SetRetention(17, kEvictNow);
    reader->SetRetention(3, 0.5f);
    model.Read(*reader, tree, {18, 24});
    EXPECT_GT(model.backend().sequences().live(), 0);
  }
  EXPECT_EQ(model.backend().sequences().live(), 0);
  EXPECT_EQ(model.backend().pool().used(), 0);
}

TEST_P(RewardReaderTest, TwentyStepsOneByOneCostLittleMoreThanOnePass) {
  TestModel model(GetParam());
  Tree tree;
  const auto reader = model.Open();
  NodeId node = kRoot;
  for (int i = 0; i < 20; ++i) {
    node = AddStep(tree, node, LongStep(i));
    model.Read(*reader, tree, {node});
  }
  const PublishedReward published(GetParam(), model.checkpoint);
  std::vector<std::string> steps = StepsOf(tree, node, GetParam());
  const double whole =
      static_cast<double>(published.Ids(kReaderQuestion, steps).size());
  const auto computed =
      static_cast<double>(model.backend().stats().tokens_computed);
  const double ratio = computed / whole;
  std::printf(
      "figure: %s, 20 steps one by one: %.0f tokens, %.3f of one pass "
      "(%lld again)\n",
      GetParam().c_str(), computed, ratio,
      static_cast<long long>(reader->stats().again));
  EXPECT_EQ(model.backend().stats().tokens_computed,
            reader->stats().laid_out +
                static_cast<int64_t>(
                    model.loaded.scorer->layout.Stem(kReaderQuestion)->size()));
  const RewardFormat& format = model.loaded.scorer->format();
  if (!format.focus_prefix.empty()) {
    // Each step is computed where it is judged and again among the steps before
    // the next ones, with the words between; all passes together would be 10.
    EXPECT_LE(ratio, 4);
    EXPECT_GT(reader->stats().again, 0);
    return;
  }
  if (format.unit == RewardUnit::kStep) {
    EXPECT_LE(ratio, 1.15);
  } else {
    EXPECT_LE(ratio, 1.25);  // what closes a message is read anew each time
  }
  if (format.unit == RewardUnit::kStep) {
    EXPECT_EQ(reader->stats().again, 0);
  }
}

TEST_P(RewardReaderTest, PathLongerThanTheContextIsRefusedByName) {
  TestModel model(GetParam());
  Tree tree;
  NodeId node = kRoot;
  for (int i = 0; i < 3; ++i) {
    node = AddStep(tree, node,
                   std::string(1400, static_cast<char>('a' + i)) + "\n");
  }
  const auto reader = model.Open();
  EXPECT_TRUE(reader->Ask(tree, {tree[node].parent}).ok());
  const auto query = reader->Ask(tree, {node});
  EXPECT_EQ(query.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(query.status().message()),
              testing::AllOf(testing::HasSubstr("a path of 3 steps takes 4"),
                             testing::HasSubstr(GetParam()),
                             testing::HasSubstr("context is 4096")));
  const auto open = RewardReader::Open(*model.loaded.scorer, model.backend(),
                                       std::string(5000, 'q'));
  EXPECT_THAT(std::string(open.status().message()),
              testing::AllOf(testing::HasSubstr("the question takes 5"),
                             testing::HasSubstr("context is 4096")));
}

INSTANTIATE_TEST_SUITE_P(Formats, RewardReaderTest,
                         testing::ValuesIn(OneReadingNames()),
                         [](const auto& info) { return info.param; });

TEST(RewardReaderOneTest, StepWithoutTextHasTheScoreOfItsPath) {
  TestModel model("qwen_prm");
  Tree tree;
  const NodeId a = AddStep(tree, kRoot, "first\n");
  const NodeId b = AddStep(tree, a, "second\n");
  const NodeId empty = AddStep(tree, b, "\n");
  const auto reader = model.Open();
  model.Read(*reader, tree, {empty});
  EXPECT_EQ(reader->Score(tree, empty).step, reader->Score(tree, b).step);
  EXPECT_EQ(reader->Score(tree, empty).path, reader->Score(tree, b).path);
}

TEST(RewardReaderOneTest, RootIsJudgedAsAnEmptyResponse) {
  TestModel model("skywork_prm");
  Tree tree;
  const auto reader = model.Open();
  model.Read(*reader, tree, {kRoot});
  EXPECT_GT(reader->Score(tree, kRoot).step, 0);
  EXPECT_EQ(reader->Score(tree, kRoot).path, reader->Score(tree, kRoot).step);
}

TEST(RewardReaderOneTest, StepWithTheTagFailsTheQueryByName) {
  TestModel model("qwen_prm");
  Tree tree;
  const NodeId a = AddStep(tree, kRoot, "good\n");
  const NodeId b = AddStep(tree, a, "take <extra_0> of it\n");
  const auto reader = model.Open();
  const auto query = reader->Ask(tree, {b});
  EXPECT_THAT(std::string(query.status().message()),
              testing::HasSubstr("step 2 \"take <extra_0> of it\" contains "
                                 "the tag"));
  model.Read(*reader, tree, {a});  // the rest of the tree is unaffected
}

}  // namespace
}  // namespace espalier
