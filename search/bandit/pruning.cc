#include "search/bandit/pruning.h"

#include <algorithm>
#include <cmath>

namespace espalier {

void SubtreePruning::Add(NodeId id, double score) {
  if (scores_.size() <= id) scores_.resize(id + 1);
  Scores& scores = scores_[id];
  const int hundredths = static_cast<int>(std::nearbyint(100 * score));
  auto bin =
      std::find_if(scores.bins.begin(), scores.bins.end(),
                   [&](const Bin& b) { return b.hundredths == hundredths; });
  if (bin == scores.bins.end()) {
    bin = scores.bins.insert(bin, {.hundredths = hundredths, .count = 0});
  }
  ++scores.total;
  scores.most = std::max(scores.most, ++bin->count);
}

bool SubtreePruning::pruned(NodeId id) const {
  if (id >= scores_.size()) return false;
  const Scores& scores = scores_[id];
  return scores.total >= least_ && scores.most >= share_ * scores.total;
}

}  // namespace espalier
