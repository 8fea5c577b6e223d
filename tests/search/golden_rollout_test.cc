// Tree rollouts against TreePO.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

// Runs that our search does not reproduce, and why.
const std::map<std::string, std::string> kOthersRollouts = {
    {"fall back at random, as it is",
     "the text that the model goes on from is not cut with the response"},
    {"fall back window -1 (as the training script sets it)",
     "the program ends with an error"},
};

// Adjacent copies of a path are one request of our search.
void TakeExpandedFromSteps(GoldenRun& run) {
  std::vector<int> expanded;
  for (const auto& step : run.trace.at("steps")) {
    int last = -1;
    for (const int asked : step.at("asked")) {
      if (asked != last) expanded.push_back(asked);
      last = asked;
    }
  }
  run.trace["expanded"] = expanded;
}

// The program numbers the segments it may cut from the first, our search from
// the last. Its first draw is for the copies of the root.
void CountFromTheEnd(GoldenRun& run) {
  for (size_t i = 1; i < run.random.size(); ++i) {
    run.random[i] = 1 - run.random[i];
  }
}

// If a box alone ends a response, the task's format says so.
void EndAtBoxes(GoldenRun& run) {
  for (GoldenNode& node : run.world.nodes) {
    node.terminal |= absl::StrContains(node.text, "\\boxed");
  }
}

TEST(GoldenRolloutTest, TreePoForksStopsAndFallsBackAtTheSameNodes) {
  int compared = 0;
  for (GoldenRun& run : ReadGolden("tree_po").runs) {
    if (kOthersRollouts.contains(run.name)) continue;
    SCOPED_TRACE(run.name);
    ++compared;
    run.world.segments = true;
    TakeExpandedFromSteps(run);
    if (run.name == "boxed_as_eos") EndAtBoxes(run);
    if (run.name == "recipe: first divergence 2 to 4, fall back at random") {
      CountFromTheEnd(run);
    }
    const GoldenSearch ours = RunGolden(run);
    // The program returns all responses and no answer.
    ExpectSameTrace(run, ours, {.answer = false});
    std::map<int, int> asked;  // requests by node
    for (const auto& step : run.trace.at("steps")) {
      for (const int node : step.at("asked")) ++asked[node];
    }
    for (const auto& [node, times] : asked) {
      const NodeId id = ours.of[static_cast<size_t>(node)];
      ASSERT_NE(id, kNoNode) << node;
      EXPECT_EQ(ours.tree().samples_drawn(id), times) << node;
    }
  }
  EXPECT_EQ(compared, 34);
}

}  // namespace
}  // namespace espalier
