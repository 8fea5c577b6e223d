// Global frontier search with constrained backup (T12, T13): DeepSearch (Wu et
// al. 2025, arXiv:2509.25454).
//
//   1. choose    of all nodes that are not full (fewer than `width` children)
//                the one with the highest
//                  F(s) = l1 tanh(q(parent)) + l2 H(s) + l3 sqrt(d / d_max)
//                         + l4 tanh(q(s)),
//                l1 = l2 = .4, l3 = .01, l4 = 0; H is the mean surprisal of the
//                step's tokens;
//   2. descend   from it: ask for `width` samples; if none ends a response, go
//                on with the open child of highest q + 2 sqrt(ln N(s) / N(c));
//   3. evaluate  the ends: +1 or -1 by the verifier or the reference, else
//                2 r - 1, r the reward model's score;
//   4. backup    one end: a right one, else a wrong one; among equals of least
//                surprisal (training) or highest score. constrained (T13):
//                  gamma = max((d + 1) / (K + 1), .1), d depth, K length of the
//                  path; V += gamma v if V v >= 0; else V = gamma v if v > 0;
//                  N += 1; q = V / N
//                else q = mean of v.
//
// Priorities wait in a heap. A backup re-enters what it changed, so that
// choosing costs O(log n) and nothing is ever scanned; an entry that a later
// one of the same node replaced is passed by.
#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
#include <vector>

#include "search/algorithm.h"
#include "search/mcts/frontier_queue.h"
#include "search/parts/choose.h"
#include "search/parts/logprob.h"
#include "search/parts/path_visit.h"

