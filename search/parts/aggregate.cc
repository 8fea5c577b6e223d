#include "search/parts/aggregate.h"

#include <algorithm>

#include "base/check.h"

namespace espalier {

float AggregatePath(const Tree& tree, NodeId node, Level level,
                    Aggregate aggregate) {
  if (aggregate == Aggregate::kLast && node != kRoot) {
    ESP_CHECK(tree[node].scored());
    return tree.score(node, level);
  }
  std::vector<StepScores> scores;
  for (const NodeId id : tree.Path(node)) {
    ESP_CHECK(tree[id].scored());
    scores.push_back(tree.scores(id));
  }
  return CombineScores(scores, {level, aggregate}, tree.level_weights());
}

float PathScores::Of(NodeId node) {
  const auto score = [this](NodeId id) {
    ESP_CHECK(tree_[id].scored());
    return tree_.score(id, level_);
  };
  const bool several =
      aggregate_ == Aggregate::kWindow || aggregate_ == Aggregate::kLearned;
  if (node == kRoot || several) {
    return AggregatePath(tree_, node, level_, aggregate_);
  }
  if (aggregate_ == Aggregate::kLast) return score(node);
  if (entries_.size() < tree_.size()) entries_.resize(tree_.size());
  NodeId known = node;
  while (known != kRoot && entries_[known].steps == 0) {
    way_.push_back(known);
    known = tree_[known].parent;
  }
  Entry at = entries_[known];
  if (known == kRoot) {
    at.kept = aggregate_ == Aggregate::kMin || aggregate_ == Aggregate::kProduct
                  ? 1
                  : 0;
  }
  for (; !way_.empty(); way_.pop_back()) {
    const float next = score(way_.back());
    at.kept = aggregate_ == Aggregate::kMin       ? std::min(at.kept, next)
              : aggregate_ == Aggregate::kMax     ? std::max(at.kept, next)
              : aggregate_ == Aggregate::kProduct ? at.kept * next
                                                  : at.kept + next;
    ++at.steps;
    entries_[way_.back()] = at;
  }
  return aggregate_ == Aggregate::kMean ? at.kept / static_cast<float>(at.steps)
                                        : at.kept;
}

}  // namespace espalier
