#include "search/parts/backup.h"

#include <algorithm>

namespace espalier {

void StartAtScores(Tree& tree, NodeId parent) {
  for (const NodeId c : Children(tree, parent)) {
    Node& child = tree[c];
    if (child.scored() && child.visits == 0 && child.q == 0) {
      child.q = tree.score(c);
    }
  }
}

float OwnValue(const Tree& tree, NodeId id) {
  if (tree[id].scored()) return tree.score(id);
  float best = 0;
  for (const NodeId c : Children(tree, id)) {
    if (tree[c].scored()) best = std::max(best, tree.score(c));
  }
  return best;
}

void GraphBackup(Tree& tree, PathVisit& visit, float value) {
  const std::vector<NodeId>& path = visit.path();
  visit.Finish();
  const NodeId leaf = tree.Original(path.back());
  if (tree[leaf].num_children == 0) tree[leaf].q = value;
  for (size_t i = path.size(); i-- > 0;) {
    Node& node = tree[tree.Original(path[i])];
    float visits = 1, sum = OwnValue(tree, tree.Original(path[i]));
    for (const NodeId c : Children(tree, tree.Original(path[i]))) {
      const float n = static_cast<float>(tree[c].visits);
      visits += n;
      sum += n * tree[tree.Original(c)].q;
    }
    node.q = node.num_children == 0 ? node.q : sum / visits;
    // Copied to the alias for the trace.
    tree[path[i]].q = node.q;
  }
}

}  // namespace espalier
