// Priors of siblings and the small quantities that selection formulas share.
#ifndef ESPALIER_SEARCH_PARTS_PRIOR_H_
#define ESPALIER_SEARCH_PARTS_PRIOR_H_

#include "search/parts/states.h"
#include "search/tree/tree.h"

namespace espalier {

// P = softmax over the children of `parent` of the summed log-probs of their
// tokens (`mean`: of the mean).
void SetPriors(Tree& tree, NodeId parent, bool mean);

// Sum of the priors of visited children.
float VisitedPrior(const Tree& tree, NodeId parent);

// Whether selection may go to the child.
inline bool Open(const Tree& tree, const Node& child) {
  return (child.flags & (kTruncated | kClosed)) == 0 &&
         (child.twin == kNoNode ||
          (tree[child.twin].flags & (kTruncated | kClosed)) == 0);
}

// N(s), finished and in flight. Where states are shared a node is visited by
// other ways than its own parent: 1, the sum over its children, and the visit
// that asks.
inline float StateVisits(const Tree& tree, NodeId id, Share share) {
  const Node& node = tree[id];
  uint32_t n = node.visits + node.in_flight;
  if (share != Share::kNone) {
    n = 2;
    for (const NodeId c : Children(tree, id)) {
      n += tree[c].visits + tree[c].in_flight;
    }
  }
  return static_cast<float>(n);
}

// Q of a visited child, its visits in flight counting as `loss` visits of
// value 0 each.
inline float WithVirtualLoss(const Tree& tree, const Node& child, float loss) {
  const float q = child.twin == kNoNode ? child.q : tree[child.twin].q;
  if (loss == 0 || child.in_flight == 0) return q;
  const float n = static_cast<float>(child.visits);
  return q * n / (n + loss * static_cast<float>(child.in_flight));
}

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_PRIOR_H_
