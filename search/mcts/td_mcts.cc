// TD-MCTS: values learned by temporal differences along the tree (x1;
// "Reasoning Language Models: A Blueprint", Besta et al. 2025,
// arXiv:2501.11223).
//
//   1. select    from the root to a node without children, always the child
//                with the highest
//                  Q01(c) + sqrt(N(s) - 1) / (1 + N(c))
//                           * (c1 + ln((N(s) + c2) / c2)),
//                the first of equals, no prior; Q01 is Q rescaled from
//                [lowest, 1] to [0, 1]. At a node that was not visited yet
//                (N(s) - 1 < 0) the first child;
//   2. expand    `branch` samples;
//   3. evaluate  Q(c) by the reward model or, for a finished response with
//                `verify`, by its verdict. With `rollouts` = k Q(c) becomes
//                (1 - a) Q(c) + a mean of the values of k whole completions of
//                it (none if a = 0). N(c) = 1: this was its first visit;
//   4. backup    from the expanded node up, over all children,
//                  Q(s) <- (1 - lr) Q(s) + lr gamma sum_c N(c) Q(c) / sum N(c),
//                  N(s) += 1.
//
// The search ends with the budget or, by `until`, once selection reaches a
// finished response or once one is generated. The answer is by vote of the
// finished responses or, with `path`, the node that selection reaches at the
// end, finished or not.
//
// gamma = .96, lr = 1, a = .5 as published, c1 = .1 as in the program's
// examples (its own default is 1.25, which spreads too few simulations too
// far).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "search/algorithm.h"
#include "search/mcts/mcts.h"
#include "search/parts/common_options.h"
#include "search/parts/prior.h"
#include "search/parts/rollout.h"

namespace espalier {
namespace {

enum class Until : uint8_t { kBudget, kSelected, kMade };
constexpr std::array<std::string_view, 3> kUntilNames = {"budget", "selected",
                                                         "made"};

struct TdOptions {
  int simulations = 0;
  int branch = 4;
  float temperature = 1;
  float c1 = 0.1f;
  float c2 = 19652;
  float gamma = 0.96f;
  float lr = 1;
  float lowest = 0;
  int rollouts = 0;
  float rollout_weight = 0.5f;
  bool verify = false;
  bool close = true;
  Until until = Until::kBudget;
  bool path = false;
  AnswerChoice choice = AnswerChoice::kWeighted;

  int64_t AtOnce() const { return rollouts > 0 ? 1 : branch; }
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "number of simulations; 0: until the budget is spent");
    v.Int("branch", &branch, 1, 4096, "samples per leaf expansion");
    VisitTemperature(v, &temperature);
    v.Real("c1", &c1, 0, 1000, "exploration constant");
    v.Real("c2", &c2, 1, 1e9f, "visit count from which exploration grows");
    v.Real("gamma", &gamma, 0, 1, "discount per level");
    v.Real("lr", &lr, 0, 1, "learning rate of the backup");
    v.Real("lowest", &lowest, -1, 0,
           "value of a wrong response; a correct one has value 1");
    v.Int("rollouts", &rollouts, 0, 4096,
          "full rollouts per new child, for its value");
    v.Real("rollout_weight", &rollout_weight, 0, 1,
           "weight of their mean in that value");
    v.Flag("verify", &verify,
           "the value of a finished response is the verifier's verdict; an "
           "accepted one ends the search (until=budget)");
    v.Flag("close", &close, "never revisit finished nodes and subtrees");
    VisitChoice(v, "until", &until, kUntilNames,
                "what ends the search: only the budget; selection of a "
                "finished response; or generation of one");
    v.Flag("path", &path,
           "the answer is the node that selection reaches at the end, if "
           "finished");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "otherwise, how the answer is chosen among finished responses");
  }
  std::vector<RequestKind> Needs() const {
    std::vector<RequestKind> needs = {RequestKind::kExpand,
                                      RequestKind::kEvaluate};
    if (verify) needs.push_back(RequestKind::kVerify);
    return needs;
  }
};

