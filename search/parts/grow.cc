#include "search/parts/grow.h"

namespace espalier {
namespace {

// A run of equal entries, served by one request.
struct StepRun {
  size_t begin;
  size_t size;
  Awaiting<Expansion> request;
};

}  // namespace

Co<> Grow(SearchContext& ctx, int steps, float temperature,
          std::vector<NodeId>& paths) {
  for (int step = 0; step < steps; ++step) {
    std::vector<StepRun> runs;
    for (size_t i = 0; i < paths.size();) {
      const NodeId node = paths[i];
      size_t end = i + 1;
      while (end < paths.size() && paths[end] == node) ++end;
      if (node != kNoNode && !ctx.tree()[node].terminal()) {
        runs.push_back({i, end - i,
                        ctx.Expand(node, {.n = static_cast<int>(end - i),
                                          .temperature = temperature})});
      }
      i = end;
    }
    if (runs.empty()) co_return;
    for (const StepRun& run : runs) {
      const Expansion expansion = co_await run.request;
      for (size_t k = 0; k < run.size; ++k) {
        const NodeId next =
            k < expansion.samples.size() ? expansion.samples[k] : kNoNode;
        const bool cut = next == kNoNode || ctx.tree()[next].truncated();
        paths[run.begin + k] = cut ? kNoNode : next;
      }
    }
  }
}

}  // namespace espalier
