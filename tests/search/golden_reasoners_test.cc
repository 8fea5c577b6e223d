// The searches of LLM Reasoners against what its own programs did, node by
// node.
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

// It asks for steps beyond the limit, too, and has no use for them.
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
    // The end is another strategy's than the answer: the next test's.
    run.trace.erase("answer_node");
    ExpectSameTrace(run, RunGolden(run));
  }
}

TEST(GoldenReasonersTest, RapsBestPathIsTheirs) {
  for (GoldenRun run : ReadGolden("rap").runs) {
    run.method += ":output=max_reward";
    const GoldenSearch ours = RunGolden(run);
    EXPECT_EQ(ours.answer_node, run.trace.at("answer_node")) << run.name;
    EXPECT_EQ(ours.answer, run.trace.at("answers").at("max_reward"))
        << run.name;
    EXPECT_NEAR(SearchDriver(*ours.context).best_score(),
                run.trace.at("best_path_reward").get<double>(), 1e-6)
        << run.name;
  }
}

}  // namespace
}  // namespace espalier
