#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/search/tree_world.h"

namespace espalier {
namespace {

std::vector<NodeId> Forced(const SearchRun& run) {
  std::vector<NodeId> forced;
  for (NodeId id = 0; id < run.tree().size(); ++id) {
    if (run.tree().text(id) == "Wait\n") forced.push_back(id);
  }
  return forced;
}

TEST(BudgetForcingTest, EachWordStandsInThePlaceOfTheAnswerBefore) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world(
        {.seed = seed, .branching = 3, .depth = 4, .early_leaf = 0.2});
    const SearchRun run = RunSearch("budget_forcing:times=3:temperature=1",
                                    world, {.seed = seed});
    ASSERT_TRUE(run.status.ok()) << run.status;
    const Tree& tree = run.tree();
    const std::vector<NodeId> forced = Forced(run);
    ASSERT_EQ(forced.size(), 3u);
    std::vector<NodeId> ends;
    for (const AnytimeAnswer& at : run.anytime) ends.push_back(at.node);
    ASSERT_EQ(ends.size(), 4u);
    for (size_t i = 0; i < forced.size(); ++i) {
      EXPECT_EQ(tree[forced[i]].parent, tree[ends[i]].parent);
      EXPECT_TRUE(tree[ends[i]].terminal());
      // All that follows is below the word.
      const std::vector<NodeId> path = tree.Path(ends[i + 1]);
      EXPECT_NE(std::find(path.begin(), path.end(), forced[i]), path.end());
      EXPECT_EQ(tree.step(forced[i]).logprob, 0);
    }
    EXPECT_EQ(run.node, ends.back());
    EXPECT_EQ(run.usage.simulations, 4);
  }
}

TEST(BudgetForcingTest, TheFirstResponseIsTheGreedyOne) {
  const TreeWorld world({.seed = 5});
  const SearchRun once = RunSearch("budget_forcing:times=1", world);
  const SearchRun greedy = RunSearch("greedy", world);
  EXPECT_EQ(once.tree().answer_text(once.anytime[0].answer), greedy.answer);
}

TEST(BudgetForcingTest, AWordThatSaysNothingIsRefused) {
  const auto algorithm = MakeAlgorithm("budget_forcing", {{"word", ""}});
  EXPECT_TRUE(absl::IsInvalidArgument(algorithm.status()));
}

TEST(BudgetForcingTest, WithoutANumberTheBudgetEndsIt) {
  const TreeWorld world({.seed = 7, .depth = 3});
  for (const int64_t tokens : {2, 3, 4, 7, 40}) {
    const SearchRun run =
        RunSearch("budget_forcing:times=0", world, {.tokens = tokens});
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_LE(run.usage.tokens, tokens);
    EXPECT_EQ(run.answer.empty(), tokens < 3) << tokens;
  }
}

}  // namespace
}  // namespace espalier