namespace espalier {
namespace {

enum class Judge : uint8_t { kReward, kVerifier, kReference };
constexpr std::array<std::string_view, 3> kJudgeNames = {"reward", "verifier",
                                                         "reference"};

struct FrontierOptions {
  int simulations = 0;
  int width = 8;
  int in_flight = 1;
  float temperature = 1;
  FrontierWeights weights;
  float c = 2;
  bool constrained = true;
  Judge judge = Judge::kReward;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "descents; 0: until the budget is spent");
    v.Int("width", &width, 1, 4096, "samples of a node");
    v.Int("in_flight", &in_flight, 1, 4096, "descents under way at once");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    v.Real("parent_weight", &weights.parent, 0, 1000, "l1: the parent's q");
    v.Real("entropy_weight", &weights.entropy, 0, 1000, "l2: surprisal");
    v.Real("depth_weight", &weights.depth, 0, 1000, "l3: depth");
    v.Real("value_weight", &weights.value, 0, 1000, "l4: the node's own q");
    v.Real("c", &c, 0, 1000, "exploration constant of the descent");
    v.Flag("constrained", &constrained, "constrained backup, else the mean");
    VisitChoice(v, "judge", &judge, kJudgeNames,
                "who judges ends; verifier: a puzzle's rules, the tests that a "
                "question shows; reference: for training data only");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
  std::vector<RequestKind> Needs() const {
    const std::array<RequestKind, 3> by = {
        RequestKind::kEvaluate, RequestKind::kVerify, RequestKind::kGrade};
    return {RequestKind::kExpand, by[static_cast<size_t>(judge)]};
  }
};

struct FrontierSearch {
  FrontierSearch(SearchContext& ctx, const FrontierOptions& given)
      : options(given),
        queue(ctx.tree(), given.weights, ctx.format().max_steps,
              [&ctx](NodeId node, float key) { ctx.Keep(node, key); }),
        votes(given.choice, {.simulations = given.simulations,
                             .in_flight = given.in_flight,
                             .votes = given.width}) {}
  const FrontierOptions& options;
  FrontierQueue queue;
  Votes votes;
  int started = 0;
  int descending = 0;
};

// A finished response and what it is worth, in [-1, 1].
struct End {
  NodeId node = kNoNode;
  float value = 0;
};

// Stage 2, one level: an open child without an expansion under way.
NodeId Pick(const Tree& tree, NodeId parent, float c) {
  const Node& node = tree[parent];
  const float log_n = std::log(
      std::max(1.0f, static_cast<float>(node.visits + node.in_flight)));
  NodeId best = kNoNode;
  float best_score = -INFINITY;
  for (const NodeId child : Children(tree, parent)) {
    const Node& ch = tree[child];
    if ((ch.flags & (kTerminal | kTruncated | kClosed)) != 0) continue;
    if (ch.expanded() && ch.num_children == 0) continue;
    const float n = static_cast<float>(ch.visits + ch.in_flight);
    const float score =
        ch.q + c * std::sqrt(log_n / std::max(1.0f, n)) + (n == 0 ? c : 0);
    if (score > best_score) {
      best_score = score;
      best = child;
    }
  }
  return best;
}

// Stage 3.
Co<> Judged(SearchContext& ctx, Judge judge, std::vector<End>& ends) {
  std::vector<NodeId> nodes;
  for (const End& end : ends) nodes.push_back(end.node);
  if (judge == Judge::kReward) {
    co_await ctx.Evaluate(nodes);
    for (End& end : ends) {
      const Node& node = ctx.tree()[end.node];
      end.value =
          node.scored() ? 2 * ctx.tree().step(end.node).path_score - 1 : 0;
    }
    co_return;
  }
  std::vector<Awaiting<Verification>> asked;
  for (const NodeId node : nodes) {
    asked.push_back(judge == Judge::kVerifier ? ctx.Verify(node)
                                              : ctx.Grade(node));
  }
  for (size_t i = 0; i < ends.size(); ++i) {
    const Verification verdict = co_await asked[i];
    ends[i].value = verdict.correct ? 1 : -1;
  }
}

// Stage 4: which end is backed up.
End Chosen(const Tree& tree, const FrontierOptions& options,
           const std::vector<End>& ends) {
  End best = ends[0];
  for (const End& end : ends) {
    const bool calmer = options.judge != Judge::kReward &&
                        end.value == best.value &&
                        MeanLogprob(tree, kRoot, end.node) >
                            MeanLogprob(tree, kRoot, best.node);
    if (end.value > best.value || calmer) best = end;
  }
  return best;
}

void BackUp(Tree& tree, PathVisit& visit, float value, bool constrained) {
  const std::vector<NodeId>& path = visit.path();
  const int length = static_cast<int>(path.size()) - 1;
  for (size_t d = 0; d < path.size(); ++d) {
    Node& node = tree[path[d]];
    node.q =
        constrained
            ? ConstrainedValue(node.q, static_cast<int>(node.visits), value,
                               static_cast<int>(d), length)
            : node.q + (value - node.q) / static_cast<float>(node.visits + 1);
  }
  visit.Finish();
}

// Stages 2 to 4 from the end of `visit` on.
Co<> Descend(SearchContext& ctx, FrontierSearch& s, PathVisit& visit) {
  Tree& tree = ctx.tree();
  while (true) {
    const NodeId at = visit.last();
    const Expansion expansion = co_await ctx.Expand(
        at, {.n = s.options.width, .temperature = s.options.temperature});
    if (expansion.samples.empty()) {
      if (!ctx.ShouldStop()) tree[at].flags |= kTruncated;
      co_return;
    }
    std::vector<End> ends;
    for (const NodeId c : expansion.samples) {
      if (tree[c].terminal() && (ends.empty() || ends.back().node != c)) {
        ends.push_back({c});
      } else {
        s.queue.Enter(c, s.options.width);
      }
    }
    ctx.Drop(at);
    if (!ends.empty()) {
      co_await Judged(ctx, s.options.judge, ends);
      for (const End& end : ends) {
        ctx.Drop(end.node);
        s.votes.Add(ctx, end.node, (end.value + 1) / 2);
        s.votes.Offer(ctx);
      }
      const End chosen = Chosen(tree, s.options, ends);
      visit.Enter(chosen.node);
      BackUp(tree, visit, chosen.value, s.options.constrained);
      ctx.CountSimulation();
      co_return;
    }
    const NodeId next = Pick(tree, at, s.options.c);
    if (next == kNoNode || ctx.ShouldStop()) co_return;
    visit.Enter(next);
  }
}

Co<> FrontierWorker(SearchContext& ctx, FrontierSearch& s) {
  PathVisit visit(ctx.tree());
  while (!ctx.ShouldStop() &&
         (s.options.simulations == 0 || s.started < s.options.simulations)) {
    const NodeId chosen = s.queue.Take();  // 1
    if (chosen == kNoNode) {
      if (s.descending == 0) break;  // nothing is left anywhere
      co_await ctx.Yield();
      continue;
    }
    ++s.started;
    ++s.descending;
    visit.Begin();
    for (const NodeId id : ctx.tree().Path(chosen)) visit.Enter(id);
    co_await Descend(ctx, s, visit);
    const std::vector<NodeId> path = visit.path();
    visit.Abandon();  // of a descent without an end
    for (const NodeId id : path) s.queue.Changed(id, s.options.width);
    --s.descending;
  }
}

Co<> RunFrontier(SearchContext& ctx, const FrontierOptions& options) {
  FrontierSearch search(ctx, options);
  search.queue.Enter(kRoot, options.width);
  std::vector<Co<>> workers;
  for (int i = 0; i < options.in_flight; ++i) {
    workers.push_back(FrontierWorker(ctx, search));
  }
  WhenAll all(workers);
  co_await all;
}

const RegisterAlgorithm<FrontierOptions> kFrontier(
    "frontier", "DeepSearch's global frontier selection", {}, &RunFrontier,
    MethodNotes{.source = "DeepSearch, Wu et al. 2025, arXiv:2509.25454",
                .when_to_use = "a whole tree's leaves compete for the next "
                               "expansion, to collect training data",
                .test = "tests/search/frontier_test.cc"});

}  // namespace
}  // namespace espalier
