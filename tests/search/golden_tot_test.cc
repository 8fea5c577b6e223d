// Breadth-first search against Tree of Thoughts.
#include <gtest/gtest.h>

#include "tests/search/golden_world.h"

namespace espalier {
namespace {

// The trace's scores only have the same order as the program's values. Runs
// that select at random need proportional scores.
void ScoreInProportion(GoldenRun& run) {
  const auto& steps = run.trace.at("steps");
  const float verdicts = run.trace.at("settings").at("n_evaluate_sample");
  for (const auto& step : steps) {
    for (size_t i = 0; i < step.at("candidates").size(); ++i) {
      const float value = step.at("values").at(i);
      // The second of two equal candidates has value 0.
      if (value == 0) continue;
      const size_t node = step.at("candidates").at(i);
      run.world.nodes[node].score = value / (20 * verdicts);
      run.world.nodes[node].step_score = value / (20 * verdicts);
    }
  }
}

// The nodes expanded next, in order, are those kept, best first.
TEST(GoldenTotTest, TreeOfThoughtsKeepsTheSameStepsAtEachDepth) {
  GoldenFile file = ReadGolden("tree_of_thoughts");
  EXPECT_EQ(file.runs.size(), 19u);
  for (GoldenRun& run : file.runs) {
    if (!run.random.empty()) ScoreInProportion(run);
    // The first of the program's results may not be a response with an answer.
    const bool answers = !run.trace.at("answer").is_null();
    ExpectSameTrace(run, RunGolden(run), {.answer = answers});
  }
}

}  // namespace
}  // namespace espalier
