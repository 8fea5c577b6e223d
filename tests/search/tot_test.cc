#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/search/world_draws.h"

namespace espalier {
namespace {

// The voting leaves, in order, of `rounds` passes of breadth-first search.
std::vector<int> Breadth(const TreeWorld& world, const SearchRun& run,
                         int n_select, int branch, int rounds) {
  WorldDraws draws(world, run.tree(), 0.7f);
  std::vector<int> votes;
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> kept = {0};
    while (!kept.empty()) {
      std::vector<int> steps;
      for (const int place : kept) {
        for (const int next : draws.Distinct(place, branch)) {
          steps.push_back(next);
        }
      }
      std::sort(steps.begin(), steps.end(),
                [&](int a, int b) { return world.Score(a) > world.Score(b); });
      if (static_cast<int>(steps.size()) > n_select) {
        steps.resize(static_cast<size_t>(n_select));
      }
      kept.clear();
      for (const int step : steps) {
        (draws.IsLeaf(step) ? votes : kept).push_back(step);
      }
    }
  }
  return votes;
}

// The leaf with the highest sum of scores.
int Weighted(const TreeWorld& world, const std::vector<int>& votes) {
  std::map<int, double> sums;
  int best = -1;
  for (const int leaf : votes) sums[leaf] += world.Score(leaf);
  for (const int leaf : votes) {  // the first of equals
    if (best < 0 || sums[leaf] > sums[best]) best = leaf;
  }
  return best;
}

TEST(TotBfsTest, ReturnsWhatAPlainLoopReturns) {
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 4,
                           .depth = 4,
                           .early_leaf = 0.15,
                           .scores = Scores::kMean});
    const SearchRun run =
        RunSearch("tot_bfs:n_select=3:branch=4:rounds=3", world);
    const std::vector<int> votes = Breadth(world, run, 3, 4, 3);
    EXPECT_EQ(run.answer, world.Answer(Weighted(world, votes))) << seed;
    EXPECT_EQ(run.anytime.size(), votes.size()) << seed;
  }
}

// Leaves in depth-first order.
void Depth(const TreeWorld& world, WorldDraws& draws, int place, int branch,
           float threshold, std::vector<int>& votes) {
  if (draws.IsLeaf(place)) {
    votes.push_back(place);
    return;
  }
  std::vector<int> steps = draws.Distinct(place, branch);
  std::sort(steps.begin(), steps.end(),
            [&](int a, int b) { return world.Score(a) > world.Score(b); });
  for (const int step : steps) {
    if (world.Score(step) < threshold) continue;
    Depth(world, draws, step, branch, threshold, votes);
  }
}

TEST(TotDfsTest, VisitsByValueAboveTheThresholdAndBacktracks) {
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 4,
                           .depth = 4,
                           .early_leaf = 0.15,
                           .scores = Scores::kNoisy});
    const SearchRun run =
        RunSearch("tot_dfs:branch=3:threshold=0.45:finish=false", world);
    WorldDraws draws(world, run.tree(), 0.7f);
    std::vector<int> votes;
    Depth(world, draws, 0, 3, 0.45f, votes);
    EXPECT_EQ(run.usage.simulations, static_cast<int64_t>(votes.size()));
    EXPECT_EQ(run.answer.empty(), votes.empty());
    if (votes.empty()) continue;
    EXPECT_EQ(run.answer, world.Answer(Weighted(world, votes))) << seed;
    const SearchRun first =
        RunSearch("tot_dfs:branch=3:threshold=0.45:ends=1", world);
    EXPECT_EQ(first.answer, world.Answer(votes[0])) << seed;
  }
}

}  // namespace
}  // namespace espalier
