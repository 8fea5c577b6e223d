// rStar and rStar-Math, node by node.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "nlohmann/json.hpp"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

// Random choices among unvisited steps are the recorded ones.
TEST(GoldenRstarTest, ItsRolloutsAreThoseOfTheAuthorsProgram) {
  for (const GoldenRun& run : ReadGolden("rstar").runs) {
    ExpectSameTrace(run, RunGolden(run));
  }
}

// The trace lists every update of statistics; ours are compared by rollout.
nlohmann::json UpdatesByRollout(const nlohmann::json& trace) {
  nlohmann::json rollouts = nlohmann::json::array();
  size_t next = 0;
  for (const size_t updates : trace.at("updates_per_rollout")) {
    std::vector<int> nodes;
    for (size_t i = 0; i < updates; ++i) {
      const std::vector<int> path = trace.at("visits").at(next++);
      nodes.insert(nodes.end(), path.begin(), path.end());
    }
    rollouts.push_back(nodes);
  }
  return rollouts;
}

TEST(GoldenRstarTest, ItsMathSearchVisitsWhatTheAuthorsProgramVisits) {
  for (GoldenRun run : ReadGolden("rstar_math").runs) {
    const nlohmann::json& settings = run.trace.at("settings");
    run.trace["visits"] = UpdatesByRollout(run.trace);
    // A rejected step has -1 on any scale of values; in our search it has the
    // lowest value. It is never selected.
    if (!absl::StrContains(run.method, "low=-1")) {
      for (auto& node : run.trace.at("nodes")) {
        if (node.at("q") == -1.0) node["q"] = 0;
      }
    }
    // The program samples steps beyond its limit and rejects them.
    if (settings.at("max_depth") == run.world.max_steps) ++run.world.max_steps;
    // Among ends of equal value the program chooses another.
    const nlohmann::json end = run.trace.at("answer_node");
    run.trace.erase("answer_node");
    const GoldenSearch ours = RunGolden(run);
    ExpectSameTrace(run, ours);
    if (end.is_null()) {
      EXPECT_EQ(ours.answer, "") << run.name;
    } else {
      EXPECT_EQ(ours.nodes.at(ours.answer_node).second,
                ours.nodes.at(end.get<int>()).second)
          << run.name;
    }
    // The nodes never selected again, except those dropped at once.
    const std::vector<int> terminal = run.trace.at("terminal");
    for (const int place : terminal) {
      const NodeId node = ours.of[static_cast<size_t>(place)];
      EXPECT_TRUE(ours.tree()[node].closed()) << run.name << " " << place;
    }
    for (const auto& [key, kept] : run.trace.at("children").items()) {
      const std::vector<int> children = kept;
      const NodeId node = ours.of[std::stoul(key)];
      for (const NodeId c : Children(ours.tree(), node)) {
        const auto place = std::find(ours.of.begin(), ours.of.end(), c);
        const int at = static_cast<int>(place - ours.of.begin());
        const bool open = std::count(terminal.begin(), terminal.end(), at) == 0;
        const bool is_kept =
            std::count(children.begin(), children.end(), at) > 0;
        EXPECT_EQ(ours.tree()[c].closed(), !open || !is_kept)
            << run.name << " " << at;
      }
    }
  }
}

}  // namespace
}  // namespace espalier
