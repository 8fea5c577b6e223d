#include "search/parts/close.h"

namespace espalier {

bool AllChildrenClosed(const Tree& tree, NodeId node) {
  for (const NodeId c : Children(tree, tree.Original(node))) {
    if (tree[c].truncated()) continue;
    if (!tree[tree.Original(c)].closed()) return false;
  }
  return true;
}

void MarkProved(Tree& tree, absl::Span<const NodeId> path) {
  for (const NodeId id : path) {
    tree[id].flags |= kProved;
    tree[tree.Original(id)].flags |= kProved;
  }
}

void Settle(Tree& tree, absl::Span<const NodeId> path, float value) {
  const Node& settled = tree[path.back()];
  const float moved = static_cast<float>(settled.visits) * (value - settled.q);
  for (const NodeId id : path) {
    Node& node = tree[id];
    if (node.visits > 0) node.q += moved / static_cast<float>(node.visits);
  }
  tree[path.back()].q = value;
}

}  // namespace espalier
