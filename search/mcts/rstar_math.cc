// The search of rStar-Math (Guan et al. 2025, arXiv:2501.04519).
//
// N and q of a node count two things: its own first value, if it is a step, and
// the ends found below it. A rollout itself backs up nothing. It starts at the
// best open child of the root (the first one at the root itself) and does, at
// most max_depth times:
//
//   1. expand    a node without children: `branch` samples. With end_alone, if
//                one of them ends the response with an answer, the first such
//                is kept and all others are dropped;
//   2. evaluate  what was kept, r to the value low + (1 - low) r. The value of
//                an end is a visit of every node on its path, that of a step a
//                visit of itself only. A rejected step (it ends without an
//                answer, or is deeper than max_depth) has the value `low` and
//                is never selected;
//   3. select    the open child with the highest
//                  q(c) + C sqrt(ln N(s) / N(c)),
//                the first of equals. q is 0 while N(c) is, and the second term
//                is while N(c) or N(s) is. Ends are not open, and a node closes
//                when selection finds no open child below it: then the rollout
//                is over.
//
// The answer is that of the end with the highest value.
//
// The published values are in (-1, 1), low = -1, with C = 2. Scores in (0, 1)
// give the same search with C = 1.
//
// Differs: by default an end leaves its siblings in place (published:
// end_alone), which found better answers in the scripted worlds and budgets
// tried. Steps are lines of text, not programs, and are rejected for no other
// reasons. A node that nothing follows is sampled once; the program samples it
// again at each move.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/common_options.h"

namespace espalier {
namespace {

enum class RstarJudge : uint8_t { kReward, kVerifier, kReference };
constexpr std::array<std::string_view, 3> kJudgeNames = {"reward", "verifier",
                                                         "reference"};

struct RstarMathOptions {
  int simulations = 0;
  int branch = 4;
  int max_depth = 0;
  float temperature = 1;
  float c = 1;
  float low = 0;
  bool update_leaf_value = true;
  bool end_alone = false;
  RstarJudge judge = RstarJudge::kReward;
  AnswerChoice choice = AnswerChoice::kBest;
  int64_t AtOnce() const { return branch; }
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "rollouts; 0: until the budget is spent");
    v.Int("branch", &branch, 1, 4096, "samples per node");
    v.Int("max_depth", &max_depth, 0, 1 << 15,
          "maximum steps of a response and moves of a rollout; 0: the task's "
          "limit");
    VisitTemperature(v, &temperature);
    v.Real("c", &c, 0, 1000, "exploration constant");
    v.Real("low", &low, -1, 0,
           "value of a score of 0; a score of 1 has value 1");
    v.Flag("update_leaf_value", &update_leaf_value,
           "a new step's own value counts as its first visit");
    v.Flag("end_alone", &end_alone,
           "if a sample ends with an answer, its siblings are dropped");
    VisitChoice(v, "judge", &judge, kJudgeNames,
                "what judges finished responses; verifier: puzzle rules, "
                "public tests; reference: for training data only");
    VisitAnswerChoice(v, &choice);
  }
  std::vector<RequestKind> Needs() const {
    std::vector<RequestKind> needs = {RequestKind::kExpand};
    if (judge == RstarJudge::kReward || update_leaf_value) {
      needs.push_back(RequestKind::kEvaluate);
    }
    if (judge == RstarJudge::kVerifier) needs.push_back(RequestKind::kVerify);
    if (judge == RstarJudge::kReference) needs.push_back(RequestKind::kGrade);
    return needs;
  }
};

struct RstarMath {
  RstarMath(SearchContext& ctx, const RstarMathOptions& given)
      : options(given),
        max_depth(given.max_depth == 0 ? ctx.format().max_steps
                                       : given.max_depth),
        votes(given.choice) {}
  const RstarMathOptions& options;
  const int max_depth;
  Votes votes;
  // Sums of the values of visits at full precision, so that equal means compare
  // equal.
  std::vector<double> sums;
};

bool Opened(const Tree& tree, NodeId id) {
  return (tree[id].flags & kOpened) != 0;
}

bool IsEnd(SearchContext& ctx, NodeId id) {
  return ctx.tree()[id].terminal() && ctx.AnswerOf(id) >= 0;
}

bool Rejected(SearchContext& ctx, const RstarMath& s, NodeId id) {
  return ctx.tree()[id].terminal() ? !IsEnd(ctx, id)
                                   : ctx.tree().step(id).depth > s.max_depth;
}

// Counts a visit with the reward model's `score`.
void Count(Tree& tree, RstarMath& s, NodeId id, double score) {
  if (s.sums.size() < tree.size()) s.sums.resize(tree.size());
  s.sums[id] += s.options.low + (1.0 - s.options.low) * score;
  ++tree[id].visits;
  tree[id].q = static_cast<float>(s.sums[id] / tree[id].visits);
}

void CountOwn(Tree& tree, RstarMath& s, NodeId id, double score) {
  tree.step(id).own_visit = true;
  Count(tree, s, id, score);
}

