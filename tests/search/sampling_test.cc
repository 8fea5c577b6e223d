#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/search/tree_world.h"

namespace espalier {
namespace {

// A response as drawn by the methods `greedy`, `sample` ...
struct Drawn {
  int leaf = 0;
  float score = 0;
};

// The responses of a search in order. Samples of a place are numbered over the
// whole search, so a second visit draws new ones.
std::vector<Drawn> Draw(const TreeWorld& world, const SearchRun& run, int n,
                        float temperature) {
  std::map<int, int> asked;
  std::map<int, uint64_t> hashes;
  const Tree& tree = run.tree();
  for (NodeId id = 0; id < tree.size(); ++id) {
    hashes[world.Find(tree, id)] = tree.path_hash(id);
  }
  std::vector<Drawn> drawn;
  for (int i = 0; i < n; ++i) {
    int place = 0;
    while (!world[place].children.empty()) {
      const StreamKey stream(1, StableHash("?"), hashes.at(place),
                             Purpose::kSample);
      const int move = world.Move(place, stream, asked[place]++, temperature);
      place = world[place].children[static_cast<size_t>(move)];
    }
    drawn.push_back({place, world.Score(place)});
  }
  return drawn;
}

TEST(SamplingTest, EachMethodReturnsWhatAPlainLoopReturns) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world({.seed = seed, .branching = 3, .depth = 3});
    const SearchRun greedy = RunSearch("greedy", world);
    EXPECT_EQ(greedy.answer, world.Answer(Draw(world, greedy, 1, 0)[0].leaf));
    const SearchRun sample = RunSearch("sample", world);
    EXPECT_EQ(sample.answer, world.Answer(Draw(world, sample, 1, 1)[0].leaf));

    const SearchRun majority = RunSearch("majority:n=12", world);
    std::map<int, int> counts;
    int most = 0;
    const auto drawn = Draw(world, majority, 12, 1);
    for (const Drawn& d : drawn) most = std::max(most, ++counts[d.leaf]);
    const auto first =
        std::find_if(drawn.begin(), drawn.end(),
                     [&](const Drawn& d) { return counts[d.leaf] == most; });
    EXPECT_EQ(majority.answer, world.Answer(first->leaf));

    const SearchRun best = RunSearch("best_of_n:n=12", world);
    const auto scored = Draw(world, best, 12, 1);
    const auto top = std::max_element(
        scored.begin(), scored.end(),
        [](const Drawn& a, const Drawn& b) { return a.score < b.score; });
    EXPECT_EQ(best.answer, world.Answer(top->leaf));

    const SearchRun weighted = RunSearch("weighted:n=12", world);
    std::map<int, double> sums;
    double highest = 0;
    for (const Drawn& d : Draw(world, weighted, 12, 1)) {
      highest = std::max(highest, sums[d.leaf] += d.score);
    }
    EXPECT_EQ(
        weighted.answer,
        world.Answer(
            std::find_if(sums.begin(), sums.end(), [&](const auto& entry) {
              return entry.second == highest;
            })->first));
  }
}

}  // namespace
}  // namespace espalier
