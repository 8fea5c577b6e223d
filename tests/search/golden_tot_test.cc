// Breadth-first search against what the Tree of Thoughts program did.
#include <gtest/gtest.h>

#include "tests/search/golden_world.h"

namespace espalier {
namespace {

// The trace's scores only rank as the program's values do; where it keeps by
// chance they have to be in proportion.
void ScoreInProportion(GoldenRun& run) {
  const auto& steps = run.trace.at("steps");
  const float verdicts = run.trace.at("settings").at("n_evaluate_sample");
  for (const auto& step : steps) {
    for (size_t i = 0; i < step.at("candidates").size(); ++i) {
      const float value = step.at("values").at(i);
      // The second of equal candidates is worth 0.
      if (value == 0) continue;
      const size_t node = step.at("candidates").at(i);
      run.world.nodes[node].score = value / (20 * verdicts);
      run.world.nodes[node].step_score = value / (20 * verdicts);
    }
  }
}

// What is asked for further steps, in order, is what was kept, best first.
TEST(GoldenTotTest, TreeOfThoughtsKeepsTheSameStepsAtEachDepth) {
  GoldenFile file = ReadGolden("tree_of_thoughts");
  EXPECT_EQ(file.runs.size(), 19u);
  for (GoldenRun& run : file.runs) {
    if (!run.random.empty()) ScoreInProportion(run);
    // The first of what it returns may be no response that has an answer.
    const bool answers = !run.trace.at("answer").is_null();
    ExpectSameTrace(run, RunGolden(run), {.answer = answers});
  }
}

}  // namespace
}  // namespace espalier
