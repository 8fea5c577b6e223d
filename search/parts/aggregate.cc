#include "search/parts/aggregate.h"

#include <algorithm>

#include "base/check.h"

namespace espalier {

float AggregatePath(const Tree& tree, NodeId node, Level level,
                    Aggregate aggregate) {
  float last = 1, lowest = 1, product = 1, sum = 0;
  int steps = 0;
  for (const NodeId id : tree.Path(node)) {
    ESP_CHECK(tree[id].scored());
    last = level == Level::kPath ? tree.step(id).path_score
                                 : tree.step(id).step_score;
    lowest = std::min(lowest, last);
    product *= last;
    sum += last;
    ++steps;
  }
  switch (aggregate) {
    case Aggregate::kLast:
      return last;
    case Aggregate::kMin:
      return lowest;
    case Aggregate::kProduct:
      return product;
    case Aggregate::kMean:
      return steps == 0 ? 1 : sum / static_cast<float>(steps);
  }
  return last;
}

float PathScores::Of(NodeId node) {
  const auto score = [this](NodeId id) {
    ESP_CHECK(tree_[id].scored());
    return level_ == Level::kPath ? tree_.step(id).path_score
                                  : tree_.step(id).step_score;
  };
  if (node == kRoot) return 1;
  if (aggregate_ == Aggregate::kLast) return score(node);
  if (entries_.size() < tree_.size()) entries_.resize(tree_.size());
  NodeId known = node;
  while (known != kRoot && entries_[known].steps == 0) {
    way_.push_back(known);
    known = tree_[known].parent;
  }
  Entry at = entries_[known];
  if (known == kRoot) at.kept = aggregate_ == Aggregate::kMean ? 0 : 1;
  for (; !way_.empty(); way_.pop_back()) {
    const float next = score(way_.back());
    at.kept = aggregate_ == Aggregate::kMin       ? std::min(at.kept, next)
              : aggregate_ == Aggregate::kProduct ? at.kept * next
                                                  : at.kept + next;
    ++at.steps;
    entries_[way_.back()] = at;
  }
  return aggregate_ == Aggregate::kMean ? at.kept / static_cast<float>(at.steps)
                                        : at.kept;
}

}  // namespace espalier
