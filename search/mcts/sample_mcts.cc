// MCTS in which every sample is a simulation: the standard MCTS that TreeQuest
// provides besides AB-MCTS (Inoue et al. 2025, arXiv:2503.04412).
//
//   1. select    from the root to a node without children, always the child
//                with the highest
//                  Q(c) + C P(c) sqrt(ln N(s) / N(c)),
//                the first of equals; P is the softmax of the siblings' own
//                scores, 1 for an only child;
//   2. expand    `samples` samples of it;
//   3. backup    the score of each, in order, to itself and all its ancestors:
//                N += 1, Q the mean. This is the child's first visit.
//
// C = sqrt 2, 2 samples as published. Ended responses are not selected, nor are
// nodes whose children have all ended. The answer is the best finished
// response; if none has finished, the best node.
#include <algorithm>
#include <cmath>
#include <vector>

#include "search/algorithm.h"
#include "search/mcts/mcts.h"
#include "search/parts/common_options.h"

namespace espalier {
namespace {

struct SampleMctsOptions {
  int simulations = 0;
  int samples = 2;
  float temperature = 1;
  float c = 1.41421356f;
  AnswerChoice choice = AnswerChoice::kBest;
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "samples; 0: until the budget is spent");
    v.Int("samples", &samples, 1, 4096, "samples per leaf expansion");
    VisitTemperature(v, &temperature);
    v.Real("c", &c, 0, 1000, "exploration constant");
    VisitAnswerChoice(v, &choice);
  }
};

// Sums of the scores of all visits, by node: children with the same scores are
// equal regardless of the order in which these came.
using Sums = std::vector<double>;

// Stage 1, one level. kNoNode if no child is open.
NodeId Pick(const Tree& tree, const Sums& sums, NodeId parent, float c) {
  double mass = 0;
  for (const NodeId child : Children(tree, parent)) {
    if (tree[child].visits == 0) continue;
    mass += std::exp(static_cast<double>(tree.score(child)));
  }
  const double log_n = std::log(static_cast<double>(tree[parent].visits));
  NodeId best = kNoNode;
  double highest = -INFINITY;
  for (const NodeId child : Children(tree, parent)) {
    const Node& node = tree[child];
    if (node.visits == 0 || node.closed()) continue;
    const double prior =
        std::exp(static_cast<double>(tree.score(child))) / mass;
    const double score =
        sums[child] / node.visits + c * prior * std::sqrt(log_n / node.visits);
    if (score > highest) {
      highest = score;
      best = child;
    }
  }
  return best;
}

void Visit(Tree& tree, Sums& sums, NodeId id, float score) {
  if (sums.size() < tree.size()) sums.resize(tree.size());
  sums[id] += score;
  AddVisit(tree[id], score);
}

// Closes nodes of `path` whose children are all closed, from the last one up.
void CloseUp(Tree& tree, const std::vector<NodeId>& path) {
  for (size_t i = path.size(); i-- > 0;) {
    for (const NodeId c : Children(tree, path[i])) {
      if (tree[c].visits > 0 && !tree[c].closed()) return;
    }
    tree[path[i]].flags |= kClosed;
  }
}

Co<> RunSampleMcts(SearchContext& ctx, const SampleMctsOptions& options) {
  Tree& tree = ctx.tree();
  Votes votes(options.choice);
  Sums sums(1);
  NodeId best = kNoNode;  // best unfinished node
  const auto goes_on = [&] {
    return !ctx.ShouldStop() && (options.simulations == 0 ||
                                 ctx.usage().simulations < options.simulations);
  };
  while (goes_on() && !tree[kRoot].closed()) {
    std::vector<NodeId> path = {kRoot};  // 1
    for (NodeId next = kRoot; next != kNoNode;) {
      next = Pick(tree, sums, path.back(), options.c);
      if (next != kNoNode) path.push_back(next);
    }
    const Expansion sampled = co_await ctx.Expand(
        path.back(),
        {.n = options.samples, .temperature = options.temperature});  // 2
    if (sampled.samples.empty() && ctx.ShouldStop()) break;
    std::vector<NodeId> samples;
    for (const NodeId c : sampled.samples) {
      if (!tree[c].truncated()) samples.push_back(c);
    }
    co_await ctx.Evaluate(samples);
    for (const NodeId c : samples) {  // 3
      if (!tree[c].scored()) break;
      const float score = tree.score(c);
      Visit(tree, sums, c, score);
      for (const NodeId id : path) Visit(tree, sums, id, score);
      ctx.CountSimulation();
      if (tree[c].terminal()) {
        tree[c].flags |= kClosed;
        votes.Add(ctx, c, score);
        votes.Offer(ctx);
      } else if (best == kNoNode || score > tree.score(best)) {
        best = c;
      }
      if (!goes_on()) break;
    }
    CloseUp(tree, path);
  }
  if (votes.empty() && best != kNoNode) {
    ctx.Offer(best, tree.score(best));
  }
}

const RegisterAlgorithm<SampleMctsOptions> kSampleMcts(
    "sample_mcts", "MCTS in which every sample is a simulation",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunSampleMcts,
    MethodNotes{.source = "TreeQuest, Inoue et al. 2025, arXiv:2503.04412",
                .when_to_use = "AB-MCTS, which decides by itself how wide to "
                               "branch, needs a baseline",
                .test = "tests/search/golden_rest_test.cc"});

}  // namespace
}  // namespace espalier
