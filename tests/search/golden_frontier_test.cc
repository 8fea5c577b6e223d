// Global frontier selection against what DeepSearch's own program did.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

// Off in its published scripts: every time that such a descent passes a node it
// counts a visit of value 0 for each open child, so that visits are no longer
// those of what lies below.
const std::set<std::string> kNotOurs = {
    "backtrace_method uct: back to the root, down by UCT",
};

// A response that the program cut at its depth limit is no finished one.
void OpenWhatWasCut(GoldenRun& run) {
  const nlohmann::json& nodes = run.trace.at("world").at("nodes");
  for (size_t i = 0; i < nodes.size(); ++i) {
    run.world.nodes[i].terminal &= nodes[i].value("complete", true);
  }
}

// Every visit in the place of the backup paths: first visits of new children
// and the backup of the end that comes after them.
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
    // It collects training data and has no answer.
    ExpectSameTrace(run, ours, {.answer = false});
    ++compared;
  }
  EXPECT_EQ(compared, 19);
}

}  // namespace
}  // namespace espalier
