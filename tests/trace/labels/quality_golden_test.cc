// Quality values against those of ReST-MCTS*'s own program for its trees
// (tests/search/golden/rest_mcts_star.json).
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "src/trace/labels/tree_labels.h"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

TEST(QualityValuesTest, AreThoseOfTheProgramThatDefinesThem) {
  int trees = 0, labelled = 0, dropped = 0;
  for (const GoldenRun& run : ReadGolden("rest_mcts_star").runs) {
    const auto& trace = run.trace;
    if (!trace.contains("end_nodes") || !trace.contains("value_samples")) {
      continue;
    }
    const std::vector<int> ends = trace.at("end_nodes");
    const std::vector<bool> correct = trace.at("correct");
    // The nodes that the program created.
    std::set<int> made = {0};
    for (const auto& [key, stats] : trace.at("nodes").items()) {
      made.insert(std::stoi(key));
    }
    StoredTree tree;
    std::map<int, size_t> place;
    for (const int id : made) {
      const GoldenNode& node = run.world.nodes[static_cast<size_t>(id)];
      place[id] = tree.nodes.size();
      tree.nodes.push_back(
          {.parent = id == 0 ? -1 : static_cast<int>(place.at(node.parent)),
           .draws = 1});
    }
    for (size_t i = 0; i < ends.size(); ++i) {
      tree.nodes[place.at(ends[i])].verdict =
          correct[i] ? NodeVerdict::kCorrect : NodeVerdict::kWrong;
    }
    const std::vector<float> values = QualityValues(tree);
    const auto& samples = trace.at("value_samples");
    for (const auto& [id, at] : place) {
      if (id == 0) continue;
      const auto sample = samples.find(std::to_string(id));
      if (sample == samples.end()) {
        EXPECT_TRUE(std::isnan(values[at])) << run.name << " node " << id;
        ++dropped;
      } else {
        EXPECT_NEAR(values[at], sample->get<double>(), 1e-6)
            << run.name << " node " << id;
        ++labelled;
      }
    }
    ++trees;
  }
  EXPECT_GE(trees, 1);
  EXPECT_GT(labelled, 40);
  EXPECT_GT(dropped, 0);
}

}  // namespace
}  // namespace espalier