// A node as the search sees it.
struct TdNode {
  double q = 0;
  float worth = NAN;  // of a finished response
  // In order of sampling, without completions (3).
  absl::InlinedVector<NodeId, 4> children;
};

struct Td {
  Td(SearchContext& ctx, const TdOptions& given)
      : options(given), tree(ctx.tree()), places(1), votes(given.choice) {}
  TdNode& operator[](NodeId id) { return places[id]; }

  const TdOptions& options;
  Tree& tree;
  std::vector<TdNode> places;  // by node
  Votes votes;
  bool accepted = false;  // by the verifier
};

// Stage 1, one level; kNoNode if all children are closed. Computed in the
// program's precision, to get the same ties.
NodeId Pick(Td& s, NodeId parent) {
  const TdOptions& o = s.options;
  const bool visited = s.tree[parent].visits > 0;
  const float n = visited ? static_cast<float>(s.tree[parent].visits) - 1 : 0;
  const float growth = o.c1 + std::log((n + o.c2 + 1) / o.c2);
  NodeId best = kNoNode;
  float highest = -INFINITY;
  for (const NodeId child : s[parent].children) {
    if (s.tree[child].closed()) continue;
    if (!visited) return child;
    const float visits = static_cast<float>(s.tree[child].visits);
    const float q = static_cast<float>(s[child].q);
    const float score =
        (q - o.lowest) / (1 - o.lowest) + std::sqrt(n) / (1 + visits) * growth;
    if (score > highest) {
      highest = score;
      best = child;
    }
  }
  return best;
}

// Moves `visit` to a node without children.
void Select(Td& s, PathVisit& visit) {
  while (!s[visit.last()].children.empty()) {
    const NodeId next = Pick(s, visit.last());
    if (next == kNoNode) return;
    visit.Enter(next);
  }
}

// The value of a finished response, which then votes. NaN if the budget left no
// score or verdict.
Co<float> Worth(SearchContext& ctx, Td& s, NodeId end) {
  s.places.resize(s.tree.size());
  float worth = s[end].worth;
  if (std::isnan(worth) && s.options.verify) {
    const Verification verdict = co_await ctx.Verify(end);
    if (!verdict.done) co_return NAN;
    worth = verdict.correct ? 1 : s.options.lowest;
    s.accepted |= verdict.correct;
  } else if (std::isnan(worth)) {
    worth = s.tree.score(end);
    if (std::isnan(worth)) co_return NAN;
  }
  s[end].worth = worth;
  s.votes.Add(ctx, end, std::max(0.0f, worth));
  if (!s.options.path) s.votes.Offer(ctx);
  co_return worth;
}

// The value of the scored new node `child`. NaN if the budget ran out.
Co<float> Value(SearchContext& ctx, Td& s, NodeId child) {
  if (s.tree[child].terminal()) co_return co_await Worth(ctx, s, child);
  const float score = s.tree.score(child);
  if (s.options.rollouts == 0 || s.options.rollout_weight == 0) co_return score;
  float sum = 0;
  for (int k = 0; k < s.options.rollouts; ++k) {
    const NodeId end = co_await Rollout(ctx, child, s.options.temperature);
    if (end == kNoNode && ctx.ShouldStop()) co_return score;
    float worth = s.options.lowest;
    if (end != kNoNode) {
      const std::vector<NodeId> ends(1, end);
      if (!s.options.verify) co_await ctx.Evaluate(ends);
      worth = co_await Worth(ctx, s, end);
    }
    if (std::isnan(worth)) co_return score;
    sum += worth;
  }
  const float a = s.options.rollout_weight;
  co_return (1 - a) * score + a* sum / static_cast<float>(s.options.rollouts);
}

