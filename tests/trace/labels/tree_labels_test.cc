#include "src/trace/labels/tree_labels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/random.h"
#include "tests/trace/labels/small_tree.h"

namespace espalier {
namespace {

// prompt - a - b = correct
//        \   \ c = wrong, drawn three times
//         \ d - e (cut)
StoredTree Small() {
  SmallTree tree;
  const int a = tree.Add(0, "a\n");
  tree.Add(a, "= b\n", NodeVerdict::kCorrect);
  tree.Add(a, "= c\n", NodeVerdict::kWrong, 3);
  const int d = tree.Add(0, "d\n");
  tree.Cut(d, "e");
  return tree.tree;
}

TEST(TreeLabelsTest, SharesCountDrawsAndLeaveOutWhatWasCut) {
  const auto counts = CountOutcomes(Small());
  EXPECT_EQ(counts[1].correct, 1u);
  EXPECT_EQ(counts[1].finished, 4u);
  EXPECT_FLOAT_EQ(counts[1].share(), 0.25f);
  EXPECT_EQ(counts[0].finished, 4u);
  EXPECT_TRUE(std::isnan(counts[4].share()));
  EXPECT_TRUE(std::isnan(counts[5].share()));
}

// By hand: a is two steps from the end, v = 0 + (1 - 0) / 2; b = 1/2 + 1/2 / 1;
// c takes a's m = 2: 1/2 - (1/2) / 2. Below d nothing is graded: no label.
TEST(TreeLabelsTest, QualityValuesByHand) {
  const auto v = QualityValues(Small());
  EXPECT_FLOAT_EQ(v[0], 0);
  EXPECT_FLOAT_EQ(v[1], 0.5f);
  EXPECT_FLOAT_EQ(v[2], 1);
  EXPECT_FLOAT_EQ(v[3], 0.25f);
  EXPECT_TRUE(std::isnan(v[4]));
  EXPECT_TRUE(std::isnan(v[5]));
}

TEST(TreeLabelsTest, ATreeWithoutACorrectEndHasNoQuality) {
  SmallTree tree;
  tree.Add(0, "= 1\n", NodeVerdict::kWrong);
  for (const float v : QualityValues(tree.tree)) EXPECT_TRUE(std::isnan(v));
  EXPECT_FLOAT_EQ(CountOutcomes(tree.tree)[0].share(), 0);
}

// Brute force over random trees: walks down from every node.
TEST(TreeLabelsTest, AgreesWithTheDefinitionOnRandomTrees) {
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  for (int round = 0; round < 200; ++round) {
    SmallTree small;
    for (int i = rng.Range(1, 40); i > 0; --i) {
      const auto parent =
          static_cast<int>(rng.Below(static_cast<uint32_t>(small.size())));
      if (small.tree.nodes[static_cast<size_t>(parent)].terminal()) continue;
      const auto verdict = static_cast<NodeVerdict>(rng.Below(3));
      small.Add(parent, std::to_string(i), verdict, rng.Range(1, 3));
    }
    const StoredTree& tree = small.tree;
    const auto counts = CountOutcomes(tree);
    const auto values = QualityValues(tree);
    const auto children = tree.ChildLists();
    // (steps to a correct end, or 0; correct; finished)
    struct Below {
      int to_end = 0;
      uint32_t correct = 0, finished = 0;
    };
    const std::function<Below(size_t)> walk = [&](size_t i) {
      Below b;
      const StoredNode& node = tree.nodes[i];
      if (node.verdict != NodeVerdict::kNotAsked) b.finished = node.draws;
      if (node.verdict == NodeVerdict::kCorrect) {
        b.correct = node.draws;
        b.to_end = 1;
      }
      for (const size_t c : children[i]) {
        const Below below = walk(c);
        b.correct += below.correct;
        b.finished += below.finished;
        if (below.to_end > 0 &&
            (b.to_end == 0 || below.to_end + 1 < b.to_end)) {
          b.to_end = below.to_end + 1;
        }
      }
      return b;
    };
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
      const Below b = walk(i);
      EXPECT_EQ(counts[i].correct, b.correct);
      EXPECT_EQ(counts[i].finished, b.finished);
      if (walk(0).to_end == 0 || (i > 0 && walk(i).finished == 0)) {
        EXPECT_TRUE(std::isnan(values[i]));
        continue;
      }
      double v = 0;
      int m = walk(0).to_end;
      for (const size_t step : tree.Path(i)) {
        const int to_end = walk(step).to_end;
        if (to_end > 0) m = to_end;
        const double w = (1 - v) / m;
        v = std::max(0.0, to_end > 0 ? v + w : v - w);
      }
      EXPECT_NEAR(values[i], v, 1e-6);
      EXPECT_LE(values[i], 1.0f);
      if (tree.nodes[i].verdict == NodeVerdict::kCorrect) {
        EXPECT_NEAR(values[i], 1, 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace espalier
