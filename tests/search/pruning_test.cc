#include "search/bandit/pruning.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(SubtreePruningTest, FourScoresOfWhichThreeRoundToTheSameArePruned) {
  SubtreePruning pruning(4, 0.75);
  EXPECT_FALSE(pruning.pruned(5));
  pruning.Add(5, 0.501);
  pruning.Add(5, 0.499);
  pruning.Add(5, 0.5);
  EXPECT_FALSE(pruning.pruned(5));  // three scores are too few to prune
  pruning.Add(5, 0.9);
  EXPECT_TRUE(pruning.pruned(5));
  pruning.Add(5, 0.9);
  EXPECT_FALSE(pruning.pruned(5));  // 3 of 5
  EXPECT_FALSE(pruning.pruned(4));
}

}  // namespace
}  // namespace espalier
