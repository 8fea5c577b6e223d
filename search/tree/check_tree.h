// Checks every invariant of a tree. Every search test ends with it.
#ifndef ESPALIER_SEARCH_TREE_CHECK_TREE_H_
#define ESPALIER_SEARCH_TREE_CHECK_TREE_H_

#include "absl/status/status.h"
#include "search/tree/tree.h"

namespace espalier {

struct CheckTreeOptions {
  float min_value = 0;  // range of backed-up values
  float max_value = 1;
  // Visits of a node are at least those of its children (searches that back up
  // along the path). Off for methods that keep other counts.
  bool visits_conserve = true;
};

// OK, or Internal naming the node and the broken invariant: links, depth, child
// counts, no visit in flight, visits of children at most the parent's, finite
// values in range, terminals without children, no two equal siblings.
absl::Status CheckTree(const Tree& tree, const CheckTreeOptions& options = {});

}  // namespace espalier

#endif  // ESPALIER_SEARCH_TREE_CHECK_TREE_H_
