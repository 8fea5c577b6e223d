// Node compression: windows of two steps from trees, as HRM makes them (Wang et
// al. 2025, "Towards Hierarchical Multi-Step Reward Models for Enhanced
// Reasoning in Large Language Models"; its program's split_node).
//
//   root - a - b1 .. b4        root - a - b2 .. b4
//                                   \\ ab1          b1 merged with a
//
// Breadth first, at each node below the root that has four children or more, at
// most one child is merged: each of them in turn with probability 1/2 until one
// is. Its text becomes the node's followed by its own, and it moves up beside
// the node, with all that is below it. A merged node's own children are not
// merged with it.
//
// Stateless function: thread-safe.
#ifndef ESPALIER_SRC_TRACE_LABELS_COMPRESS_TREE_H_
#define ESPALIER_SRC_TRACE_LABELS_COMPRESS_TREE_H_

#include <vector>

#include "base/random.h"
#include "src/trace/stored_tree.h"

namespace espalier {

struct CompressedTree {
  StoredTree tree;  // the same nodes by index
  std::vector<bool> merged;
};

CompressedTree CompressTree(const StoredTree& tree, RandomStream& random);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_COMPRESS_TREE_H_
