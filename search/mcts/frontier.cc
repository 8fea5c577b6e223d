// Global frontier search with constrained backup: DeepSearch (Wu et al. 2025,
// arXiv:2509.25454).
//
//   1. choose    of all nodes below the root that are not full, the one with
//                the highest
//                  F(s) = l1 tanh(q(parent)) + l2 H(s) + l3 sqrt(d / d_max)
//                         + l4 tanh(q(s)),
//                l1 = l2 = .4, l3 = .01, l4 = 0; H is the mean surprisal of the
//                step's tokens; ties go to the first in depth-first order. A
//                node is full once it has `width` children, or `width_decay`
//                fewer for each max_steps / width levels of depth. The first
//                descent starts at the root;
//   2. descend   from it: draw `width` samples. Each new unfinished child gets
//                a first visit of value 0 or 2 r - 1, r its score
//                (`first_visit`), which is not a visit of its parent. If no
//                response ends among them, continue with the open child of
//                highest
//                  q + c sqrt(ln N(s) / N(c)), c = 2;
//                the bonus is 0 while N(s) = 0 or N(c) = 0;
//   3. evaluate  the ends: +1 or -1 by the verifier or the reference, else
//                2 r - 1, r the reward model's score. A response that was cut
//                is an end too: `incomplete`, -1;
//   4. backup    one end: a right one, else a wrong one, else an incomplete
//                one; ties go to the least surprisal. With the reward model:
//                the one of highest score. constrained:
//                  gamma = max((d + 1) / (K + 1), .1), d depth, K length of the
//                  path; V += gamma v if V v >= 0; else V = gamma v if v > 0;
//                  N += 1; q = V / N
//                else q = mean of v. A simulation is an end backed up.
//
// Priorities are kept in a heap. A backup pushes new entries for what it
// changed, so that choosing costs O(log n) without scanning; stale entries are
// skipped.
//
// Differs: first_visit=score is not in the program, which has no reward model
// (preset deepsearch uses 0); equal samples are one child; with several
// descents in flight, those of the others count as visits. The program also has
// a descent from the root by UCT only, off in its scripts: each time it passes
// a full node it counts one more visit of value 0 for every open child and
// judges any end among the children.
#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/mcts/frontier_queue.h"
#include "search/parts/common_options.h"
#include "search/parts/logprob.h"
#include "search/parts/path_visit.h"

namespace espalier {
namespace {

enum class JudgedBy : uint8_t { kReward, kVerifier, kReference };
constexpr std::array<std::string_view, 3> kJudgedByNames = {
    "reward", "verifier", "reference"};

enum class FirstVisit : uint8_t { kZero, kScore };
constexpr std::array<std::string_view, 2> kFirstVisitNames = {"zero", "score"};

struct FrontierOptions {
  int simulations = 0;
  FrontierWidth width;
  int in_flight = 1;
  float temperature = 1;
  FrontierWeights weights;
  float c = 2;
  bool constrained = true;
  float threshold = 0.1f;
  float incomplete = -1;
  FirstVisit first_visit = FirstVisit::kScore;
  JudgedBy judge = JudgedBy::kReward;
  AnswerChoice choice = AnswerChoice::kWeighted;
  int64_t AtOnce() const { return int64_t{width.width} * in_flight; }
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "finished responses backed up; 0: until the budget is spent");
    v.Int("width", &width.width, 1, 4096, "samples per node");
    v.Int("width_decay", &width.decay, 0, 4096,
          "reduction of width for every max_steps / width levels of depth");
    v.Int("least_width", &width.least, 1, 4096, "minimum samples per node");
    v.Int("in_flight", &in_flight, 1, 4096, "concurrent descents");
    VisitTemperature(v, &temperature);
    v.Real("parent_weight", &weights.parent, 0, 1000,
           "l1: weight of the parent's q");
    v.Real("entropy_weight", &weights.entropy, 0, 1000,
           "l2: weight of the surprisal");
    v.Real("depth_weight", &weights.depth, 0, 1000,
           "l3: weight of the depth bonus");
    v.Real("value_weight", &weights.value, 0, 1000,
           "l4: weight of the node's own q");
    VisitChoice(v, "depth_bonus", &weights.bonus, kDepthBonusNames,
                "bonus at depth d: sqrt(d / d_max), ln(d + 1) or d");
    v.Real("c", &c, 0, 1000, "exploration constant of the descent");
    v.Flag("constrained", &constrained,
           "constrained backup; otherwise the mean");
    v.Real("threshold", &threshold, 0, 1, "minimum gamma of the backup");
    v.Real("incomplete", &incomplete, -1, 1,
           "value of a response that was cut before it ended");
    VisitChoice(v, "first_visit", &first_visit, kFirstVisitNames,
                "value of a new unfinished step: 0, or the reward model's");
    VisitChoice(v, "judge", &judge, kJudgedByNames,
                "what judges finished responses; verifier: puzzle rules, "
                "public tests; reference: for training data only");
    VisitAnswerChoice(v, &choice);
  }
  std::vector<RequestKind> Needs() const {
    const std::array<RequestKind, 3> by = {
        RequestKind::kEvaluate, RequestKind::kVerify, RequestKind::kGrade};
    std::vector<RequestKind> needs = {RequestKind::kExpand,
                                      by[static_cast<size_t>(judge)]};
    if (first_visit == FirstVisit::kScore && judge != JudgedBy::kReward) {
      needs.push_back(RequestKind::kEvaluate);
    }
    return needs;
  }
};

