#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "search/refine/refine_tree.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

TEST(RefineTreeTest, RewardsAreCappedAsPublished) {
  EXPECT_EQ(RefineReward(0), -100);
  EXPECT_EQ(RefineReward(0.5f), 0);
  EXPECT_FLOAT_EQ(RefineReward(0.97f), 94);
  EXPECT_EQ(RefineReward(0.975f), 50);
  EXPECT_EQ(RefineReward(1), 50);
}

// By hand: one answer with rewards 10 and 40, then a child with 60 and a
// grandchild.
TEST(RefineTreeTest, ValuesAreTheMeanOfWorstAndMeanAndOfTheBestChild) {
  RefineTree tree(1.4, 3);
  const int first = tree.Add(-1, 1, 10);
  tree.Update();
  EXPECT_DOUBLE_EQ(tree[first].ucb, 10);  // ln(0 + 1) = 0
  tree.Reward(first, 40);
  const int child = tree.Add(first, 2, 60);
  tree.Update();
  EXPECT_DOUBLE_EQ(tree[first].q, (10 + 25) / 2.0);
  EXPECT_DOUBLE_EQ(tree[child].q, 60);
  EXPECT_DOUBLE_EQ(tree[first].ucb, (17.5 + 60) / 2);
  EXPECT_DOUBLE_EQ(tree[child].ucb,
                   60 + 1.4 * std::sqrt(std::log(3.0) / 1.00001));
  // An answer whose children all were rewritten keeps its UCB.
  tree.Reward(child, 20);
  tree.Add(child, 3, -50);
  tree.Update();
  EXPECT_DOUBLE_EQ(tree[child].q, 30);
  EXPECT_DOUBLE_EQ(tree[child].ucb,
                   (30 - 50) / 2.0 + 1.4 * std::sqrt(std::log(3.0) / 2.00001));
  EXPECT_DOUBLE_EQ(tree[first].ucb, (17.5 + 60) / 2);
}

// Update's incremental refresh against a sweep of the rules over all answers.
TEST(RefineTreeTest, SelectsTheHighestBoundThatHoldsNow) {
  RandomStream random(StreamKey(8, 0, 0, Purpose::kTest));
  for (int round = 0; round < 20; ++round) {
    RefineTree tree(1.4, 2);
    std::vector<double> ucb;
    tree.Add(-1, 1, 0);
    for (int step = 0; step < 200; ++step) {
      tree.Update();
      ucb.resize(static_cast<size_t>(tree.size()));
      const auto bound = [&](int i, double q) {
        const double above =
            tree[i].parent < 0 ? 0 : tree[tree[i].parent].rewards;
        ucb[static_cast<size_t>(i)] =
            q + 1.4 * std::sqrt(std::log(above + 1) / (tree[i].rewards + 1e-5));
      };
      std::vector<bool> leaf(ucb.size(), true);
      for (int i = 0; i < tree.size(); ++i) {
        if (tree[i].parent >= 0) {
          leaf[static_cast<size_t>(tree[i].parent)] = false;
        }
      }
      for (int i = 0; i < tree.size(); ++i) {
        if (leaf[static_cast<size_t>(i)]) bound(i, tree[i].q);
      }
      int best = -1;
      for (int i = 0; i < tree.size(); ++i) {
        double highest = -INFINITY;
        for (const int rewrite : tree[i].rewrites) {
          highest = std::max(highest, tree[rewrite].q);
        }
        bool over_a_leaf = false;
        for (int child = 0; child < tree.size(); ++child) {
          over_a_leaf |=
              tree[child].parent == i && leaf[static_cast<size_t>(child)];
        }
        if (over_a_leaf) {
          const bool forgot = tree[i].rewrites.empty();
          bound(i, forgot ? tree[i].q : (tree[i].q + highest) / 2);
        }
        ASSERT_EQ(tree[i].ucb, ucb[static_cast<size_t>(i)]) << round << step;
        const bool open = tree[i].rewrites.size() < 2 || highest < tree[i].q;
        if (open && (best < 0 || ucb[static_cast<size_t>(i)] >
                                     ucb[static_cast<size_t>(best)])) {
          best = i;
        }
      }
      ASSERT_EQ(tree.Select(), best) << round << " " << step;
      // Few distinct values, so that there are ties.
      const auto reward = static_cast<double>(random.Range(-3, 3));
      const int answer =
          static_cast<int>(random.Below(static_cast<uint32_t>(tree.size())));
      if (random.Below(3) == 0) {
        tree.Reward(answer, reward);
      } else {
        // Occasionally repeats an existing answer.
        const auto end = static_cast<NodeId>(
            random.Range(1, std::max(4, tree.size() + tree.size() / 8)));
        tree.Add(answer, end, reward);
      }
    }
  }
}

TEST(RefineTreeTest, AnAnswerClosesWithThreeChildrenOneOfThemAsGood) {
  RefineTree tree(1.4, 3);
  const int first = tree.Add(-1, 1, 50);
  tree.Add(first, 2, -90);
  tree.Add(first, 3, -80);
  tree.Add(first, 4, -70);
  tree.Update();
  EXPECT_FALSE(tree.Closed(first));
  tree.Add(first, 5, 50);
  tree.Update();
  EXPECT_TRUE(tree.Closed(first));
  EXPECT_NE(tree.Select(), first);
  // A bad reward of the good one opens it again.
  tree.Reward(4, -90);
  tree.Update();
  EXPECT_FALSE(tree.Closed(first));
  EXPECT_EQ(tree.Select(), first);
}

TEST(MctsrTest, TheFirstAnswerIsASampleAndMoreNeverMakeTheBestWorse) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world({.seed = seed, .branching = 3, .depth = 4});
    EXPECT_EQ(RunSearch("mctsr", world, {.simulations = 1}).answer,
              RunSearch("sample", world).answer);
    float before = 0;
    for (const int n : {1, 4, 16, 64}) {
      const SearchRun run =
          RunSearch(absl::StrCat("mctsr:simulations=", n), world);
      EXPECT_GE(run.score, before);
      before = run.score;
      EXPECT_EQ(run.usage.simulations, n + 1);  // including the first answer
    }
    // 64 rewrites find one of the best of 81 leaves.
    EXPECT_GT(before, world[0].mean);
  }
}

}  // namespace
}  // namespace espalier
