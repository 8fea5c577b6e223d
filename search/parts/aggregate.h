// The value of a tree's path by a rule (search/tree/score_rule.h).
//
//   PathScores scores(ctx.tree(), Level::kPath, Aggregate::kMin);
//   if (scores.Of(a) > scores.Of(b)) ...
#ifndef ESPALIER_SEARCH_PARTS_AGGREGATE_H_
#define ESPALIER_SEARCH_PARTS_AGGREGATE_H_

#include <vector>

#include "search/tree/score_rule.h"
#include "search/tree/tree.h"

namespace espalier {

// CombineScores of the steps from the root to `node`, all of which are scored.
float AggregatePath(const Tree& tree, NodeId node, Level level,
                    Aggregate aggregate);

// The same for the nodes of one tree, each computed from its parent's: querying
// every node of a path is linear in its length (quadratic for "window"). Scores
// never change once set, so cached values stay valid. Externally synchronised;
// the tree outlives it.
class PathScores {
 public:
  PathScores(const Tree& tree, Level level, Aggregate aggregate)
      : tree_(tree), level_(level), aggregate_(aggregate) {}
  // AggregatePath of `node`, bit for bit.
  float Of(NodeId node);

 private:
  struct Entry {
    float kept = 0;      // minimum, product ... of the scores on the path
    uint32_t steps = 0;  // on the path; 0: not known yet
  };
  const Tree& tree_;
  const Level level_;
  const Aggregate aggregate_;
  std::vector<Entry> entries_;  // by node
  std::vector<NodeId> way_;     // scratch space of Of
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_AGGREGATE_H_
