#include "search/mcts/forward.h"

#include <algorithm>

namespace espalier {

Co<> Forward(SearchContext& ctx, NodeId parent, const MctsOptions& options) {
  const Tree& tree = ctx.tree();
  NodeId best = kNoNode;
  for (const NodeId c : Children(tree, parent)) {
    // An alias has the value of its state.
    if (!tree[c].scored() || tree[c].truncated() || tree[c].visits > 0 ||
        tree[c].alias) {
      continue;
    }
    if (best == kNoNode || tree.score(c) > tree.score(best)) best = c;
  }
  if (best == kNoNode || tree[best].terminal()) co_return;
  float highest = 0;
  NodeId at = best;
  for (int step = 0; step < options.forward; ++step) {
    const Expansion next = co_await ctx.Expand(at, {.temperature = 0});
    if (next.samples.empty()) break;
    at = next.samples[0];
    if (tree[at].truncated()) break;
    co_await ctx.Evaluate(next.samples);
    if (!tree[at].scored()) break;
    highest = std::max(highest, tree.score(at));
    if (tree[at].terminal()) break;
  }
  // Another simulation has visited it meanwhile: it has a better value now.
  if (at == best || tree[best].visits > 0) co_return;
  Node& node = ctx.tree()[best];
  const float w = options.forward_weight;
  node.q = (1 - w) * ctx.tree().score(best) + w * highest;
}

}  // namespace espalier
