// Reward models of published formats on LibTorch: against the independent
// computation of each format.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "search/tree/tree.h"
#include "src/engine/load_reward_model.h"
#include "src/engine/reward_reader.h"
#include "tests/models/testing/published_reward.h"
#include "tests/models/testing/reward_checkpoint.h"

namespace espalier {
namespace {

class TorchRewardTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Devices, TorchRewardTest,
                         testing::Values("torch-cpu", "cuda"),
                         [](const auto& device) {
                           return device.param == "cuda" ? "Cuda" : "Processor";
                         });

TEST_P(TorchRewardTest, ScoresEqualThePublishedComputation) {
  constexpr char kQuestion[] = "What is 2+3?";
  Executor executor(1);
  for (const std::string& name : OneReadingNames()) {
    const RewardCheckpoint checkpoint = WriteRewardCheckpoint(name, 21);
    auto model = LoadRewardModel(
        checkpoint.folder, ReadRewardFormat(name).value(),
        {.device = GetParam(), .kv_bytes = 16 << 20, .weights = "fp32"},
        executor);
    if (absl::IsFailedPrecondition(model.status())) {
      GTEST_SKIP() << model.status().message();
    }
    ASSERT_TRUE(model.ok()) << name << model.status();
    Tree tree;
    const NodeId a = tree.Add(kRoot, {.text = "2+3 = 5\n"});
    const NodeId b = tree.Add(a, {.text = "So it is 5.\n"});
    const NodeId c = tree.Add(a, {.text = "So it is 6.\n"});
    auto reader =
        RewardReader::Open(*model->scorer, *model->model.backend, kQuestion);
    ASSERT_TRUE(reader.ok()) << name << reader.status();
    const auto query = (*reader)->Ask(tree, {a, b, c});
    ASSERT_TRUE(query.ok()) << name << query.status();
    model->model.backend->Submit({.id = 1, .body = query->request});
    std::vector<Completion> done;
    while (model->model.backend->Step(done)) {
    }
    ASSERT_TRUE(done[0].status.ok()) << name << done[0].status;
    (*reader)->Take(query->nodes, done[0].rows);
    const PublishedReward published(name, checkpoint);
    const auto expect = [&](NodeId node, std::vector<std::string> steps) {
      if (published.outcome() && steps.size() == 2) {
        steps = {steps[0] + "\n" + steps[1]};
      }
      // These read the response as it was written.
      if (name == "prorag" || name == "laser") {
        steps = {std::string(tree.Response(node))};
      }
      EXPECT_NEAR((*reader)->Score(tree, node).step,
                  published.Score(kQuestion, steps), 1e-4)
          << name;
    };
    expect(a, {"2+3 = 5"});
    expect(b, {"2+3 = 5", "So it is 5."});
    expect(c, {"2+3 = 5", "So it is 6."});
  }
}

}  // namespace
}  // namespace espalier
