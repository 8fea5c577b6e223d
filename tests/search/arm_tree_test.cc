#include "search/bandit/arm_tree.h"

#include <gtest/gtest.h>

#include <string>

#include "search/tree/check_tree.h"

namespace espalier {
namespace {

NodeId AddStep(Tree& tree, NodeId parent, int move, bool terminal = false) {
  const std::string text = std::to_string(move);
  return tree.Add(parent, {.text = text, .terminal = terminal});
}

TEST(ArmTreeTest, AScoreGoesToGenOfItsParentAndToContAndChildAbove) {
  Tree tree;
  ArmTree arms(tree, 10);
  const NodeId a = AddStep(tree, kRoot, 0);
  arms.Observe(kRoot, a, 0.25);
  const NodeId b = AddStep(tree, a, 1);
  arms.Observe(a, b, 0.75);
  const NodeId c = AddStep(tree, b, 2);
  arms.Observe(b, c, 0.5);

  EXPECT_EQ(arms[kRoot].gen.count, 1);
  EXPECT_EQ(arms[kRoot].gen.mean, 0.25);
  EXPECT_EQ(arms[kRoot].cont.count, 2);
  EXPECT_EQ(arms[kRoot].cont.mean, 0.625);
  EXPECT_EQ(arms[a].self.count, 3);
  EXPECT_EQ(arms[a].self.mean, 0.5);
  EXPECT_EQ(arms[a].gen.mean, 0.75);
  EXPECT_EQ(arms[a].cont.mean, 0.5);
  EXPECT_EQ(arms[b].self.count, 2);
  EXPECT_EQ(arms[b].gen.mean, 0.5);
  EXPECT_EQ(arms[b].cont.count, 0);
  EXPECT_EQ(tree[kRoot].visits, 3u);
  EXPECT_EQ(tree[a].visits, 3u);
  EXPECT_EQ(tree[c].visits, 1u);
  EXPECT_FLOAT_EQ(tree[kRoot].q, 0.5f);
  EXPECT_TRUE(CheckTree(tree).ok());
}

TEST(ArmTreeTest, AResponseCountsAsGeneratedAtEachOfItsSteps) {
  Tree tree;
  ArmTree arms(tree, 10);
  const NodeId a = AddStep(tree, kRoot, 0);
  const NodeId b = AddStep(tree, a, 1);
  const NodeId end = AddStep(tree, b, 2, true);
  arms.Observe(kRoot, end, 0.5);
  for (const NodeId id : {kRoot, a, b}) {
    EXPECT_EQ(arms[id].gen.count, 1) << id;
    EXPECT_EQ(arms[id].cont.count, 0) << id;
  }
  EXPECT_EQ(arms[kRoot].open_children, 1u);
  EXPECT_EQ(arms[b].open_children, 0u);
  EXPECT_TRUE(arms[end].closed);
  EXPECT_FALSE(arms[b].closed);
}

TEST(ArmTreeTest, NodesCloseFromTheEndsUpOnceNothingNewComes) {
  Tree tree;
  ArmTree arms(tree, 2);
  const NodeId a = AddStep(tree, kRoot, 0);
  const NodeId end = AddStep(tree, a, 1, true);
  arms.Observe(kRoot, end, 0.5);
  arms.Observe(kRoot, end, 0.5);
  EXPECT_FALSE(arms[a].closed);
  arms.Observe(a, end, 0.5);
  EXPECT_TRUE(arms[a].closed);  // two draws without a new child
  EXPECT_EQ(arms[kRoot].open_children, 0u);
  EXPECT_FALSE(arms[kRoot].closed);
  arms.ObserveNothing(kRoot, false);
  EXPECT_TRUE(arms[kRoot].closed);
}

TEST(ArmTreeTest, ANewChildBelowAClosedNodeReopensItsPath) {
  Tree tree;
  ArmTree arms(tree, 1);
  const NodeId a = AddStep(tree, kRoot, 0);
  const NodeId b = AddStep(tree, a, 0);
  const NodeId end = AddStep(tree, b, 1, true);
  arms.Observe(kRoot, end, 0.5);
  arms.Observe(kRoot, end, 0.5);
  ASSERT_TRUE(arms[kRoot].closed);
  const NodeId other = AddStep(tree, b, 2, true);
  arms.Observe(kRoot, other, 0.5);
  EXPECT_FALSE(arms[b].closed);
  EXPECT_FALSE(arms[b].gen_closed);
  EXPECT_TRUE(arms[a].gen_closed);  // a itself brought no new child
  EXPECT_FALSE(arms[kRoot].closed);
  EXPECT_EQ(arms[kRoot].open_children, 1u);
  EXPECT_EQ(arms[a].open_children, 1u);
  arms.Observe(b, other, 0.5);
  EXPECT_TRUE(arms[kRoot].closed);
}

TEST(ArmTreeTest, ADrawThatBringsNothingLeavesNoScore) {
  Tree tree;
  ArmTree arms(tree, 2);
  arms.ObserveNothing(kRoot, false);
  EXPECT_FALSE(arms[kRoot].closed);
  arms.ObserveNothing(kRoot, false);
  EXPECT_TRUE(arms[kRoot].closed);
  EXPECT_EQ(arms[kRoot].gen.count, 0);
  EXPECT_EQ(tree[kRoot].visits, 0u);
}

TEST(ArmTreeTest, EndlessPatienceGivesUpOnlyWhatBringsNothing) {
  Tree tree;
  ArmTree arms(tree, 0);
  const NodeId a = AddStep(tree, kRoot, 0);
  const NodeId end = AddStep(tree, a, 1, true);
  for (int i = 0; i < 100; ++i) {
    arms.Observe(kRoot, end, 0.5);
    arms.ObserveNothing(a, false);
    if (i % 10 == 9) arms.Observe(a, end, 0.5);
  }
  EXPECT_FALSE(arms[a].closed);
  arms.ObserveNothing(a, true);
  EXPECT_TRUE(arms[a].closed);
  EXPECT_FALSE(arms[kRoot].closed);
  for (int i = 0; i < 16; ++i) arms.ObserveNothing(kRoot, false);
  EXPECT_TRUE(arms[kRoot].closed);
}

}  // namespace
}  // namespace espalier
