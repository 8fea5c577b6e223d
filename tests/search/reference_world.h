// Repeats a search's draws for plain reference loops in tests.
//
//   const SearchRun run = RunSearch("sample", world);
//   ReferenceWorld plain(world, run);
//   int place = 0;
//   while (!plain.Leaf(place)) place = plain.Next(place, 1);
//   EXPECT_EQ(run.answer, world.Answer(place));
//
// Samples of a place are numbered over the whole search, including greedy ones,
// so a loop that requests in the order of the search gets the same samples.
#ifndef ESPALIER_TESTS_SEARCH_REFERENCE_WORLD_H_
#define ESPALIER_TESTS_SEARCH_REFERENCE_WORLD_H_

#include <map>
#include <utility>
#include <vector>

#include "tests/search/tree_world.h"

namespace espalier {

class ReferenceWorld {
 public:
  ReferenceWorld(const TreeWorld& world, const SearchRun& run)
      : world_(world), root_hash_(run.tree().path_hash(kRoot)) {
    for (NodeId id = 0; id < run.tree().size(); ++id) {
      hashes_[world.Find(run.tree(), id)] = run.tree().path_hash(id);
    }
  }

  bool Leaf(int place) const { return world_[place].children.empty(); }
  float Score(int place) const { return world_.Score(place); }
  // ln p of the single token that leads to a place.
  double LogProb(int place) const {
    const auto& p = world_[place];
    return world_[p.parent].logprobs[static_cast<size_t>(p.move)];
  }
  // The next sample of a step after `place`.
  int Next(int place, float temperature) {
    const StreamKey stream(1, StableHash("?"), hashes_.at(place),
                           Purpose::kSample);
    const int move = world_.Move(place, stream, asked_[place]++, temperature);
    ++tokens_;
    return world_[place].children[static_cast<size_t>(move)];
  }
  // The place after `steps` greedy steps; each is drawn only once.
  int Greedy(int place, int steps) {
    for (; steps > 0 && !Leaf(place); --steps) {
      if (!greedy_.contains(place)) greedy_[place] = Next(place, 0);
      place = greedy_[place];
    }
    return place;
  }
  // Tokens drawn so far, one per step: the usage expected of the search.
  int64_t tokens() const { return tokens_; }
  // The random stream of a search's own choices.
  RandomStream Choices() const {
    return RandomStream(
        StreamKey(1, StableHash("?"), root_hash_, Purpose::kSelect));
  }

 private:
  const TreeWorld& world_;
  uint64_t root_hash_;
  std::map<int, uint64_t> hashes_;
  std::map<int, int> asked_;
  std::map<int, int> greedy_;
  int64_t tokens_ = 0;
};

// `votes` are leaves with weights, in order. Returns the answer with the
// highest sum, the first of equals; "" without votes.
inline std::string HighestSum(const TreeWorld& world,
                              const std::vector<std::pair<int, float>>& votes) {
  std::map<int, double> sums;
  for (const auto& [leaf, weight] : votes) sums[leaf] += weight;
  std::string answer;
  double highest = -1;
  for (const auto& [leaf, weight] : votes) {
    if (sums[leaf] <= highest) continue;
    highest = sums[leaf];
    answer = world.Answer(leaf);
  }
  return answer;
}

}  // namespace espalier

#endif  // ESPALIER_TESTS_SEARCH_REFERENCE_WORLD_H_
