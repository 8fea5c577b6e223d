#include "src/trace/labels/compress_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "src/trace/labels/tree_labels.h"
#include "tests/trace/labels/small_tree.h"

namespace espalier {
namespace {

// A node with four children below the root, the first of which goes on.
struct ByHand {
  SmallTree tree;
  int a = tree.Add(0, "a\n");
  int b[4];
  int right, wrong;

  ByHand() {
    for (int i = 0; i < 4; ++i) {
      b[i] = tree.Add(a, std::string(1, static_cast<char>('p' + i)) + "\n",
                      i == 3 ? NodeVerdict::kWrong : NodeVerdict::kNotAsked);
    }
    right = tree.Add(b[0], "= 1\n", NodeVerdict::kCorrect, 3);
    wrong = tree.Add(b[0], "= 2\n", NodeVerdict::kWrong);
    tree.Add(b[1], "= 1\n", NodeVerdict::kCorrect);
    tree.Add(b[2], "= 2\n", NodeVerdict::kWrong);
  }
};

TEST(CompressTreeTest, OneChildOfFourMovesUpWithItsParentsText) {
  const ByHand hand;
  std::map<int, int> chosen;  // how often each child is the merged one
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomStream random(StreamKey(seed, 0, 0, Purpose::kTest));
    const CompressedTree out = CompressTree(hand.tree.tree, random);
    ASSERT_EQ(out.tree.nodes.size(), hand.tree.tree.nodes.size());
    int merged = -1;
    for (size_t i = 0; i < out.merged.size(); ++i) {
      if (!out.merged[i]) continue;
      EXPECT_EQ(merged, -1) << "two of one node";
      merged = static_cast<int>(i);
    }
    ++chosen[merged];
    const auto before = CountOutcomes(hand.tree.tree);
    const auto after = CountOutcomes(out.tree);
    for (size_t i = 1; i < out.tree.nodes.size(); ++i) {
      const int node = static_cast<int>(i);
      // Responses stay what they were, as do the ends below every node but the
      // one that lost a child.
      EXPECT_EQ(out.tree.Response(i), hand.tree.tree.Response(i));
      if (node != hand.a) {
        EXPECT_EQ(after[i].finished, before[i].finished);
      }
      if (node == merged) {
        EXPECT_EQ(out.tree.nodes[i].parent, 0);
        EXPECT_EQ(out.tree.Text(i).substr(0, 2), "a\n");
        EXPECT_EQ(out.tree.Tokens(i).size(), 4u);
      } else {
        EXPECT_EQ(out.tree.nodes[i].parent, hand.tree.tree.nodes[i].parent);
        EXPECT_EQ(out.tree.Text(i), hand.tree.tree.Text(i));
      }
    }
    if (merged == hand.b[0]) {
      // By hand: 3 of 4 ends below the window are right, 1 of 3 below the rest.
      EXPECT_EQ(after[static_cast<size_t>(merged)].share(), 0.75f);
      EXPECT_EQ(after[static_cast<size_t>(hand.a)].correct, 1u);
      EXPECT_EQ(after[static_cast<size_t>(hand.a)].finished, 3u);
    }
  }
  // The i-th child with probability 2^-i, none with 1/16; three standard
  // deviations.
  const int nodes[] = {hand.b[0], hand.b[1], hand.b[2], hand.b[3], -1};
  const double expected[] = {200, 100, 50, 25, 25};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(chosen[nodes[i]], expected[i], 31) << i;
  }
}

TEST(CompressTreeTest, FewChildrenTheRootAndMergedNodesStay) {
  SmallTree few;
  const int a = few.Add(0, "a\n");
  for (int i = 0; i < 3; ++i) few.Add(a, "b\n", NodeVerdict::kCorrect);
  SmallTree root;
  for (int i = 0; i < 6; ++i) root.Add(0, "a\n", NodeVerdict::kWrong);
  // Below the node that may be merged, one that has four children itself.
  SmallTree deep;
  const int top = deep.Add(0, "a\n");
  int below[4];
  for (int& b : below) b = deep.Add(top, "b\n");
  for (const int b : below) {
    for (int i = 0; i < 4; ++i) deep.Add(b, "c\n", NodeVerdict::kWrong);
  }
  for (uint64_t seed = 0; seed < 40; ++seed) {
    RandomStream random(StreamKey(seed, 1, 0, Purpose::kTest));
    for (const SmallTree* tree : {&few, &root}) {
      const CompressedTree out = CompressTree(tree->tree, random);
      for (const bool merged : out.merged) EXPECT_FALSE(merged);
    }
    const CompressedTree out = CompressTree(deep.tree, random);
    for (size_t i = 1; i < out.merged.size(); ++i) {
      if (!out.merged[i]) continue;
      // Two steps at most, never three.
      EXPECT_EQ(out.tree.Text(i).size(), 4u);
    }
  }
}

}  // namespace
}  // namespace espalier
