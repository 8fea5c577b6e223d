// What a search ranks the nodes of its tree by: the value of a node's path by
// the search's rule (score_rule.h), over the steps that are scored when it is
// asked for.
//
//   PathValues values;
//   tree.SetValue(node, values.Of(tree, node, rule));
//
// A node whose parent was asked for goes on from what the parent's path came
// to, so the values of a path from its first step on take time linear in its
// length (quadratic for "window").
//
// Externally synchronised; belongs to one tree and one rule.
#ifndef ESPALIER_SEARCH_TREE_PATH_VALUES_H_
#define ESPALIER_SEARCH_TREE_PATH_VALUES_H_

#include <cstdint>
#include <vector>

#include "search/tree/score_rule.h"
#include "search/tree/tree.h"

namespace espalier {

class PathValues {
 public:
  // CombineScores of the scored steps from the root to `node`, which is one of
  // them; of the root's own scores if `node` is the root.
  float Of(const Tree& tree, NodeId node, const ScoreRule& rule);

 private:
  // Minimum, product ... of the scores from the root to a node.
  struct Entry {
    float kept = 0;
    uint32_t steps = 0;  // 0: not known, or a step before was not scored
  };
  std::vector<Entry> entries_;  // by node
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_TREE_PATH_VALUES_H_
