// Searches by values against what their authors' programs did, node by node.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "search/tree/check_tree.h"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

bool Below(const GoldenRun& run, int node, int above) {
  while (node > above) node = run.world.nodes[static_cast<size_t>(node)].parent;
  return node == above;
}

// The nodes whose steps ReST-MCTS* asked for, its roll-outs' among them unless
// they are greedy.
std::vector<int> AskedByMctsStar(const GoldenRun& run) {
  const std::vector<int> expanded = run.trace.at("expanded");
  const bool greedy = run.trace.at("settings").contains("rollout_samples");
  std::vector<int> asked;
  size_t next = 0;
  for (size_t i = 0; i < run.trace.at("visits").size(); ++i) {
    std::vector<int> path = run.trace.at("visits")[i];
    const nlohmann::json& rolled = run.trace.at("rolled")[i];
    if (!rolled.is_null()) path.pop_back();
    if (next < expanded.size() && expanded[next] == path.back()) {
      asked.push_back(expanded[next++]);
    }
    if (rolled.is_null() || greedy) continue;
    for (const int at : rolled.at("path")) asked.push_back(at);
  }
  EXPECT_EQ(next, expanded.size()) << run.name;
  return asked;
}

TEST(GoldenRestMctsStarTest, VisitsValuesAndAnswersAreThoseOfTheProgram) {
  for (const GoldenRun& run : ReadGolden("rest_mcts_star").runs) {
    // The model is asked there whether unfinished paths solve the problem,
    // which no search of ours does.
    if (run.trace.at("settings").at("use_reflection") == "common") continue;
    const GoldenSearch ours = RunGolden(run);
    const nlohmann::json& answer = run.trace.at("answer");
    const bool trains = answer.is_null();
    // A tree for training holds labels in place of values.
    const bool labelled =
        !run.trace.value("value_samples", nlohmann::json()).empty() && trains;
    EXPECT_EQ(ours.expanded, AskedByMctsStar(run)) << run.name;
    ExpectSameTrace(run, ours,
                    {.expanded = false, .nodes = !labelled, .answer = false});
    EXPECT_TRUE(CheckTree(ours.tree()).ok()) << run.name;
    if (trains) continue;
    // The program asks for a summary of the path that it chose; ours carries
    // the path on to its end, which is where it answers.
    EXPECT_EQ(ours.answer, answer.get<std::string>()) << run.name;
    const int chosen = run.trace.at("answer_node");
    if (!run.trace.at("settings").contains("weighted_verify")) {
      EXPECT_TRUE(Below(run, ours.answer_node, chosen))
          << run.name << ": " << ours.answer_node << " below " << chosen;
    }
  }
}

}  // namespace
}  // namespace espalier
