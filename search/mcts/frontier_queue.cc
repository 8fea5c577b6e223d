#include "search/mcts/frontier_queue.h"

#include <algorithm>
#include <cmath>

#include "search/parts/logprob.h"

namespace espalier {
namespace {

double BonusOfDepth(DepthBonus bonus, int depth, int max_depth) {
  const double d = depth;
  switch (bonus) {
    case DepthBonus::kSqrt:
      return std::sqrt(d / std::max(1, max_depth));
    case DepthBonus::kLog:
      return std::log(d + 1);
    case DepthBonus::kConstant:
      return d;
  }
  return 0;
}

}  // namespace

double FrontierPriority(const FrontierWeights& weights, double parent_q,
                        double q, double surprisal, int depth, int max_depth) {
  return weights.parent * std::tanh(parent_q) + weights.value * std::tanh(q) +
         weights.entropy * surprisal +
         weights.depth * BonusOfDepth(weights.bonus, depth, max_depth);
}

double ConstrainedValue(double total, double value, int depth, int length,
                        double threshold) {
  const double gamma = std::max((depth + 1.0) / (length + 1.0), threshold);
  if (total * value >= 0) return total + gamma * value;
  return value > 0 ? gamma * value : total;
}

bool EarlierDepthFirst(const Tree& tree, NodeId a, NodeId b) {
  const int depth_a = tree.step(a).depth, depth_b = tree.step(b).depth;
  for (int d = depth_a; d > depth_b; --d) a = tree[a].parent;
  for (int d = depth_b; d > depth_a; --d) b = tree[b].parent;
  if (a == b) return depth_a < depth_b;
  while (tree[a].parent != tree[b].parent) {
    a = tree[a].parent;
    b = tree[b].parent;
  }
  return a < b;
}

void FrontierQueue::Enter(NodeId node) {
  const Node& n = tree_[node];
  const Step& step = tree_.step(node);
  const bool may =
      (n.flags & (kTerminal | kTruncated | kClosed)) == 0 &&
      tree_.samples_drawn(node) < width_.At(step.depth, max_depth_);
  if (stamp_.size() <= node) {
    stamp_.resize(tree_.size());
    waiting_.resize(tree_.size());
  }
  ++stamp_[node];
  waiting_[node] = may;
  double priority = -INFINITY;
  if (may) {
    const double parent_q = n.parent == kNoNode ? 0 : values_.q(n.parent);
    priority = FrontierPriority(weights_, parent_q, values_.q(node),
                                -StepLogprob(step), step.depth, max_depth_);
    heap_.push({priority, node, stamp_[node]});
  }
  if (listener_) listener_(node, priority);
}

void FrontierQueue::Changed(NodeId node) {
  const auto again = [&](NodeId id) {
    if (id < waiting_.size() && waiting_[id]) Enter(id);
  };
  again(node);
  for (const NodeId c : Children(tree_, node)) again(c);
}

NodeId FrontierQueue::Take() {
  while (!heap_.empty()) {
    const Entry top = heap_.top();
    heap_.pop();
    if (!waiting_[top.node] || stamp_[top.node] != top.stamp) continue;
    waiting_[top.node] = false;
    return top.node;
  }
  return kNoNode;
}

}  // namespace espalier
