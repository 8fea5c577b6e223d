#include "search/parts/backup.h"

#include <algorithm>

namespace espalier {

float MeanOfChildren(const Tree& tree, NodeId node, float fallback) {
  float visits = 0, sum = 0;
  for (const NodeId c : Children(tree, node)) {
    visits += static_cast<float>(tree[c].visits);
    sum += static_cast<float>(tree[c].visits) * tree[tree.Twin(c)].q;
  }
  return visits == 0 ? fallback : sum / visits;
}

void StartAtScores(Tree& tree, NodeId parent) {
  for (const NodeId c : Children(tree, parent)) {
    Node& child = tree[c];
    if (child.scored() && child.visits == 0 && child.q == 0) {
      child.q = tree.step(c).path_score;
    }
  }
}

float LeafValue(const Tree& tree, const PathVisit& visit, float value,
                bool verdicts) {
  const Node& leaf = tree[visit.path().back()];
  return leaf.scored() && !(verdicts && leaf.terminal()) ? leaf.q : value;
}

float OwnValue(const Tree& tree, NodeId id) {
  if (tree[id].scored()) return tree.step(id).path_score;
  float best = 0;
  for (const NodeId c : Children(tree, id)) {
    if (tree[c].scored()) best = std::max(best, tree.step(c).path_score);
  }
  return best;
}

void ChildrenBackup(Tree& tree, PathVisit& visit, float value) {
  const std::vector<NodeId>& path = visit.path();
  visit.Finish();
  tree[path.back()].q = value;
  for (size_t i = path.size() - 1; i-- > 0;) {
    tree[path[i]].q = MeanOfChildren(tree, path[i], tree[path[i]].q);
  }
}

void TdBackup(Tree& tree, PathVisit& visit, float value, float lr,
              float gamma) {
  const std::vector<NodeId>& path = visit.path();
  visit.Finish();
  tree[path.back()].q = value;
  for (size_t i = path.size() - 1; i-- > 0;) {
    Node& node = tree[path[i]];
    const float below = MeanOfChildren(tree, path[i], node.q);
    node.q = (1 - lr) * node.q + lr * gamma * below;
  }
}

void GraphBackup(Tree& tree, PathVisit& visit, float value) {
  const std::vector<NodeId>& path = visit.path();
  visit.Finish();
  const NodeId leaf = tree.Twin(path.back());
  if (tree[leaf].num_children == 0) tree[leaf].q = value;
  for (size_t i = path.size(); i-- > 0;) {
    Node& node = tree[tree.Twin(path[i])];
    float visits = 1, sum = OwnValue(tree, tree.Twin(path[i]));
    for (const NodeId c : Children(tree, tree.Twin(path[i]))) {
      const float n = static_cast<float>(tree[c].visits);
      visits += n;
      sum += n * tree[tree.Twin(c)].q;
    }
    node.q = node.num_children == 0 ? node.q : sum / visits;
    // What the trace shows of an alias is its state's value.
    tree[path[i]].q = node.q;
  }
}

}  // namespace espalier
