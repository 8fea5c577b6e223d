// The searches of LLM Reasoners, node by node.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/search/golden_world.h"

namespace espalier {
namespace {

int DepthOf(const GoldenWorld& world, int node) {
  int depth = 0;
  for (; node > 0; node = world.nodes[static_cast<size_t>(node)].parent) {
    ++depth;
  }
  return depth;
}

// The program also requests steps beyond the limit, without using them.
GoldenRun WithinTheLimit(GoldenRun run) {
  std::vector<int> expanded;
  for (const int node : run.trace.at("expanded")) {
    if (DepthOf(run.world, node) < run.world.max_steps) {
      expanded.push_back(node);
    }
  }
  run.trace["expanded"] = expanded;
  return run;
}

TEST(GoldenReasonersTest, RapVisitsWhatTheAuthorsProgramVisits) {
  for (const GoldenRun& given : ReadGolden("rap").runs) {
    GoldenRun run = WithinTheLimit(given);
    // The end belongs to another strategy than the answer; see the next test.
    run.trace.erase("answer_node");
    ExpectSameTrace(run, RunGolden(run));
  }
}

TEST(GoldenReasonersTest, RapsBestPathIsTheirs) {
  for (GoldenRun run : ReadGolden("rap").runs) {
    run.method += ":output=max_reward";
    const GoldenSearch ours = RunGolden(run);
    if (run.trace.at("answer_node").is_null()) {
      EXPECT_EQ(ours.answer_node, -1) << run.name;
      continue;
    }
    // The program's best path may end without an answer; ours never does.
    const auto& theirs = run.trace.at("answers").at("max_reward");
    if (theirs.is_null() || theirs == "") continue;
    EXPECT_EQ(ours.answer_node, run.trace.at("answer_node")) << run.name;
    EXPECT_EQ(ours.answer,
              run.trace.at("answers").at("max_reward").get<std::string>())
        << run.name;
    EXPECT_NEAR(SearchDriver(*ours.context).best_score(),
                run.trace.at("best_path_reward").get<double>(), 1e-6)
        << run.name;
  }
}

// A path cut by the step limit or without an answer may be the program's answer
// and is never ours: expects the best of its ends that are responses with an
// answer, the first of equals.
void ExpectBestResponse(const GoldenRun& run, const GoldenSearch& ours) {
  const std::vector<int> ends = run.trace.at("ends");
  const std::vector<double> rewards = run.trace.at("end_rewards");
  ASSERT_EQ(ends.size(), rewards.size());
  int best = -1;
  size_t responses = 0;
  double highest = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    const GoldenNode& end = run.world.nodes[static_cast<size_t>(ends[i])];
    responses += end.terminal ? 1 : 0;
    if (end.answer.empty()) continue;
    if (best >= 0 && rewards[i] <= highest) continue;
    best = ends[i];
    highest = rewards[i];
  }
  const SearchDriver driver(*ours.context);
  EXPECT_EQ(driver.anytime().size(), responses) << run.name;
  if (best < 0) {
    EXPECT_EQ(ours.answer, "") << run.name;
    return;
  }
  EXPECT_EQ(ours.answer_node, best) << run.name;
  EXPECT_NEAR(driver.best_score(), highest, 1e-5) << run.name;
  const GoldenNode& end = run.world.nodes[static_cast<size_t>(best)];
  EXPECT_EQ(ours.answer, end.answer) << run.name;
}

TEST(GoldenReasonersTest, TheBeamKeepsWhatTheAuthorsProgramKeeps) {
  for (const GoldenRun& run : ReadGolden("reasoners_beam").runs) {
    const GoldenSearch ours = RunGolden(run);
    // The kept non-terminal steps are expanded next, in this order.
    ExpectSameTrace(run, ours, {.answer = false});
    ExpectBestResponse(run, ours);
  }
}

TEST(GoldenReasonersTest, TheDepthFirstSearchGoesWhereTheAuthorsProgramGoes) {
  for (const GoldenRun& run : ReadGolden("reasoners_dfs").runs) {
    const GoldenSearch ours = RunGolden(run);
    ExpectSameTrace(run, ours, {.answer = false});
    ExpectBestResponse(run, ours);
  }
}

}  // namespace
}  // namespace espalier
