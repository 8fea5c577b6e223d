// Gumbel MuZero and PUCT against mctx, node by node: gumbel, puct.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "search/mcts/gumbel_formulas.h"
#include "search/tree/check_tree.h"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

const GoldenNode& At(const GoldenRun& run, int node) {
  return run.world.nodes[static_cast<size_t>(node)];
}

// The child of the root that is `node` or its ancestor.
int ActionOf(const GoldenRun& run, int node) {
  while (At(run, node).parent > 0) node = At(run, node).parent;
  return node;
}

// The improved policy at the root, from the final state of `ours`.
std::vector<float> PolicyAtTheRoot(const GoldenRun& run,
                                   const GoldenSearch& ours,
                                   const std::vector<int>& children) {
  const nlohmann::json& settings = run.trace.at("settings");
  const float root = At(run, 0).score;
  std::vector<GumbelAction> actions;
  float most = 0;
  for (const int c : children) {
    GumbelAction action{.q = settings.value("use_mixed_value", true) ? NAN
                                                                     : root};
    for (const float logprob : At(run, c).logprobs) action.logit += logprob;
    const auto visited = ours.nodes.find(c);
    if (visited != ours.nodes.end()) {
      action.visits = static_cast<float>(visited->second.first);
      action.q = static_cast<float>(visited->second.second);
    }
    most = std::max(most, action.visits);
    actions.push_back(action);
  }
  return ImprovedPolicy(actions,
                        SigmaQ(CompletedQ(actions, root), most,
                               settings.value("maxvisit_init", 50.0f),
                               settings.value("value_scale", 0.1f),
                               settings.value("rescale_values", true)));
}

TEST(GoldenMctxTest, GumbelSearchVisitsAndActsAsTheProgram) {
  int answered = 0;
  for (GoldenRun run : ReadGolden("gumbel_muzero").runs) {
    // The program's Gumbel noise of each action, as the uniform that produces
    // it.
    for (const double g :
         run.trace.at("settings").value("gumbel", std::vector<double>())) {
      run.random.push_back(std::exp(-std::exp(-g)));
    }
    const GoldenSearch ours = RunGolden(run);
    ExpectSameTrace(run, ours, {.answer = false});
    EXPECT_TRUE(CheckTree(ours.tree()).ok()) << run.name;
    std::vector<int> children;
    for (const auto& [child, weight] : run.trace.at("action_weights").items()) {
      children.push_back(std::stoi(child));
    }
    std::sort(children.begin(), children.end());
    const auto policy = PolicyAtTheRoot(run, ours, children);
    for (size_t i = 0; i < children.size(); ++i) {
      EXPECT_NEAR(policy[i],
                  run.trace.at("action_weights")
                      .at(std::to_string(children[i]))
                      .get<double>(),
                  1e-4)
          << run.name;
    }
    // The program answers with an action, our search with a response below it.
    if (ours.answer_node < 0) continue;
    ++answered;
    EXPECT_EQ(ActionOf(run, ours.answer_node), run.trace.at("chosen"))
        << run.name;
  }
  EXPECT_GE(answered, 4);
}

// The published tree has no actions below nodes visited once, but our search
// needs some there.
void FollowEveryLeaf(GoldenRun& run) {
  const size_t size = run.world.nodes.size();
  for (size_t i = 1; i < size; ++i) {
    GoldenNode& node = run.world.nodes[i];
    if (node.terminal || !node.draws.empty()) continue;
    node.draws = {static_cast<int>(run.world.nodes.size())};
    run.world.nodes.push_back(
        {.parent = static_cast<int>(i), .text = "?\n", .logprobs = {0}});
  }
}

TEST(GoldenMctxTest, PuctVisitsAsTheProgram) {
  for (GoldenRun run : ReadGolden("alphazero").runs) {
    FollowEveryLeaf(run);
    const GoldenSearch ours = RunGolden(run);
    ExpectSameTrace(run, ours, {.answer = false});
    EXPECT_TRUE(CheckTree(ours.tree()).ok()) << run.name;
  }
}

}  // namespace
}  // namespace espalier
