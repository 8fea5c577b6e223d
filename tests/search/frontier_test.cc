// Global frontier selection (DeepSearch) and its constrained backup on known
// trees.
#include <gtest/gtest.h>

#include "search/mcts/frontier_queue.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

const CheckTreeOptions kSigned = {.min_value = -1};

const char* const kSpecs[] = {
    "frontier:width=3:choice=best",
    "frontier:width=3:choice=best:constrained=false:value_weight=0.5",
    "frontier:width=3:choice=best:in_flight=4",
    "frontier:width=3:choice=best:judge=verifier",
};

TEST(FrontierTest, FindsTheBestLeafOnceTheBudgetExceedsTheTree) {
  for (const char* spec : kSpecs) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      const TreeWorld world({.seed = seed,
                             .branching = 3,
                             .depth = 4,
                             .early_leaf = seed % 2 == 0 ? 0.2 : 0,
                             .enumerate = true,
                             .scores = Scores::kLeaf});
      const SearchRun run =
          RunSearch(spec, world, {.seed = seed, .check = kSigned});
      ASSERT_TRUE(run.status.ok()) << run.status;
      EXPECT_EQ(run.answer, world.best_answer()) << spec << " " << seed;
      EXPECT_EQ(run.stop_reason, "");
    }
  }
}

TEST(FrontierTest, ANewStepIsWorthItsScoreOrNothing) {
  for (const bool score : {true, false}) {
    int seen = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      const TreeWorld world({.seed = seed, .scores = Scores::kNoisy});
      const SearchRun run =
          RunSearch(score ? "frontier:width=3:simulations=1"
                          : "frontier:width=3:simulations=1:first_visit=zero",
                    world, {.seed = seed, .check = kSigned});
      const Tree& tree = run.tree();
      for (NodeId id = 1; id < tree.size(); ++id) {
        // Not on the path that was backed up.
        if (tree[id].terminal() || tree[id].visits != 1) continue;
        const float worth = score ? 2 * tree.step(id).path_score - 1 : 0.0f;
        EXPECT_EQ(tree[id].q, worth);
        EXPECT_EQ(tree[id].scored(), score);
        ++seen;
      }
    }
    EXPECT_GT(seen, 20);
  }
}

// With any number of requests in flight the value of a step is its own score,
// counted once, and every end below it.
TEST(FrontierTest, ANewStepCountsItsScoreOnceAndEveryEndBehindIt) {
  int several = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 2,
                           .depth = 6,
                           .early_leaf = 0.2,
                           .scores = Scores::kNoisy});
    const SearchRun run = RunSearch(
        "frontier:width=8:in_flight=32:constrained=false", world,
        {.tokens = 600, .seed = seed, .shuffle = seed, .check = kSigned});
    ASSERT_TRUE(run.status.ok()) << run.status;
    const Tree& tree = run.tree();
    std::vector<double> sums(tree.size(), 0);      // of ends at or below a node
    std::vector<uint32_t> visits(tree.size(), 0);  // visits by those ends
    // Children come after their parents.
    for (NodeId id = tree.size(); id-- > 1;) {
      const double worth =
          2 * static_cast<double>(tree.step(id).path_score) - 1;
      if (tree[id].terminal()) {
        visits[id] = tree[id].visits;
        sums[id] = worth * tree[id].visits;
      }
      visits[tree[id].parent] += visits[id];
      sums[tree[id].parent] += sums[id];
      const bool own = tree.step(id).own_visit;
      const uint32_t all = visits[id] + (own ? 1 : 0);
      EXPECT_EQ(tree[id].visits, all) << seed << " " << id;
      if (all == 0) continue;
      EXPECT_NEAR(tree[id].q, (sums[id] + (own ? worth : 0)) / all, 1e-5)
          << seed << " " << id;
      several += own && all > 2;
    }
  }
  EXPECT_GT(several, 500);
}

