#include "search/rollout/prefix.h"

#include <algorithm>
#include <vector>

namespace espalier {

NodeId PrefixOf(const Tree& tree, NodeId end, PrefixRule rule, float fraction,
                float threshold) {
  const std::vector<NodeId> path = tree.Path(end);
  if (path.empty()) return kRoot;
  if (rule == PrefixRule::kSuccess) {
    const size_t kept = std::min(
        path.size() - 1,
        static_cast<size_t>(fraction * static_cast<float>(path.size())));
    return kept == 0 ? kRoot : path[kept - 1];
  }
  NodeId worst = path[0];
  float before = 1, fall = -2;  // a score rises by 1 at most
  for (const NodeId step : path) {
    if (rule == PrefixRule::kThreshold &&
        tree.step(step).step_score < threshold) {
      return tree[step].parent;
    }
    if (before - tree.score(step) > fall) {
      fall = before - tree.score(step);
      worst = step;
    }
    before = tree.score(step);
  }
  return tree[worst].parent;
}

}  // namespace espalier
