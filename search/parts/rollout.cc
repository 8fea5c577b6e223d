#include "search/parts/rollout.h"

namespace espalier {

Co<NodeId> Rollout(SearchContext& ctx, NodeId from, float temperature,
                   Role by) {
  NodeId node = from;
  while (!ctx.tree()[node].terminal()) {
    const Expansion step =
        co_await ctx.Expand(node, {.n = 1, .temperature = temperature}, by);
    if (step.samples.empty()) co_return kNoNode;
    node = step.samples[0];
    if (ctx.tree()[node].truncated()) co_return kNoNode;
  }
  co_return node;
}

}  // namespace espalier
