// Priors of siblings and small quantities that selection formulas share.
#ifndef ESPALIER_SEARCH_PARTS_PRIOR_H_
#define ESPALIER_SEARCH_PARTS_PRIOR_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "search/parts/transpositions.h"
#include "search/tree/tree.h"

namespace espalier {

// P = softmax over the children of `parent` of the summed log-probs of their
// tokens (`mean`: of the mean).
void SetPriors(Tree& tree, NodeId parent, bool mean);

// Sum of the priors of visited children.
float VisitedPrior(const Tree& tree, NodeId parent);

// True if selection may go to a child that stands for `state`.
inline bool Open(const Node& child, const Node& state) {
  return ((child.flags | state.flags) & (kTruncated | kClosed)) == 0;
}
inline bool Open(const Tree& tree, NodeId child) {
  return Open(tree[child], tree[tree.Original(child)]);
}

// The open child of `parent` with the highest `score(child, edge, state)`, the
// first of equals; kNoNode if none is open. `edge` holds the visits through
// `parent`; `state` is the node the child stands for, the same node unless it
// is an alias. Prefetches that child's children.
template <class Score>
NodeId PickHighest(const Tree& tree, NodeId parent, const Score& score) {
  using Value = std::invoke_result_t<Score, NodeId, const Node&, const Node&>;
  NodeId best = kNoNode;
  Value highest = -std::numeric_limits<Value>::infinity();
  ForEachChild(tree, parent, [&](NodeId child) {
    const Node& edge = tree[child];
    const Node& state = edge.alias ? tree[tree.Original(child)] : edge;
    if (!Open(edge, state)) return;
    const Value value = score(child, edge, state);
    // Branch-free: which child wins cannot be predicted.
    best = value > highest ? child : best;
    highest = std::max(value, highest);
  });
  if (best != kNoNode) tree.PrefetchChildren(tree.Original(best));
  return best;
}

// N(s), finished and in flight, without the current visit: 0 on the first
// descent through a node. With shared states a node is also visited through
// other parents: 1 plus the sum over its children.
inline uint32_t StateVisits(const Tree& tree, NodeId id, Share share) {
  const Node& node = tree[id];
  uint32_t n = node.visits + node.in_flight - 1;
  if (share != Share::kNone) {
    n = 1;
    for (const NodeId c : Children(tree, id)) {
      n += tree[c].visits + tree[c].in_flight;
    }
  }
  return n;
}

// q of a child (state), with each of its visits in flight counting as `loss`
// visits of value 0.
inline float WithVirtualLoss(const Node& edge, const Node& state, float loss) {
  if (loss == 0 || edge.in_flight == 0) return state.q;
  const float n = static_cast<float>(edge.visits);
  return state.q * n / (n + loss * static_cast<float>(edge.in_flight));
}
inline float WithVirtualLoss(const Tree& tree, NodeId child, float loss) {
  return WithVirtualLoss(tree[child], tree[tree.Original(child)], loss);
}

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_PRIOR_H_
