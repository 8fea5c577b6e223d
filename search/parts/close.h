// Solved bounds: what needs no further visit, and what a verifier settled.
//
//   closed   a finished response, or a node all of whose children are closed
//            and that asks for no more: selection passes it by
//   proved   a response that a verifier accepted lies here or below
//
// A value that is settled replaces what past visits had guessed: Settle sets
// the node's q and corrects the means of all its ancestors for the visits it
// had, as if each had returned the settled value.
#ifndef ESPALIER_SEARCH_PARTS_CLOSE_H_
#define ESPALIER_SEARCH_PARTS_CLOSE_H_

#include "absl/types/span.h"
#include "search/tree/tree.h"

namespace espalier {

// True if no child of `node` (or of what it stands for) is left to visit.
bool AllChildrenClosed(const Tree& tree, NodeId node);

// Closes the last node of `path` and those above it as far as `full` allows:
// full(node) says that a node asks for no more children. The index in `path`
// of the highest node that is closed now.
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

// The last node of `path` is worth `value`, and always was: see above. For
// means over visits (MeanBackup).
void Settle(Tree& tree, absl::Span<const NodeId> path, float value);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_CLOSE_H_
