#include "src/eval/bench_world.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "search/presets.h"
#include "src/base/files.h"

namespace espalier {
namespace {

// Change it by `espalier bench > docs/results/bench-signature.txt`, in the
// commit that changes what a method decides.
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
  EXPECT_NE(hash("guided"), hash("guided:draft=false"));
  EXPECT_NE(hash("guided"), hash("guided:accept=0"));
}

double Accuracy(const BenchWorld& world, const std::string& method,
                int64_t times, uint64_t problems) {
  const auto algorithm = MakeAlgorithm(method);
  int right = 0;
  for (uint64_t problem = 0; problem < problems; ++problem) {
    const BenchRun run = world.Run(**algorithm, 100 + problem,
                                   times * BenchWorld::kResponseTokens);
    right += run.answer == BenchWorld::RightAnswer();
  }
  return static_cast<double>(right) / static_cast<double>(problems);
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

// What search by step buys at eight times a response's tokens.
TEST(BenchWorldTest, SearchByStepIsAheadOfWholeResponses) {
  const BenchWorld world;
  const double best_of_n = Accuracy(world, "best_of_n", 8, 200);
  const double majority = Accuracy(world, "majority", 8, 200);
  for (const char* method : {"beam", "guided", "puct", "uct", "gumbel"}) {
    const double accuracy = Accuracy(world, method, 8, 200);
    RecordProperty(method, std::to_string(accuracy));
    EXPECT_GT(accuracy, best_of_n) << method;
    EXPECT_GT(accuracy, majority) << method;
  }
}

}  // namespace
}  // namespace espalier
