// OpenR's searches against what its own program did, node by node.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

// The program asks for the root's steps twice and throws the first lot away.
GoldenRun WithoutFirstLot(GoldenRun run) {
  auto& expanded = run.trace.at("expanded");
  EXPECT_EQ(expanded.at(0), 0);
  EXPECT_EQ(expanded.at(1), 0);
  expanded.erase(0);
  return run;
}

TEST(GoldenOpenrTest, ItsMctsVisitsWhatTheAuthorsProgramVisits) {
  for (const GoldenRun& given : ReadGolden("openr").runs) {
    const GoldenRun run = WithoutFirstLot(given);
    const GoldenSearch ours = RunGolden(run);
    ExpectSameTrace(run, ours);
    for (const auto& [key, theirs] : run.trace.at("priors").items()) {
      std::vector<float> priors;
      const NodeId node = ours.of[std::stoul(key)];
      for (const NodeId c : Children(ours.tree(), node)) {
        priors.push_back(ours.tree()[c].prior);
      }
      const std::vector<float> expected = theirs;
      ASSERT_EQ(priors.size(), expected.size()) << run.name << " " << key;
      for (size_t i = 0; i < priors.size(); ++i) {
        EXPECT_NEAR(priors[i], expected[i], 1e-5) << run.name << " " << key;
      }
    }
  }
}

// It reports several; ours are the option `choice`.
TEST(GoldenOpenrTest, ItsPathsMakeTheAnswersThatItReports) {
  const std::map<std::string, std::string> choices = {
      {"majority", "majority_vote"},
      {"best", "prm_last_max"},
      {"weighted", "prm_last_vote"}};
  for (GoldenRun run : ReadGolden("openr").runs) {
    const std::string method = run.method;
    for (const auto& [choice, name] : choices) {
      run.method = absl::StrCat(method, ":choice=", choice);
      EXPECT_EQ(RunGolden(run).answer, run.trace.at("answers").at(name))
          << run.name << " " << choice;
    }
  }
}

}  // namespace
}  // namespace espalier
