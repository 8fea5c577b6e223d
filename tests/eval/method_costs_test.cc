#include "src/eval/method_costs.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"

namespace espalier {
namespace {

// Google Benchmark 1.7 output, shortened.
constexpr char kWritten[] = R"json({
  "context": {"num_cpus": 2},
  "benchmarks": [
    {"name": "BM_EveryMethod/puct/real_time", "label": "puct",
     "run_type": "iteration", "steps_per_s": 1000000.0},
    {"name": "BM_EveryMethod/puct/again", "label": "puct",
     "run_type": "iteration", "steps_per_s": 10.0},
    {"name": "BM_EveryMethod/mcts_star/real_time_mean", "label": "mcts_star",
     "run_type": "aggregate", "aggregate_name": "mean", "steps_per_s": 1.0},
    {"name": "BM_EveryMethod/mcts_star/real_time_median", "label": "mcts_star",
     "run_type": "aggregate", "aggregate_name": "median",
     "steps_per_s": 250000.0},
    {"name": "BM_Puct/sims:8000", "run_type": "iteration", "sims_per_s": 5.0},
    {"name": "BM_Nodes", "run_type": "iteration", "steps_per_s": 3.0}
  ]})json";

TEST(MethodCostsTest, RowsAreMethodsByLabel) {
  const auto costs = ParseMethodCosts(kWritten, "a test");
  ASSERT_TRUE(costs.ok()) << costs.status();
  ASSERT_EQ(costs->size(), 2u);
  EXPECT_DOUBLE_EQ(costs->at("puct").microseconds, 1);       // the first row
  EXPECT_DOUBLE_EQ(costs->at("mcts_star").microseconds, 4);  // the median
}

TEST(MethodCostsTest, AMissingFileHasNoCosts) {
  const auto costs = ReadMethodCosts("/no/such/file.json");
  ASSERT_TRUE(costs.ok());
  EXPECT_TRUE(costs->empty());
}

TEST(MethodCostsTest, OtherTextIsRefused) {
  for (const char* text : {"", "[]", "{}", "{\"benchmarks\": 3}"}) {
    const auto costs = ParseMethodCosts(text, "costs.json");
    ASSERT_FALSE(costs.ok()) << text;
    EXPECT_TRUE(absl::StrContains(costs.status().message(), "costs.json"));
  }
}

}  // namespace
}  // namespace espalier
