#include "search/mcts/frontier_queue.h"

#include <algorithm>
#include <cmath>

#include "search/parts/logprob.h"

namespace espalier {

float FrontierPriority(const FrontierWeights& weights, float parent_q, float q,
                       float surprisal, int depth, int max_depth) {
  const float share =
      static_cast<float>(depth) / static_cast<float>(std::max(1, max_depth));
  return weights.parent * std::tanh(parent_q) + weights.entropy * surprisal +
         weights.depth * std::sqrt(share) + weights.value * std::tanh(q);
}

float ConstrainedValue(float q, int visits, float value, int depth,
                       int length) {
  const float gamma = std::max(
      static_cast<float>(depth + 1) / static_cast<float>(length + 1), 0.1f);
  float total = q * static_cast<float>(visits);
  if (total * value >= 0) {
    total += gamma * value;
  } else if (value > 0) {
    total = gamma * value;
  }
  return total / static_cast<float>(visits + 1);
}

void FrontierQueue::Enter(NodeId node, int width) {
  const Node& n = tree_[node];
  const Step& step = tree_.step(node);
  const bool may = (n.flags & (kTerminal | kTruncated | kClosed)) == 0 &&
                   tree_.samples_drawn(node) < width;
  if (stamp_.size() <= node) {
    stamp_.resize(tree_.size());
    waiting_.resize(tree_.size());
  }
  ++stamp_[node];
  waiting_[node] = may;
  float priority = -INFINITY;
  if (may) {
    const float parent_q = n.parent == kNoNode ? 0 : tree_[n.parent].q;
    priority = FrontierPriority(weights_, parent_q, n.q,
                                static_cast<float>(-StepLogprob(step)),
                                step.depth, max_depth_);
    heap_.push({priority, node, stamp_[node]});
  }
  if (listener_) listener_(node, priority);
}

void FrontierQueue::Changed(NodeId node, int width) {
  const auto again = [&](NodeId id) {
    if (id < waiting_.size() && waiting_[id]) Enter(id, width);
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
