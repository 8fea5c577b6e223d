#include "search/parts/rollout.h"

namespace espalier {

Co<NodeId> Rollout(SearchContext& ctx, NodeId from, float temperature,
                   ModelRole by) {
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

Co<NodeId> CarryOn(SearchContext& ctx, NodeId node) {
  if (!ctx.tree()[node].terminal()) {
    // Only tokens are held back for it, no other budget.
    if (ctx.ShouldStop() && !ctx.has_token_budget()) co_return kNoNode;
    if (ctx.BetterLeftToFinish(node)) co_return kNoNode;
    if (!ctx.BeginFinish()) co_return kNoNode;
    node = co_await Rollout(ctx, node, 0);
  }
  co_return node;
}

}  // namespace espalier
