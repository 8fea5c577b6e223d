// Global frontier selection against DeepSearch.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

// Off in the published scripts: at every node such a descent adds a visit of
// value 0 for each open child, so visits no longer match what is below a node.
const std::set<std::string> kNotOurs = {
    "backtrace_method uct: back to the root, down by UCT",
};

// A response cut at the program's depth limit is not finished.
void OpenWhatWasCut(GoldenRun& run) {
  const nlohmann::json& nodes = run.trace.at("world").at("nodes");
  for (size_t i = 0; i < nodes.size(); ++i) {
    run.world.nodes[i].terminal &= nodes[i].value("complete", true);
  }
}

// All visits instead of the backup paths: first visits of new children and the
// backup of the end that follows them.
void TakeVisitsFromUpdates(GoldenRun& run) {
  std::vector<std::vector<int>> visits(1);
  for (const auto& update : run.trace.at("updates")) {
    visits.back().push_back(update.at(0));
    if (update.at(0) == 0) visits.emplace_back();
  }
  if (visits.back().empty()) visits.pop_back();
  run.trace["visits"] = visits;
}

TEST(GoldenFrontierTest, DeepSearchGrowsTheSameTree) {
  int compared = 0;
  for (GoldenRun& run : ReadGolden("deepsearch").runs) {
    if (kNotOurs.contains(run.name)) continue;
    OpenWhatWasCut(run);
    TakeVisitsFromUpdates(run);
    const GoldenSearch ours = RunGolden(run);
    // The program collects training data and has no answer.
    ExpectSameTrace(run, ours, {.answer = false});
    ++compared;
  }
  EXPECT_EQ(compared, 19);
}

}  // namespace
}  // namespace espalier