struct FrontierSearch {
  FrontierSearch(SearchContext& ctx, const FrontierOptions& given)
      : options(given),
        values(ctx.tree()),
        queue(ctx.tree(), values, given.weights, given.width,
              ctx.format().max_steps,
              [&ctx](NodeId node, double key) { ctx.SetRetention(node, key); }),
        votes(given.choice, {.simulations = given.simulations,
                             .in_flight = given.in_flight,
                             .votes = given.width.width}) {}
  const FrontierOptions& options;
  FrontierValues values;
  FrontierQueue queue;
  Votes votes;
  int ended = 0;       // simulations
  int descending = 0;  // in flight
};

// Where a response ended or was cut, and its value in [-1, 1].
struct PathEnd {
  NodeId node = kNoNode;
  float value = 0;
  bool cut = false;
  bool judged = false;
};

bool IsCut(const SearchContext& ctx, NodeId node) {
  const Tree& tree = ctx.tree();
  return tree[node].truncated() ||
         (!tree[node].terminal() &&
          tree.step(node).depth >= ctx.format().max_steps);
}

// Stage 2: gives new unfinished nodes a first visit, not counted in the parent.
Co<> VisitNew(SearchContext& ctx, FrontierSearch& s,
              const Expansion& expansion) {
  Tree& tree = ctx.tree();
  std::vector<NodeId> fresh;
  for (const NodeId c : expansion.samples) {
    if (tree[c].terminal() || IsCut(ctx, c) || tree.step(c).own_visit) continue;
    if (std::find(fresh.begin(), fresh.end(), c) == fresh.end()) {
      fresh.push_back(c);
    }
  }
  const bool score = s.options.first_visit == FirstVisit::kScore;
  if (score && !fresh.empty()) co_await ctx.Evaluate(fresh);
  for (const NodeId c : fresh) {
    if (score && tree[c].scored()) {
      const double value = 2 * tree.score(c) - 1;
      s.values.Set(c, value, tree[c].visits + 1);
    }
    tree.step(c).own_visit = true;
    ++tree[c].visits;
    s.queue.Enter(c);
  }
}

// Stage 2, one level: an open child without an expansion in flight. Other
// descents count as visits, the caller's does not. Scores are rounded like the
// program's, to get the same ties.
NodeId Pick(const Tree& tree, const FrontierValues& values, NodeId parent,
            double c) {
  const Node& node = tree[parent];
  const double above = static_cast<double>(node.visits) + node.in_flight - 1;
  NodeId best = kNoNode;
  float best_score = -INFINITY;
  for (const NodeId child : Children(tree, parent)) {
    const Node& ch = tree[child];
    if ((ch.flags & (kTerminal | kTruncated | kClosed)) != 0) continue;
    if (ch.expanded() && ch.num_children == 0) continue;
    const double n = static_cast<double>(ch.visits) + ch.in_flight;
    const double bonus =
        above == 0 || n == 0 ? 0 : c * std::sqrt(std::log(above) / n);
    const auto score = static_cast<float>(values.q(child) + bonus);
    if (score > best_score) {
      best_score = score;
      best = child;
    }
  }
  return best;
}

// Stage 3.
Co<> Judge(SearchContext& ctx, const FrontierOptions& options,
           std::vector<PathEnd>& ends) {
  std::vector<NodeId> whole;
  std::vector<Awaiting<Verification>> requests;
  for (const PathEnd& end : ends) {
    if (!end.cut) whole.push_back(end.node);
  }
  if (options.judge == JudgedBy::kReward) {
    co_await ctx.Evaluate(whole);
  } else {
    for (const NodeId node : whole) {
      requests.push_back(options.judge == JudgedBy::kVerifier
                             ? ctx.Verify(node)
                             : ctx.Grade(node));
    }
  }
  size_t i = 0;
  for (PathEnd& end : ends) {
    end.judged = true;
    if (end.cut) {
      end.value = options.incomplete;
    } else if (options.judge == JudgedBy::kReward) {
      const bool scored = ctx.tree()[end.node].scored();
      end.value = scored ? 2 * ctx.tree().score(end.node) - 1 : 0;
    } else {
      const Verification verdict = co_await requests[i];
      ++i;
      end.judged = verdict.done;
      end.value = verdict.correct ? 1 : -1;
    }
  }
}