// The samples to continue with, without repeats, in order.
std::vector<NodeId> Kept(SearchContext& ctx, const RstarMath& s,
                         const Expansion& expansion) {
  Tree& tree = ctx.tree();
  std::vector<NodeId> kept;
  NodeId end = kNoNode;
  for (const NodeId id : expansion.samples) {
    if (tree[id].truncated()) continue;
    if (std::find(kept.begin(), kept.end(), id) != kept.end()) continue;
    kept.push_back(id);
    if (end == kNoNode && IsEnd(ctx, id)) end = id;
  }
  if (!s.options.end_alone || end == kNoNode) return kept;
  for (const NodeId id : kept) {
    if (id != end) tree[id].flags |= kClosed;
  }
  return {end};
}

// Backs up the value of an end to all nodes on its path.
Co<> CountEnd(SearchContext& ctx, RstarMath& s, NodeId end) {
  Tree& tree = ctx.tree();
  tree[end].flags |= kClosed;
  float score = tree.score(end);
  if (s.options.judge != RstarJudge::kReward) {
    // g++ 12 evaluates both sides of a condition inside co_await.
    const Awaiting<Verification> pending =
        s.options.judge == RstarJudge::kVerifier ? ctx.Verify(end)
                                                 : ctx.Grade(end);
    const Verification verdict = co_await pending;
    if (!verdict.done) co_return;
    score = verdict.correct ? 1 : 0;
  } else if (!tree[end].scored()) {
    co_return;
  }
  for (NodeId id = end; id != kNoNode; id = tree[id].parent) {
    Count(tree, s, id, score);
  }
  s.votes.Add(ctx, end, score);
  s.votes.Offer(ctx);
}

// Stages 1 and 2.
Co<> Open(SearchContext& ctx, RstarMath& s, NodeId node) {
  Tree& tree = ctx.tree();
  const Expansion expansion = co_await ctx.Expand(
      node, {.n = s.options.branch, .temperature = s.options.temperature});
  // Perhaps only because of a budget.
  if (expansion.samples.empty() && ctx.ShouldStop()) co_return;
  tree[node].flags |= kOpened;
  const std::vector<NodeId> kept = Kept(ctx, s, expansion);
  std::vector<NodeId> judged;
  for (const NodeId id : kept) {
    const bool needs_score =
        IsEnd(ctx, id) ? s.options.judge == RstarJudge::kReward
                       : s.options.update_leaf_value && !Rejected(ctx, s, id);
    if (needs_score) judged.push_back(id);
  }
  if (!judged.empty()) co_await ctx.Evaluate(judged);
  for (const NodeId id : kept) {
    if (IsEnd(ctx, id)) {
      co_await CountEnd(ctx, s, id);
    } else if (Rejected(ctx, s, id)) {
      tree[id].flags |= kClosed;
      CountOwn(tree, s, id, 0);
    } else if (s.options.update_leaf_value && tree[id].scored()) {
      CountOwn(tree, s, id, tree.score(id));
    }
  }
}

// Stage 3: the child to continue with; if there is none `node` closes.
NodeId Best(Tree& tree, const RstarMath& s, NodeId node) {
  const double above = tree[node].visits;
  NodeId best = kNoNode;
  double highest = 0;
  for (const NodeId id : Children(tree, node)) {
    if ((tree[id].flags & (kTerminal | kTruncated | kClosed)) != 0) continue;
    const double n = tree[id].visits;
    double value = n == 0 ? 0 : s.sums[id] / n;
    if (n > 0 && above > 0)
      value += s.options.c * std::sqrt(std::log(above) / n);
    if (best != kNoNode && value <= highest) continue;
    best = id;
    highest = value;
  }
  if (best == kNoNode) tree[node].flags |= kClosed;
  return best;
}

Co<> RunRstarMath(SearchContext& ctx, const RstarMathOptions& options) {
  RstarMath s(ctx, options);
  Tree& tree = ctx.tree();
  for (int i = 0; (options.simulations == 0 || i < options.simulations) &&
                  !tree[kRoot].closed() && !ctx.ShouldStop();
       ++i) {
    NodeId at = Opened(tree, kRoot) ? Best(tree, s, kRoot) : kRoot;
    for (int move = 0; at != kNoNode && move < s.max_depth; ++move) {
      if (!Opened(tree, at)) co_await Open(ctx, s, at);
      if (ctx.ShouldStop()) break;
      at = Best(tree, s, at);
    }
    ctx.CountSimulation();
  }
}

const RegisterAlgorithm<RstarMathOptions> kRstarMath(
    "rstar_math",
    "rStar-Math: every finished response is backed up to the steps above it",
    {}, &RunRstarMath,
    MethodNotes{.source = "rStar-Math, Guan et al. 2025, arXiv:2501.04519",
                .when_to_use = "the reward model scores steps well and many "
                               "samples per step are affordable",
                .test = "tests/search/golden_rstar_test.cc"});

}  // namespace
}  // namespace espalier
