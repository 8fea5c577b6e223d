#include "search/parts/transpositions.h"

#include "base/random.h"

namespace espalier {

uint64_t TranspositionTable::Key(const Tree& tree, NodeId node) {
  const uint64_t step = StableHash(tree.text(node));
  if (share_ == Share::kLastStep) return step;
  if (set_sums_.size() < tree.size()) set_sums_.resize(tree.size());
  // A sum, so that the order of the steps does not matter but their number
  // does.
  const NodeId parent = tree.Original(tree[node].parent);
  return set_sums_[node] = set_sums_[parent] + MixHash(step, 1);
}

void TranspositionTable::Enter(Tree& tree, NodeId node) {
  // A node that already has children (forward steps) is not made an alias.
  if (!on() || tree[node].truncated() || tree[node].num_children > 0) return;
  const auto [it, is_new] = first_.emplace(Key(tree, node), node);
  if (is_new || it->second == node) return;
  for (NodeId up = node; up != kNoNode; up = tree[up].parent) {
    if (up == it->second) return;
  }
  tree.MakeAlias(node, it->second);
}

}  // namespace espalier
