#include "search/parts/propose.h"

#include <algorithm>

namespace espalier {

Co<> Propose(SearchContext& ctx, absl::Span<const NodeId> parents,
             ExpandOptions options, bool evaluate,
             std::vector<std::vector<NodeId>>& found, bool repeats) {
  std::vector<Awaiting<Expansion>> requests;
  requests.reserve(parents.size());
  for (const NodeId parent : parents) {
    requests.push_back(ctx.Expand(parent, options));
  }
  found.resize(parents.size());
  std::vector<Awaiting<Evaluation>> scored;
  for (size_t i = 0; i < parents.size(); ++i) {
    const Expansion expansion = co_await requests[i];
    std::vector<NodeId>& steps = found[i];
    steps.assign(expansion.samples.begin(), expansion.samples.end());
    if (!repeats) {
      std::sort(steps.begin(), steps.end());
      steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    }
    std::erase_if(steps, [&](NodeId id) {
      if (!ctx.tree()[id].truncated()) return false;
      ctx.Evict(id);
      return true;
    });
    if (evaluate && !steps.empty()) scored.push_back(ctx.Evaluate(steps));
  }
  if (!evaluate) co_return;
  for (const Awaiting<Evaluation>& evaluation : scored) co_await evaluation;
  for (std::vector<NodeId>& steps : found) {
    std::erase_if(steps, [&](NodeId id) { return !ctx.tree()[id].scored(); });
  }
}

}  // namespace espalier
