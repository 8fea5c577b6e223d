// What a TreeWorld's policy will sample next at a place, for plain reference
// loops of search methods.
//
//   WorldDraws draws(world, run.tree(), 1);
//   int child = draws.Next(0);  // the search's next sample of place 0
//
// Knows the places that the tree contains.
#ifndef ESPALIER_TESTS_SEARCH_WORLD_DRAWS_H_
#define ESPALIER_TESTS_SEARCH_WORLD_DRAWS_H_

#include <map>
#include <vector>

#include "tests/search/tree_world.h"

namespace espalier {

class WorldDraws {
 public:
  WorldDraws(const TreeWorld& world, const Tree& tree, float temperature)
      : world_(world), temperature_(temperature) {
    for (NodeId id = 0; id < tree.size(); ++id) {
      hashes_[world.Find(tree, id)] = tree.path_hash(id);
    }
  }
  // The place reached by the next sample of `place`, for RunLimits::seed 1.
  int Next(int place) {
    const StreamKey stream(1, StableHash("?"), hashes_.at(place),
                           Purpose::kSample);
    const int move = world_.Move(place, stream, asked_[place]++, temperature_);
    return world_[place].children[static_cast<size_t>(move)];
  }
  // The distinct places of the next `n` samples, in order of the first draw.
  std::vector<int> Distinct(int place, int n) {
    std::vector<int> places;
    for (int i = 0; i < n; ++i) {
      const int next = Next(place);
      bool known = false;
      for (const int p : places) known |= p == next;
      if (!known) places.push_back(next);
    }
    return places;
  }
  bool IsLeaf(int place) const { return world_[place].children.empty(); }

 private:
  const TreeWorld& world_;
  const float temperature_;
  std::map<int, uint64_t> hashes_;
  std::map<int, int> asked_;
};

}  // namespace espalier

#endif  // ESPALIER_TESTS_SEARCH_WORLD_DRAWS_H_