// Stage 4: the judged end to back up; kNoNode if none.
PathEnd Chosen(const Tree& tree, const FrontierOptions& options,
               const std::vector<PathEnd>& ends) {
  const bool by_reward = options.judge == JudgedBy::kReward;
  // Right before wrong before incomplete.
  const auto rank = [by_reward](float value) {
    if (by_reward) return value;
    return value == 1 ? 2.0f : value == -1 ? 1.0f : 0.0f;
  };
  PathEnd best;
  for (const PathEnd& end : ends) {
    if (!end.judged) continue;
    const float more = rank(end.value) - rank(best.value);
    const bool better = best.node == kNoNode || more > 0 ||
                        (more == 0 && !by_reward &&
                         MeanLogprob(tree, kRoot, end.node) >
                             MeanLogprob(tree, kRoot, best.node));
    if (better) best = end;
  }
  return best;
}

void BackUp(const Tree& tree, FrontierSearch& s, PathVisit& visit,
            double value) {
  const std::vector<NodeId>& path = visit.path();
  const int length = static_cast<int>(path.size()) - 1;
  for (size_t d = 0; d < path.size(); ++d) {
    const double total = s.values.total(path[d]);
    s.values.Set(path[d],
                 s.options.constrained
                     ? ConstrainedValue(total, value, static_cast<int>(d),
                                        length, s.options.threshold)
                     : total + value,
                 tree[path[d]].visits + 1);
  }
  visit.Finish();
}

std::vector<PathEnd> EndsAmong(const SearchContext& ctx,
                               const Expansion& expansion) {
  std::vector<PathEnd> ends;
  for (const NodeId c : expansion.samples) {
    const bool cut = IsCut(ctx, c);
    if (!cut && !ctx.tree()[c].terminal()) continue;
    if (std::none_of(ends.begin(), ends.end(),
                     [c](const PathEnd& end) { return end.node == c; })) {
      ends.push_back({.node = c, .cut = cut});
    }
  }
  return ends;
}

// Stages 2 to 4 from the end of `visit` on.
Co<> DescendFrom(SearchContext& ctx, FrontierSearch& s, PathVisit& visit) {
  Tree& tree = ctx.tree();
  while (true) {
    const NodeId at = visit.last();
    s.queue.Remove(at);
    const int width =
        s.options.width.At(ctx.tree().step(at).depth, ctx.format().max_steps);
    const Expansion expansion = co_await ctx.Expand(
        at, {.n = width, .temperature = s.options.temperature});
    if (expansion.samples.empty()) {
      if (!ctx.ShouldStop()) tree[at].flags |= kTruncated;
      co_return;
    }
    co_await VisitNew(ctx, s, expansion);
    std::vector<PathEnd> ends = EndsAmong(ctx, expansion);
    ctx.Evict(at);
    if (!ends.empty()) {
      co_await Judge(ctx, s.options, ends);
      for (const PathEnd& end : ends) {
        ctx.Evict(end.node);
        if (end.cut || !end.judged) continue;
        s.votes.Add(ctx, end.node, (end.value + 1) / 2);
        s.votes.Offer(ctx);
      }
      const PathEnd chosen = Chosen(tree, s.options, ends);
      if (chosen.node == kNoNode) co_return;
      visit.Enter(chosen.node);
      BackUp(tree, s, visit, chosen.value);
      ++s.ended;
      ctx.CountSimulation();
      co_return;
    }
    const NodeId next = Pick(tree, s.values, at, s.options.c);
    if (next == kNoNode || ctx.ShouldStop()) co_return;
    visit.Enter(next);
  }
}

Co<> FrontierWorker(SearchContext& ctx, FrontierSearch& s) {
  PathVisit visit(ctx.tree());
  while (!ctx.ShouldStop()) {
    // A descent may finish without an end: others may then take its place.
    const bool enough = s.options.simulations > 0 &&
                        s.ended + s.descending >= s.options.simulations;
    const NodeId chosen = enough ? kNoNode : s.queue.Take();  // 1
    if (chosen == kNoNode) {
      if (s.descending == 0) break;  // nothing is left
      co_await ctx.Yield();
      continue;
    }
    ++s.descending;
    visit.Begin();
    for (const NodeId id : ctx.tree().Path(chosen)) visit.Enter(id);
    co_await DescendFrom(ctx, s, visit);
    const std::vector<NodeId> path = visit.path();
    visit.Abandon();  // a descent without an end
    for (const NodeId id : path) s.queue.Changed(id);
    --s.descending;
  }
}

Co<> RunFrontier(SearchContext& ctx, const FrontierOptions& options) {
  FrontierSearch search(ctx, options);
  search.queue.Enter(kRoot);
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
                .when_to_use = "all leaves of the tree should compete for the "
                               "next expansion, to collect training data",
                .test = "tests/search/frontier_test.cc"});

}  // namespace
}  // namespace espalier