// Stages 2 and 3. False if the budget ran out.
Co<bool> Open(SearchContext& ctx, Td& s, NodeId leaf) {
  const Expansion sampled = co_await ctx.Expand(
      leaf, {.n = s.options.branch, .temperature = s.options.temperature});
  if (sampled.samples.empty()) co_return !ctx.ShouldStop();
  std::vector<NodeId> children;
  for (const NodeId c : sampled.samples) {
    const bool known =
        std::find(children.begin(), children.end(), c) != children.end();
    if (!known && !s.tree[c].truncated()) children.push_back(c);
  }
  co_await ctx.Evaluate(children);
  std::vector<float> values;
  for (const NodeId c : children) {
    if (!s.tree[c].scored()) co_return false;
    values.push_back(co_await Value(ctx, s, c));
    if (std::isnan(values.back())) co_return false;
  }
  s.places.resize(s.tree.size());
  for (size_t i = 0; i < children.size(); ++i) {
    const NodeId c = children[i];
    s[leaf].children.push_back(c);
    s[c].q = s.tree[c].q = values[i];
    s.tree[c].visits = 1;
    s.tree.step(c).own_visit = true;
    const bool done = s.options.close && s.tree[c].terminal();
    if (done) s.tree[c].flags |= kClosed;
  }
  co_return true;
}

// Stage 4.
void BackUp(Td& s, PathVisit& visit) {
  const std::vector<NodeId>& path = visit.path();
  visit.Finish();
  for (size_t i = path.size(); i-- > 0;) {
    TdNode& place = s[path[i]];
    if (place.children.empty()) continue;
    double visits = 0, sum = 0;
    for (const NodeId c : place.children) {
      visits += s.tree[c].visits;
      sum += s.tree[c].visits * s.options.gamma * s[c].q;
    }
    place.q = (1 - s.options.lr) * place.q + s.options.lr * sum / visits;
    s.tree[path[i]].q = static_cast<float>(place.q);
  }
}

// Closes nodes of `path` whose children are all closed, from the last one up.
void CloseUp(Td& s, const std::vector<NodeId>& path) {
  for (size_t i = path.size(); i-- > 0;) {
    for (const NodeId c : s[path[i]].children) {
      if (!s.tree[c].closed()) return;
    }
    s.tree[path[i]].flags |= kClosed;
  }
}

Co<> RunTd(SearchContext& ctx, const TdOptions& options) {
  Td s(ctx, options);
  PathVisit visit(s.tree);
  for (int i = 0, idle = 0;
       (options.simulations == 0 || i < options.simulations) &&
       !TooIdle(idle, options.simulations);
       ++i, ++idle) {
    if (ctx.ShouldStop() || s.tree[kRoot].closed()) break;
    if (s.accepted && options.until == Until::kBudget) break;
    visit.Begin();
    Select(s, visit);  // 1
    const NodeId leaf = visit.last();
    bool ends = s.tree[leaf].terminal() && options.until != Until::kBudget;
    if (!s.tree[leaf].terminal()) {
      const int64_t tokens = ctx.usage().tokens;
      ends = !co_await Open(ctx, s, leaf);  // 2, 3
      if (ctx.usage().tokens > tokens) idle = 0;
      if (!ends && s[leaf].children.empty()) {
        // Nothing follows: never visit it again.
        visit.Abandon();
        CloseUp(s, visit.path());
        continue;
      }
      for (const NodeId c : s[leaf].children) {
        ends |= s.tree[c].terminal() && options.until == Until::kMade;
      }
    }
    if (ends) {
      visit.Abandon();
      break;
    }
    BackUp(s, visit);  // 4
    ctx.CountSimulation();
    if (options.close) CloseUp(s, visit.path());
  }
  if (options.path) {
    visit.Begin();
    Select(s, visit);
    visit.Abandon();
    if (visit.last() != kRoot) {
      ctx.Offer(visit.last(), s.tree[visit.last()].q);
    }
  }
}

const RegisterAlgorithm<TdOptions> kTd(
    "td_mcts", "MCTS with temporal-difference backups (x1)", {}, &RunTd,
    MethodNotes{
        .source = "x1, Besta et al. 2025, arXiv:2501.11223",
        .when_to_use =
            "results close to a node should count more than those far below it",
        .test = "tests/search/golden_rest_test.cc"});

}  // namespace
}  // namespace espalier