TEST(FrontierTest, TheWidthFallsWithTheDepth) {
  const FrontierWidth width{.width = 4, .decay = 1, .least = 2};
  // The width falls by one every 10 / 4 = 2 steps.
  EXPECT_EQ(width.At(0, 10), 4);
  EXPECT_EQ(width.At(1, 10), 4);
  EXPECT_EQ(width.At(2, 10), 3);
  EXPECT_EQ(width.At(9, 10), 2);
  // If the width exceeds the depth every step lowers it.
  EXPECT_EQ(width.At(1, 3), 3);
  // 64 steps at most: from the third on two samples per node.
  const FrontierWidth steep{.width = 32, .decay = 30, .least = 2};
  int narrow = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const TreeWorld world({.seed = seed, .branching = 4, .depth = 6});
    const SearchRun run =
        RunSearch("frontier:width=32:width_decay=30:least_width=2", world,
                  {.tokens = 300, .seed = seed, .check = kSigned});
    ASSERT_TRUE(run.status.ok()) << run.status;
    for (NodeId id = 0; id < run.tree().size(); ++id) {
      const int depth = run.tree().step(id).depth;
      EXPECT_LE(run.tree().samples_drawn(id), steep.At(depth, 64));
      narrow += depth > 1 && run.tree().samples_drawn(id) == 2;
    }
  }
  EXPECT_GT(narrow, 20);
}

TEST(FrontierTest, RegretFallsWithTheBudget) {
  const auto regret =
      RegretCurve(kSpecs[0], {12, 40, 120, 400}, {.check = kSigned});
  EXPECT_LT(regret[3], 0.02);
  EXPECT_LE(regret[3], regret[1] + 1e-6);
  EXPECT_LE(regret[1], regret[0] + 0.05);
}

TEST(FrontierTest, TheOrderOfRepliesChangesNothing) {
  for (const char* spec : kSpecs) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      const TreeWorld world(
          {.seed = seed, .early_leaf = 0.2, .scores = Scores::kNoisy});
      const SearchRun run =
          RunSearch(spec, world, {.tokens = 90, .check = kSigned});
      for (uint64_t shuffle = 1; shuffle <= 5; ++shuffle) {
        const SearchRun other = RunSearch(
            spec, world, {.tokens = 90, .shuffle = shuffle, .check = kSigned});
        ASSERT_EQ(other.tree_text, run.tree_text) << spec;
        EXPECT_EQ(other.answer, run.answer);
      }
    }
  }
}

TEST(FrontierTest, RandomWorldsAndSmallBudgetsLeaveConsistentTrees) {
  for (const char* spec : kSpecs) {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      RandomStream random(StreamKey(seed, 0, 0, Purpose::kTest));
      const TreeWorld world({.seed = seed,
                             .branching = random.Range(1, 4),
                             .depth = random.Range(1, 5),
                             .early_leaf = 0.15,
                             .scores = Scores::kNoisy});
      const SearchRun run = RunSearch(
          spec, world,
          {.tokens = random.Range(1, 150), .seed = seed, .check = kSigned});
      EXPECT_TRUE(run.status.ok()) << run.status;
    }
  }
}

TEST(FrontierTest, APolicyThatSaysNothingOrIsCutEndsTheSearch) {
  const TreeWorld world({});
  for (const bool cut : {false, true}) {
    RunLimits limits{.tokens = 100, .check = kSigned};
    limits.reply = [&](const Tree& tree, const SearchRequest& request) {
      SearchCompletion reply = world.Reply(tree, request);
      for (SampledStep& sample : reply.samples) sample.truncated = true;
      if (!cut) reply.samples.clear();
      return reply;
    };
    for (const char* spec : kSpecs) {
      const SearchRun run = RunSearch(spec, world, limits);
      EXPECT_TRUE(run.status.ok());
      EXPECT_EQ(run.answer, "");
    }
  }
}

}  // namespace
}  // namespace espalier
