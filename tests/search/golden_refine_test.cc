// MCTSr (MathBlackBox) against its authors' program.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "search/refine/refine_tree.h"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

// Replays one run on RefineTree: the judge's rewards and the model's rewrites
// come from the trace, the rest is computed here.
class Replay {
 public:
  explicit Replay(const GoldenRun& run) : run_(run), tree_(1.4, 3) {}

  void Play() {
    Write(-1, 1);
    Write(-1, 2);
    tree_.Update();
    if (run_.trace.contains("start")) Compare(run_.trace.at("start"), "start");
    int count = 0;
    for (const auto& iteration : run_.trace.at("iterations")) {
      const std::string what = absl::StrCat("iteration ", ++count);
      EXPECT_EQ(Open(), absl::StrJoin(
                            iteration.at("open").get<std::vector<int>>(), " "))
          << what;
      const int selected = tree_.Select();
      ASSERT_EQ(Name(selected), iteration.at("selected").get<int>()) << what;
      tree_.Reward(selected, Judge(Name(selected)));
      Write(selected, iteration.at("written"));
      tree_.Update();
      // The program stops before the update if a rewrite is right.
      if (iteration.contains("q")) Compare(iteration, what);
    }
    for (const auto& [key, stats] : run_.trace.at("nodes").items()) {
      const RefineTree::Answer& a = tree_[of_.at(std::stoi(key))];
      EXPECT_EQ(a.rewards, stats.at("n").get<int>()) << key;
      EXPECT_NEAR(a.q, stats.at("q").get<double>(), 1e-7) << key;
    }
  }

 private:
  int Name(int answer) const { return static_cast<int>(tree_[answer].end); }
  double Judge(int name) {
    const auto& nodes = run_.trace.at("world").at("nodes");
    return CutReward(
        nodes.at(static_cast<size_t>(name)).at("rewards").at(asked_[name]++));
  }
  void Write(int parent, int name) {
    of_[name] = tree_.Add(parent, static_cast<NodeId>(name), Judge(name));
    written_.push_back(name);
  }
  std::string Open() const {
    std::vector<int> open;
    for (const int name : written_) {
      if (!tree_.Closed(of_.at(name))) open.push_back(name);
    }
    return absl::StrJoin(open, " ");
  }
  // Q and UCB of every answer so far.
  void Compare(const nlohmann::json& record, const std::string& what) {
    EXPECT_EQ(record.at("q").size(), static_cast<size_t>(tree_.size()));
    for (const auto& q : record.at("q")) {
      EXPECT_NEAR(tree_[of_.at(q.at(0))].q, q.at(1).get<double>(), 1e-7)
          << what << ": Q of " << q.at(0);
    }
    for (const auto& ucb : record.at("ucb")) {
      EXPECT_NEAR(tree_[of_.at(ucb.at(0))].ucb, ucb.at(1).get<double>(), 1e-7)
          << what << ": UCB of " << ucb.at(0);
    }
  }

  const GoldenRun& run_;
  RefineTree tree_;
  std::map<int, int> of_;        // name of an answer -> its index
  std::map<int, size_t> asked_;  // how often an answer was judged
  std::vector<int> written_;
};

TEST(GoldenRefineTest, MctsrHoldsTheSameBoundsAndSelectsTheSameAnswers) {
  for (const GoldenRun& run : ReadGolden("llama_berry").runs) {
    SCOPED_TRACE(run.name);
    Replay(run).Play();
  }
}

// The whole method, where the program's judge always returns the same reward
// for an answer. Each rewrite is another response, in order of writing, and the
// second root is forced.
TEST(GoldenRefineTest, MctsrJudgesAndRewritesInTheSameOrder) {
  int compared = 0;
  for (GoldenRun run : ReadGolden("llama_berry").runs) {
    if (run.name != "equal rewards") continue;
    ++compared;
    for (size_t i = 1; i < run.world.nodes.size(); ++i) {
      GoldenNode& node = run.world.nodes[i];
      node.parent = 0;
      node.text =
          i == 2 ? "I do not know.\n" : absl::StrCat("answer ", i, "\n");
      node.terminal = i != 2;
      node.draws.clear();
    }
    run.world.nodes[0].draws.clear();
    for (size_t i = 1; i < run.world.nodes.size(); ++i) {
      if (i != 2) run.world.nodes[0].draws.push_back(static_cast<int>(i));
    }
    // Our search also counts visits of the prompt, and both roots as one
    // simulation.
    std::vector<std::vector<int>> visits = run.trace.at("visits");
    visits[0].push_back(visits[1][0]);
    visits.erase(visits.begin() + 1);
    for (std::vector<int>& places : visits) {
      places.insert(places.begin(), places.size(), 0);
    }
    run.trace["visits"] = visits;
    const GoldenSearch ours = RunGolden(run);
    ExpectSameTrace(run, ours,
                    {.expanded = false, .nodes = false, .answer = false});
    for (const auto& [key, stats] : run.trace.at("nodes").items()) {
      EXPECT_EQ(ours.nodes.at(std::stoi(key)).first, stats.at("n").get<int>());
    }
  }
  EXPECT_EQ(compared, 1);
}

}  // namespace
}  // namespace espalier
