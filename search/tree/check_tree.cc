#include "search/tree/check_tree.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace espalier {
namespace {

absl::Status Broken(NodeId id, std::string_view what) {
  return absl::InternalError(
      absl::StrCat("tree node ", id, ": ", AbslView(what)));
}

absl::Status CheckChildren(const Tree& tree, NodeId id) {
  const Node& node = tree[id];
  uint32_t count = 0;
  NodeId last = kNoNode, listed = node.first_child;
  for (const NodeId c : Children(tree, id)) {
    if (c >= tree.size()) return Broken(id, "child index out of range");
    if (c != listed) return Broken(c, "not linked by the previous sibling");
    listed = tree[c].next_sibling;
    ++count;
    if (c <= id) return Broken(c, "created before its parent");
    if (tree[c].parent != id) return Broken(c, "parent link is wrong");
    if (tree.step(c).depth != tree.step(id).depth + 1) {
      return Broken(c, "depth is wrong");
    }
    if (tree.step(c).draws == 0) return Broken(c, "child has no draws");
    for (const NodeId d : Children(tree, id)) {
      if (d == c) break;
      if (tree.tokens(c) == tree.tokens(d) && tree.text(c) == tree.text(d)) {
        return Broken(
            c, absl::StrCat("has the same text and tokens as its sibling ", d));
      }
    }
    last = c;
  }
  if (listed != kNoNode) return Broken(id, "child count is wrong");
  if (last != tree.step(id).last_child) {
    return Broken(id, "last child is wrong");
  }
  if (node.terminal() && count > 0) return Broken(id, "terminal has children");
  return absl::OkStatus();
}

// `through_aliases`: visits of aliases of `id`.
absl::Status CheckStatistics(const Tree& tree, NodeId id,
                             uint64_t through_aliases,
                             const CheckTreeOptions& options) {
  const Node& node = tree[id];
  if (node.alias != (tree.step(id).original != kNoNode)) {
    return Broken(id, "alias flag and original disagree");
  }
  if (node.alias) {
    const NodeId original = tree.Original(id);
    if (original >= tree.size() || original == id) {
      return Broken(id, "alias without an original");
    }
    if (tree[original].alias) return Broken(id, "alias of an alias");
    if (node.num_children > 0) return Broken(id, "alias has children");
  }
  if (node.in_flight != 0) {
    return Broken(id, absl::StrCat(node.in_flight, " visits in flight"));
  }
  if (node.visits > 0 && !(node.q >= options.min_value - 1e-5f &&
                           node.q <= options.max_value + 1e-5f)) {
    return Broken(id, absl::StrCat("q ", node.q, " out of range"));
  }
  if (node.scored() == std::isnan(tree.step(id).path_score)) {
    return Broken(id, "scored flag and score disagree");
  }
  if (!options.visits_conserve) return absl::OkStatus();
  uint64_t below = 0;
  for (const NodeId c : Children(tree, id)) {
    below += tree[c].visits - (tree.step(c).own_visit ? 1 : 0);
  }
  const uint64_t own = tree.step(id).own_visit ? 1 : 0;
  if (below + own > node.visits + through_aliases) {
    return Broken(id,
                  absl::StrCat("children have ", below,
                               " visits, more than the node's ", node.visits));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTree(const Tree& tree, const CheckTreeOptions& options) {
  uint32_t reached = 1;
  std::vector<uint64_t> through_aliases(tree.size());
  for (NodeId id = 0; id < tree.size(); ++id) {
    const NodeId original = tree.step(id).original;
    if (original < tree.size()) through_aliases[original] += tree[id].visits;
  }
  for (NodeId id = 0; id < tree.size(); ++id) {
    absl::Status status = CheckChildren(tree, id);
    if (!status.ok()) return status;
    status = CheckStatistics(tree, id, through_aliases[id], options);
    if (!status.ok()) return status;
    reached += tree[id].num_children;
  }
  if (reached != tree.size()) return Broken(kRoot, "some nodes have no parent");
  return absl::OkStatus();
}

}  // namespace espalier
