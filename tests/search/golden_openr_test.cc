// OpenR's searches, node by node.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

// The program reports several answers; our option is `choice`.
const std::map<std::string, std::string> kChoices = {
    {"majority", "majority_vote"},
    {"best", "prm_last_max"},
    {"weighted", "prm_last_vote"}};

// The program requests the root's steps twice and discards the first batch, and
// requests three times where nothing follows.
GoldenRun AskedOnce(GoldenRun run) {
  const std::vector<int> all = run.trace.at("expanded");
  EXPECT_EQ(all.at(0), 0);
  EXPECT_EQ(all.at(1), 0);
  std::map<int, int> asked;
  std::vector<int> once;
  for (size_t i = 1; i < all.size(); ++i) {
    const bool dead =
        run.world.nodes[static_cast<size_t>(all[i])].draws.empty();
    if (!dead || asked[all[i]]++ % 3 == 0) once.push_back(all[i]);
  }
  run.trace["expanded"] = once;
  return run;
}

TEST(GoldenOpenrTest, ItsMctsVisitsWhatTheAuthorsProgramVisits) {
  for (const GoldenRun& given : ReadGolden("openr").runs) {
    const GoldenRun run = AskedOnce(given);
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

TEST(GoldenOpenrTest, ItsPathsMakeTheAnswersThatItReports) {
  for (GoldenRun run : ReadGolden("openr").runs) {
    const std::string method = run.method;
    for (const auto& [choice, name] : kChoices) {
      if (!run.trace.at("answers").contains(name)) continue;  // one path
      run.method = absl::StrCat(method, ":choice=", choice);
      EXPECT_EQ(RunGolden(run).answer,
                run.trace.at("answers").at(name).get<std::string>())
          << run.name << " " << choice;
    }
  }
}

// Among steps of equal score the program's choice depends on its heap's layout:
// for such worlds only the scores of the first step are compared. A beam of one
// step keeps the first of equals.
bool HasTies(const GoldenRun& run) {
  if (run.trace.at("settings").at("beam_size") == 1) return false;
  std::vector<int> parents = {0};
  for (const std::vector<int> kept : run.trace.at("kept")) {
    std::multiset<float> scores;
    for (size_t i = 1; i < run.world.nodes.size(); ++i) {
      const GoldenNode& node = run.world.nodes[i];
      if (std::count(parents.begin(), parents.end(), node.parent) > 0) {
        scores.insert(node.score);
      }
    }
    for (const int node : kept) {
      const float score = run.world.nodes[static_cast<size_t>(node)].score;
      if (scores.count(score) > 1) return true;
    }
    parents = kept;
  }
  return false;
}

// Scores of the nodes at depth one among `nodes`, in their order.
std::vector<float> FirstScores(const GoldenWorld& world,
                               const std::vector<int>& nodes) {
  std::vector<float> scores;
  for (const int node : nodes) {
    const GoldenNode& at = world.nodes[static_cast<size_t>(node)];
    if (at.parent == 0 && !at.terminal) scores.push_back(at.score);
  }
  return scores;
}

TEST(GoldenOpenrTest, ItsBeamKeepsWhatTheAuthorsProgramKeeps) {
  int ties = 0;
  for (const GoldenRun& given : ReadGolden("openr_beam").runs) {
    GoldenRun run = AskedOnce(given);
    const GoldenSearch ours = RunGolden(run);
    if (HasTies(run)) {
      ++ties;
      EXPECT_EQ(FirstScores(run.world, ours.expanded),
                FirstScores(run.world, run.trace.at("kept").at(0)))
          << run.name;
      continue;
    }
    // The kept non-terminal steps are expanded next, in this order.
    ExpectSameTrace(run, ours);
    size_t ends = 0;
    for (const int end : run.trace.at("ends")) {
      ends += run.world.nodes[static_cast<size_t>(end)].terminal ? 1 : 0;
    }
    EXPECT_EQ(SearchDriver(*ours.context).anytime().size(), ends) << run.name;
    if (ends < 2) continue;  // a single end is reported
    const std::string method = run.method;
    for (const auto& [choice, name] : kChoices) {
      if (!run.trace.at("answers").contains(name)) continue;  // none has one
      run.method = absl::StrCat(method, ":choice=", choice);
      EXPECT_EQ(RunGolden(run).answer,
                run.trace.at("answers").at(name).get<std::string>())
          << run.name << " " << choice;
    }
  }
  EXPECT_EQ(ties, 2);
}

}  // namespace
}  // namespace espalier
