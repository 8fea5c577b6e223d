#include "search/parts/lockstep.h"

#include <algorithm>

namespace espalier {

Co<std::vector<std::vector<NodeId>>> ExpandEach(
    SearchContext& ctx, const std::vector<Draws>& requests, float temperature,
    int top_logprobs) {
  std::vector<Awaiting<Expansion>> waiting;
  for (const Draws& draws : requests) {
    waiting.push_back(ctx.Expand(draws.parent, {.n = draws.n,
                                                .temperature = temperature,
                                                .top_logprobs = top_logprobs}));
  }
  std::vector<std::vector<NodeId>> samples(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const Expansion expansion = co_await waiting[i];
    for (const NodeId node : expansion.samples) {
      if (!ctx.tree()[node].truncated()) samples[i].push_back(node);
    }
  }
  co_return samples;
}

Co<bool> ScoreEach(SearchContext& ctx, const std::vector<NodeId>& nodes) {
  co_await ctx.Evaluate(nodes);
  co_return std::all_of(nodes.begin(), nodes.end(),
                        [&](NodeId node) { return ctx.tree()[node].scored(); });
}

Co<bool> ScorePaths(SearchContext& ctx, const std::vector<NodeId>& ends) {
  std::vector<NodeId> unscored;
  for (const NodeId end : ends) {
    if (end == kNoNode) continue;
    for (NodeId at = end; at != kRoot && !ctx.tree()[at].scored();
         at = ctx.tree()[at].parent) {
      unscored.push_back(at);
    }
  }
  co_return co_await ScoreEach(ctx, unscored);
}

Co<std::vector<NodeId>> FinishEach(SearchContext& ctx,
                                   const std::vector<NodeId>& from,
                                   float temperature) {
  std::vector<NodeId> at = from;
  while (true) {
    std::vector<Draws> requests;
    std::vector<size_t> who;
    for (size_t i = 0; i < at.size(); ++i) {
      if (at[i] == kNoNode || ctx.tree()[at[i]].terminal()) continue;
      requests.push_back({.parent = at[i]});
      who.push_back(i);
    }
    if (requests.empty()) co_return at;
    const auto samples = co_await ExpandEach(ctx, requests, temperature);
    for (size_t j = 0; j < who.size(); ++j) {
      at[who[j]] = samples[j].empty() ? kNoNode : samples[j].front();
    }
  }
}

Co<std::vector<NodeId>> LookAheadEach(SearchContext& ctx,
                                      const std::vector<NodeId>& from,
                                      int steps, GreedySteps& known) {
  std::vector<NodeId> at = from;
  for (int step = 0; step < steps; ++step) {
    std::vector<Draws> requests;
    for (const NodeId node : at) {
      if (node == kNoNode || ctx.tree()[node].terminal()) continue;
      if (known.try_emplace(node, kNoNode).second) {
        requests.push_back({.parent = node});
      }
    }
    const auto samples = co_await ExpandEach(ctx, requests, 0);
    for (size_t i = 0; i < requests.size(); ++i) {
      if (!samples[i].empty()) known[requests[i].parent] = samples[i].front();
    }
    for (NodeId& node : at) {
      const auto next = known.find(node);
      if (next != known.end() && next->second != kNoNode) node = next->second;
    }
  }
  co_return at;
}

}  // namespace espalier
