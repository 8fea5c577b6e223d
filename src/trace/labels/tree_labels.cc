#include "src/trace/labels/tree_labels.h"

#include <algorithm>

namespace espalier {

std::vector<OutcomeCount> CountOutcomes(const StoredTree& tree) {
  std::vector<OutcomeCount> counts(tree.nodes.size());
  // Children come after their parents.
  for (size_t i = tree.nodes.size(); i-- > 1;) {
    const StoredNode& node = tree.nodes[i];
    if (node.verdict != NodeVerdict::kNotAsked) {
      counts[i].finished += node.draws;
      if (node.verdict == NodeVerdict::kCorrect)
        counts[i].correct += node.draws;
    }
    OutcomeCount& parent = counts[static_cast<size_t>(node.parent)];
    parent.correct += counts[i].correct;
    parent.finished += counts[i].finished;
  }
  return counts;
}

std::vector<float> QualityValues(const StoredTree& tree) {
  const size_t n = tree.nodes.size();
  // Steps to the nearest correct end, which has 1; 0: none below.
  std::vector<int> to_end(n);
  for (size_t i = n; i-- > 0;) {
    const StoredNode& node = tree.nodes[i];
    if (node.verdict == NodeVerdict::kCorrect) to_end[i] = 1;
    if (i == 0 || to_end[i] == 0) continue;
    int& above = to_end[static_cast<size_t>(node.parent)];
    above = above == 0 ? to_end[i] + 1 : std::min(above, to_end[i] + 1);
  }
  if (n == 0 || to_end[0] == 0) {
    return std::vector<float>(n, std::numeric_limits<float>::quiet_NaN());
  }
  const std::vector<OutcomeCount> outcomes = CountOutcomes(tree);
  std::vector<double> value(n);
  std::vector<int> m(n);
  m[0] = to_end[0];
  std::vector<float> out(n);  // the root's v_0 = 0
  for (size_t i = 1; i < n; ++i) {
    const auto parent = static_cast<size_t>(tree.nodes[i].parent);
    const bool on_route = to_end[i] > 0;
    m[i] = on_route ? to_end[i] : m[parent];
    const double w = (1 - value[parent]) / m[i];
    value[i] = std::max(0.0, value[parent] + (on_route ? w : -w));
    out[i] = outcomes[i].finished > 0 ? static_cast<float>(value[i])
                                      : std::numeric_limits<float>::quiet_NaN();
  }
  return out;
}

}  // namespace espalier
