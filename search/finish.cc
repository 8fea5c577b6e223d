#include "search/finish.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace espalier {
namespace {

// Number of unfinished responses to try.
constexpr int kTries = 4;

// Finished responses with an answer, in order of creation.
std::vector<NodeId> Ends(SearchContext& ctx) {
  std::vector<NodeId> ends;
  for (NodeId id = 1; id < ctx.tree().size(); ++id) {
    const Node& node = ctx.tree()[id];
    if (node.terminal() && !node.truncated() && ctx.AnswerOf(id) >= 0) {
      ends.push_back(id);
    }
  }
  return ends;
}

// Stage 1. Each response votes once per draw.
Co<> AnswerFromTree(SearchContext& ctx, const FinishPlan& plan) {
  const std::vector<NodeId> ends = Ends(ctx);
  if (ends.empty()) co_return;
  if (plan.scores && ctx.BeginFinish()) co_await ctx.Evaluate(ends);
  ctx.SetStage(AnswerStage::kTree);
  Votes votes(plan.choice);
  for (const NodeId end : ends) {
    const Tree& tree = ctx.tree();
    const float score = tree[end].scored() ? tree.score(end)
                        : plan.scores      ? 0
                                           : 1;
    for (int k = 0; k < tree.step(end).draws; ++k) votes.Add(ctx, end, score);
  }
  votes.Offer(ctx);
}

// The most promising unfinished response that was not tried and that the
// remaining budget should finish. If there is none, the one with the smallest
// shortfall of tokens. kNoNode if all were tried.
NodeId MostPromising(const SearchContext& ctx,
                     const std::vector<NodeId>& tried) {
  const Tree& tree = ctx.tree();
  const int64_t left = ctx.tokens_left();
  NodeId best = kNoNode;
  std::pair<int64_t, float> highest;  // minus the missing tokens; promise
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (tree[id].terminal() || tree[id].truncated() || tree[id].alias) {
      continue;
    }
    if (std::find(tried.begin(), tried.end(), id) != tried.end()) continue;
    const std::pair<int64_t, float> promise = {
        std::min<int64_t>(0, left - ctx.TokensToFinish(id)),
        SearchContext::Promise(tree, id)};
    if (best == kNoNode || promise > highest) {
      best = id;
      highest = promise;
    }
  }
  return best;
}

// Ends of unfinished responses that have no score yet.
std::vector<NodeId> Unscored(const Tree& tree) {
  std::vector<NodeId> open;
  for (NodeId id = 1; id < tree.size(); ++id) {
    const Node& node = tree[id];
    if (node.num_children == 0 && !node.terminal() && !node.truncated() &&
        !node.alias && !node.scored()) {
      open.push_back(id);
    }
  }
  return open;
}

// The method may have evicted a node or its ancestors, and an evicted sequence
// loses its KV cache whenever it is computed.
void KeepPath(SearchContext& ctx, NodeId node) {
  for (; node != kNoNode; node = ctx.tree()[node].parent) {
    ctx.SetRetention(node, std::numeric_limits<float>::max());
  }
}

// Stage 2.
Co<> FinishBest(SearchContext& ctx, const FinishPlan& plan) {
  const std::vector<NodeId> unscored = Unscored(ctx.tree());
  if (plan.scores && !unscored.empty()) co_await ctx.Evaluate(unscored);
  std::vector<NodeId> tried;
  while (static_cast<int>(tried.size()) < kTries && !ctx.answered()) {
    NodeId node = MostPromising(ctx, tried);
    if (node == kNoNode) co_return;
    tried.push_back(node);
    KeepPath(ctx, node);
    while (!ctx.tree()[node].terminal()) {
      const Expansion step = co_await ctx.Expand(node, {.temperature = 0});
      if (step.samples.empty()) break;
      const NodeId next = step.samples[0];
      node = ctx.tree().Original(next);
      if (node == next) {
        ctx.SetRetention(node, std::numeric_limits<float>::max());
      } else {
        KeepPath(ctx, node);
      }
      if (ctx.tree()[node].truncated()) break;
    }
    if (!ctx.tree()[node].terminal() || ctx.AnswerOf(node) < 0) continue;
    if (plan.scores) {
      const std::vector<NodeId> end = {node};
      co_await ctx.Evaluate(end);
    }
    ctx.SetStage(AnswerStage::kFinish);
    ctx.Offer(node, ctx.tree()[node].scored() ? ctx.tree().score(node) : 0);
  }
}

// Offers the best of the responses that ended without an answer.
void OfferUnanswered(SearchContext& ctx) {
  const Tree& tree = ctx.tree();
  NodeId best = kNoNode;
  float highest = 0;
  for (NodeId id = 1; id < tree.size(); ++id) {
    if (!tree[id].terminal() || tree[id].truncated()) continue;
    const float score = tree[id].scored() ? tree.score(id) : 0;
    if (best == kNoNode || score > highest) {
      best = id;
      highest = score;
    }
  }
  if (best != kNoNode) ctx.Offer(best, highest);
}

}  // namespace

Co<> RunAndFinish(SearchContext& ctx, Co<> method, FinishPlan plan) {
  if (plan.exempt) ctx.HoldNothingBack();
  co_await method;
  if (plan.exempt || ctx.answered()) co_return;
  co_await AnswerFromTree(ctx, plan);
  if (!ctx.answered() && ctx.has_token_budget() && ctx.BeginFinish()) {
    co_await FinishBest(ctx, plan);
  }
  if (!ctx.answered()) OfferUnanswered(ctx);
}

}  // namespace espalier
