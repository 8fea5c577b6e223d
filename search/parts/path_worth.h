// Aggregates of a path's scores (aggregate.h), and their sum. A sum is not in
// [0, 1], so methods that use it give no guarantee about their votes.
#ifndef ESPALIER_SEARCH_PARTS_PATH_WORTH_H_
#define ESPALIER_SEARCH_PARTS_PATH_WORTH_H_

#include <array>
#include <string_view>

#include "search/parts/aggregate.h"

namespace espalier {

// In the order of Aggregate, plus kSum.
enum class Worth : uint8_t { kLast, kMin, kProduct, kMean, kSum };
inline constexpr std::array<std::string_view, 5> kWorthNames = {
    "last", "min", "product", "mean", "sum"};

// Worth of the steps from the root to `node`, all of which are scored; 1 for
// the root, 0 for kSum.
inline float PathWorth(const Tree& tree, NodeId node, Level level,
                       Worth worth) {
  if (worth != Worth::kSum) {
    return AggregatePath(tree, node, level, static_cast<Aggregate>(worth));
  }
  float sum = 0;
  for (const NodeId id : tree.Path(node)) {
    sum += level == Level::kPath ? tree.step(id).path_score
                                 : tree.step(id).step_score;
  }
  return sum;
}

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_PATH_WORTH_H_
