#include "search/tree/path_values.h"

#include <algorithm>
#include <cmath>

#include "absl/types/span.h"

namespace espalier {

float PathValues::Of(const Tree& tree, NodeId node, const ScoreRule& rule) {
  const Aggregate how = rule.aggregate;
  const StepScores scores = tree.scores(node);
  const auto alone = absl::MakeConstSpan(&scores, 1);
  if (node == kRoot || how == Aggregate::kLast || how == Aggregate::kLearned) {
    return CombineScores(alone, rule, tree.level_weights());
  }
  const NodeId parent = tree[node].parent;
  if (entries_.size() < tree.size()) entries_.resize(tree.size());
  Entry at = entries_[parent];
  if (how == Aggregate::kWindow || (parent != kRoot && at.steps == 0)) {
    std::vector<StepScores> path;
    for (const NodeId id : tree.Path(node)) {
      if (tree[id].scored()) path.push_back(tree.scores(id));
    }
    return CombineScores(path, rule, tree.level_weights());
  }
  ScoreRule of_step = rule;
  of_step.aggregate = Aggregate::kLast;
  const float next = CombineScores(alone, of_step, tree.level_weights());
  if (std::isnan(next)) return next;
  if (parent == kRoot) {
    at.kept = how == Aggregate::kMin || how == Aggregate::kProduct ? 1 : 0;
  }
  at.kept = how == Aggregate::kMin       ? std::min(at.kept, next)
            : how == Aggregate::kMax     ? std::max(at.kept, next)
            : how == Aggregate::kProduct ? at.kept * next
                                         : at.kept + next;
  ++at.steps;
  entries_[node] = at;
  return how == Aggregate::kMean ? at.kept / static_cast<float>(at.steps)
                                 : at.kept;
}

}  // namespace espalier
