#include "search/parts/aggregate.h"

#include <algorithm>

#include "src/base/check.h"

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

}  // namespace espalier
