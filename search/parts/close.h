// Solved bounds: nodes that need no further visits, and verified results.
//
//   closed   a finished response, or a node whose children are all closed and
//            that requests no more: selection skips it
//   proved   a response that a verifier accepted is here or below
//
// A settled value replaces the estimates of past visits: Settle sets the node's
// q and corrects the means of all its ancestors as if each of the node's visits
// had returned the settled value.
#ifndef ESPALIER_SEARCH_PARTS_CLOSE_H_
#define ESPALIER_SEARCH_PARTS_CLOSE_H_

#include "absl/types/span.h"
#include "search/tree/tree.h"

namespace espalier {

// True if `node` (or the node it stands for) has no open child to visit.
bool AllChildrenClosed(const Tree& tree, NodeId node);

// Closes the last node of `path` and its ancestors as far as `full` allows:
// full(node) says that a node requests no more children. Returns the index in
// `path` of the highest node that is now closed.
template <class Full>
size_t CloseUpwards(Tree& tree, absl::Span<const NodeId> path,
                    const Full& full) {
  size_t highest = path.size();
  while (highest > 0) {
    const NodeId node = path[highest - 1], state = tree.Original(node);
    if (highest < path.size() &&
        !(full(state) && AllChildrenClosed(tree, state))) {
      break;
    }
    tree[node].flags |= kClosed;
    tree[state].flags |= kClosed;
    --highest;
  }
  return highest;
}

// Marks the nodes of `path` as proved.
void MarkProved(Tree& tree, absl::Span<const NodeId> path);

// Settles the last node of `path` at `value`, see above. For means over visits
// (MeanBackup).
void Settle(Tree& tree, absl::Span<const NodeId> path, float value);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_CLOSE_H_
