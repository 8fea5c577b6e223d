#include <gtest/gtest.h>

#include <cmath>

#include "search/refine/refine_tree.h"
#include "src/base/random.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

TEST(RefineTreeTest, RewardsAreCappedAsPublished) {
  EXPECT_EQ(RefineReward(0), -100);
  EXPECT_EQ(RefineReward(0.5f), 0);
  EXPECT_EQ(RefineReward(0.975f), 95);
  EXPECT_EQ(RefineReward(1), 50);
}

// Worked by hand: rewards 10 and 40 of one answer, then a child of 60.
TEST(RefineTreeTest, ValuesAreTheMeanOfWorstAndMeanAndOfTheBestChild) {
  RefineTree tree(1.4f, 3);
  const int first = tree.Add(-1, 1, 10);
  EXPECT_FLOAT_EQ(tree[first].q, 10);
  tree.Reward(first, 40);
  EXPECT_FLOAT_EQ(tree[first].q, (10 + 25) / 2.0f);
  const int child = tree.Add(first, 2, 60);
  EXPECT_FLOAT_EQ(tree[child].q, 60);
  EXPECT_FLOAT_EQ(tree[first].q, (17.5f + 60) / 2);
  EXPECT_EQ(tree[first].visits, 3);
  EXPECT_FLOAT_EQ(tree.Ucb(child),
                  60 + 1.4f * std::sqrt(std::log(4.0f) / 1.00001f));
  EXPECT_FLOAT_EQ(tree.Ucb(first),
                  38.75f + 1.4f * std::sqrt(std::log(4.0f) / 3.00001f));
}

// The queue against a scan of all answers.
TEST(RefineTreeTest, SelectsTheHighestBoundThatHoldsNow) {
  RandomStream random(StreamKey(8, 0, 0, Purpose::kTest));
  for (int round = 0; round < 20; ++round) {
    RefineTree tree(1.4f, 2);
    tree.Add(-1, 1, 0);
    for (int step = 0; step < 200; ++step) {
      // Few values, so that there are equals.
      const auto reward = static_cast<float>(random.Range(-3, 3));
      const int answer =
          static_cast<int>(random.Below(static_cast<uint32_t>(tree.size())));
      if (random.Below(3) == 0) {
        tree.Reward(answer, reward);
      } else {
        tree.Add(answer, 1, reward);
      }
      int best = -1;
      for (int i = 0; i < tree.size(); ++i) {
        if (tree.Closed(i)) continue;
        if (best < 0 || tree.Ucb(i) > tree.Ucb(best)) best = i;
      }
      ASSERT_EQ(tree.Select(), best) << round << " " << step;
    }
  }
}

TEST(RefineTreeTest, AnAnswerClosesWithThreeChildrenOneOfThemBetter) {
  RefineTree tree(1.4f, 3);
  const int first = tree.Add(-1, 1, 50);
  tree.Add(first, 2, -90);
  tree.Add(first, 3, -80);
  tree.Add(first, 4, -70);
  EXPECT_FALSE(tree.Closed(first));  // none is better
  tree.Add(first, 5, 90);
  EXPECT_TRUE(tree.Closed(first));
  EXPECT_NE(tree.Select(), first);
}

TEST(MctsrTest, TheFirstAnswerIsASampleAndMoreNeverMakeTheBestWorse) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world({.seed = seed, .branching = 3, .depth = 4});
    EXPECT_EQ(RunSearch("mctsr:simulations=1", world).answer,
              RunSearch("sample", world).answer);
    float before = 0;
    for (const int n : {1, 4, 16, 64}) {
      const SearchRun run =
          RunSearch(absl::StrCat("mctsr:simulations=", n), world);
      EXPECT_GE(run.score, before);
      before = run.score;
      EXPECT_EQ(run.usage.simulations, n);
    }
    // 64 rewrites find one of the best leaves of 81.
    EXPECT_GT(before, world[0].mean);
  }
}

}  // namespace
}  // namespace espalier
