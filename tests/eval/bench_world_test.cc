#include "src/eval/bench_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/files.h"
#include "search/presets.h"
#include "tests/base/one_thread.h"

namespace espalier {
namespace {

// After a change of a method's decisions, update this in the same commit:
// `espalier bench > docs/results/bench-signature.txt`.
TEST(BenchSignatureTest, EveryMethodDecidesAsTheCommittedLinesSay) {
  const auto signatures = BenchSignatures();
  ASSERT_TRUE(signatures.ok()) << signatures.status();
  const auto wanted = ReadFile("docs/results/bench-signature.txt");
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  EXPECT_EQ(SignatureText(*signatures), *wanted);
}

TEST(BenchSignatureTest, AnOptionThatChangesDecisionsChangesTheHash) {
  const BenchWorld world;
  const auto hash = [&](const std::string& method) {
    uint64_t all = 0;
    for (uint64_t problem = 0; problem < 6; ++problem) {
      const auto run = world.Run(**MakeAlgorithm(method), problem, 240);
      EXPECT_TRUE(run.status.ok()) << run.status;
      all = all * 31 + run.signature;
    }
    return all;
  };
  EXPECT_EQ(hash("puct"), hash("puct"));
  EXPECT_NE(hash("puct"), hash("puct:c1=2"));
  EXPECT_NE(hash("puct:in_flight=4"), hash("puct:in_flight=4:virtual_loss=1"));
  EXPECT_NE(hash("guided"), hash("guided:frequency=0"));
  EXPECT_NE(hash("guided"), hash("guided:draft=true"));
  EXPECT_NE(hash("guided"), hash("guided:accept=0"));
}

TEST(BenchWorldTest, AResponseTakesAsManyTokensAsSaid) {
  const BenchWorld world;
  const auto greedy = MakeAlgorithm("greedy");
  double tokens = 0;
  for (uint64_t problem = 0; problem < 400; ++problem) {
    tokens += static_cast<double>(world.Run(**greedy, problem, 1000).tokens);
  }
  EXPECT_NEAR(tokens / 400, BenchWorld::kResponseTokens, 2);
}

// Update: `espalier bench --ranking > docs/results/bench-ranking.txt`.
TEST(BenchWorldTest, TheOrderOfMethodsIsTheCommittedOne) {
  ESP_ONE_THREAD();
  const auto ranking = BenchRanking();
  ASSERT_TRUE(ranking.ok()) << ranking.status();
  const auto wanted = ReadFile("docs/results/bench-ranking.txt");
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  EXPECT_EQ(RankingText(*ranking), *wanted);
  std::map<std::string, Ranked> by_name;
  for (const Ranked& one : *ranking) by_name[one.method] = one;
  // The gain of step-level search over whole responses.
  int whole_4 = 0, whole_8 = 0;
  for (const char* method : {"greedy", "sample", "majority", "best_of_n",
                             "weighted", "confidence", "deepconf"}) {
    whole_4 = std::max(whole_4, by_name[method].right_at_4);
    whole_8 = std::max(whole_8, by_name[method].right_at_8);
  }
  for (const char* method :
       {"particle_gibbs", "particle", "best_first", "beam", "tot_bfs", "dvts",
        "astar", "td_mcts", "preset=alphazero", "preset=openr"}) {
    EXPECT_GT(by_name[method].right_at_4, whole_4) << method;
    EXPECT_GT(by_name[method].right_at_8, whole_8) << method;
  }
}

}  // namespace
}  // namespace espalier
