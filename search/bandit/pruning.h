// Which subtrees have become repetitive (AB-MCTS-M, TreeQuest): those with at
// least `least` scores of which at least a share of `share` are the same,
// rounded to hundredths, half to even.
//
// Externally synchronised.
#ifndef ESPALIER_SEARCH_BANDIT_PRUNING_H_
#define ESPALIER_SEARCH_BANDIT_PRUNING_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "search/tree/tree.h"

namespace espalier {

class SubtreePruning {
 public:
  SubtreePruning(int least, double share) : least_(least), share_(share) {}

  // Adds a score to the subtree of `id`.
  void Add(NodeId id, double score);
  bool pruned(NodeId id) const;

 private:
  struct Bin {
    int hundredths;
    int count;
  };
  struct Scores {
    absl::InlinedVector<Bin, 4> bins;  // in order of first appearance
    int total = 0;
    int most = 0;  // the largest count of a bin
  };
  int least_;
  double share_;
  std::vector<Scores> scores_;  // by node
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_BANDIT_PRUNING_H_
