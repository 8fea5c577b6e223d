// Value-guided searches against their authors' programs, node by node:
// mcts_star, td_mcts, vm_mcts, sample_mcts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "search/tree/check_tree.h"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

bool Below(const GoldenRun& run, int node, int above) {
  while (node > above) node = run.world.nodes[static_cast<size_t>(node)].parent;
  return node == above;
}

// The nodes whose steps ReST-MCTS* requested, including those of rollouts
// unless greedy.
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
  for (GoldenRun& run : ReadGolden("rest_mcts_star").runs) {
    // With reflection the model is asked whether a path solves the problem; if
    // it says yes the path is not continued. In our search that is a terminal,
    // recognised by its text.
    const nlohmann::json& nodes = run.trace.at("world").at("nodes");
    for (size_t i = 0; i < nodes.size(); ++i) {
      run.world.nodes[i].terminal |= nodes[i].value("says_solved", false);
    }
    const GoldenSearch ours = RunGolden(run);
    const nlohmann::json& answer = run.trace.at("answer");
    const bool trains = answer.is_null();
    // A tree for training has labels instead of values.
    const bool labelled =
        !run.trace.value("value_samples", nlohmann::json()).empty() && trains;
    EXPECT_EQ(ours.expanded, AskedByMctsStar(run)) << run.name;
    ExpectSameTrace(run, ours,
                    {.expanded = false, .nodes = !labelled, .answer = false});
    EXPECT_TRUE(CheckTree(ours.tree()).ok()) << run.name;
    if (trains) continue;
    // The program requests a summary of the chosen path; our search continues
    // the path to its end and takes the answer there.
    EXPECT_EQ(ours.answer, answer.get<std::string>()) << run.name;
    const int chosen = run.trace.at("answer_node");
    if (!run.trace.at("settings").contains("weighted_verify")) {
      EXPECT_TRUE(Below(run, ours.answer_node, chosen))
          << run.name << ": " << ours.answer_node << " below " << chosen;
    }
  }
}

// The program's paths do not include a child's first visit, made at its
// creation.
void DropFirstVisits(GoldenSearch& ours) {
  std::set<int> seen = {0};
  for (std::vector<int>& visits : ours.visits) {
    std::erase_if(visits, [&](int node) { return seen.insert(node).second; });
  }
}

TEST(GoldenX1Test, VisitsValuesAndPathsAreThoseOfTheProgram) {
  for (const GoldenRun& run : ReadGolden("x1").runs) {
    GoldenSearch ours = RunGolden(run);
    DropFirstVisits(ours);
    // In the trace completions are not expansions.
    const bool plain = !run.trace.contains("simulated");
    ExpectSameTrace(run, ours, {.expanded = plain});
    // Values of at least `lowest`.
    EXPECT_TRUE(CheckTree(ours.tree(), {.min_value = -1}).ok()) << run.name;
  }
}

int ParentOf(const GoldenRun& run, int node) {
  return run.world.nodes[static_cast<size_t>(node)].parent;
}

// ReST-RL's requests and visits in our terms. Each step of a completion is a
// separate request. An iteration makes as many visits as it adds to the nodes
// of its path; a new child already has one for every completion through it,
// unless completions are what is backed up.
void ExpectSameCompletions(const GoldenRun& run, const GoldenSearch& ours) {
  const nlohmann::json& trace = run.trace;
  const nlohmann::json& settings = trace.at("settings");
  const bool by_first_step = settings.at("rm_type") == "prm";
  std::vector<int> asked;
  std::vector<std::vector<int>> visits;
  size_t expansion = 0;
  for (size_t i = 0; i < trace.at("visits").size(); ++i) {
    const std::vector<int> path = trace.at("visits")[i];
    std::vector<int> visited;
    for (const int node : path) {
      visited.insert(visited.end(), trace.at("added")[i][0], node);
    }
    if (!run.world.nodes[static_cast<size_t>(path.back())].terminal) {
      ASSERT_EQ(trace.at("expanded")[expansion], path.back()) << run.name;
      for (int end : trace.at("ends")[expansion]) {
        std::vector<int> steps;
        for (; ParentOf(run, end) != path.back(); end = ParentOf(run, end)) {
          steps.push_back(ParentOf(run, end));
        }
        asked.push_back(path.back());
        asked.insert(asked.end(), steps.rbegin(), steps.rend());
        if (by_first_step) visited.push_back(end);
      }
      ++expansion;
    }
    std::sort(visited.begin(), visited.end());
    visits.push_back(visited);
  }
  EXPECT_EQ(ours.expanded, asked) << run.name;
  EXPECT_EQ(ours.visits, visits) << run.name;
  for (const int node : trace.at("hidden")) {
    const NodeId dropped = ours.of[static_cast<size_t>(node)];
    EXPECT_TRUE(ours.tree()[dropped].closed()) << run.name << " " << node;
  }
}

TEST(GoldenRestRlTest,
     CompletionsValuesAndAnswersOfDecodingAreThoseOfTheProgram) {
  for (const GoldenRun& run : ReadGolden("rest_rl_decode").runs) {
    const GoldenSearch ours = RunGolden(run);
    ExpectSameTrace(run, ours, {.expanded = false, .visits = false});
    ExpectSameCompletions(run, ours);
    EXPECT_TRUE(CheckTree(ours.tree()).ok()) << run.name;
  }
}

TEST(GoldenRestRlTest, CompletionsAndValuesOfCollectingAreThoseOfTheProgram) {
  for (const GoldenRun& run : ReadGolden("rest_rl_collect").runs) {
    const GoldenSearch ours = RunGolden(run);
    // The program has no answer.
    ExpectSameTrace(run, ours,
                    {.expanded = false, .visits = false, .answer = false});
    ExpectSameCompletions(run, ours);
    EXPECT_TRUE(CheckTree(ours.tree()).ok()) << run.name;
  }
}

TEST(GoldenTreequestTest, StandardMctsVisitsAsTheProgram) {
  for (const GoldenRun& run : ReadGolden("treequest_mcts").runs) {
    const GoldenSearch ours = RunGolden(run);
    ExpectSameTrace(run, ours, {.expanded = false, .answer = false});
    EXPECT_TRUE(CheckTree(ours.tree()).ok()) << run.name;
    // The program requests the samples of a node one by one.
    const nlohmann::json& settings = run.trace.at("settings");
    const int samples = settings.at("samples_per_action").get<int>() *
                        settings.value("actions", 1);
    std::vector<int> expanded;
    for (size_t i = 0; i < run.trace.at("expanded").size();
         i += static_cast<size_t>(samples)) {
      expanded.push_back(run.trace.at("expanded")[i]);
    }
    EXPECT_EQ(ours.expanded, expanded) << run.name;
    // The program's nodes are whole answers, so none of them is an end.
    EXPECT_EQ(ours.answer_node, run.trace.at("answer_node")) << run.name;
  }
}

}  // namespace
}  // namespace espalier
