// VM-MCTS: value-model-guided tree search over the lines of whole completions
// (ReST-RL, Zhoubian et al. 2025, arXiv:2508.19576).
//
//   1. select    from the root, the kept child with the highest
//                  V(c) + C sqrt((1 + ln N(s)) / (eps + N(c))),
//                ties at random, to a node that was not completed yet or ends a
//                response;
//   2. complete  `samples` whole completions of it, whose distinct first steps
//                are its children, in that order;
//   3. evaluate  value=first_steps: V(c) is the reward model's score of c, and
//                each completion through c counts as a visit of that value;
//                value=completions: V(c) and N(c) start at 0. The `keep`
//                children of highest V stay, ties to the first;
//   4. backup    N counts completions, V = sum / N. The leaf and its ancestors
//                get `samples` more visits: with value=first_steps those of the
//                leaf's children, with value=completions one visit for each
//                completion, with its worth. If the leaf ends a response, it
//                and its ancestors get one visit, with its worth the first time
//                and with its V from then on.
//
// The worth of a completion is its score or, with `verify`, its verdict. The
// completion of highest worth is the answer, ties to the first from the root
// down. C = .1 to
// decode and .2 to collect training data, eps = .1, 5 samples.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "search/algorithm.h"
#include "search/choose.h"
#include "search/mcts/mcts.h"
#include "search/parts/common_options.h"
#include "search/parts/rollout.h"

namespace espalier {
namespace {

enum class ValuedText : uint8_t { kFirstSteps, kCompletions };
constexpr std::array<std::string_view, 2> kValueOfNames = {"first_steps",
                                                           "completions"};

struct VmOptions {
  int simulations = 0;
  int samples = 5;
  int keep = 5;
  float c = 0.1f;
  float eps = 0.1f;
  float temperature = 1;
  ValuedText value = ValuedText::kFirstSteps;
  bool verify = false;
  bool close = true;
  AnswerChoice choice = AnswerChoice::kBest;
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "number of simulations; 0: until the budget is spent");
    v.Int("samples", &samples, 1, 4096, "completions per node");
    v.Int("keep", &keep, 1, 4096, "children kept, by value");
    v.Real("c", &c, 0, 1000, "exploration constant C");
    v.Real("eps", &eps, 1e-6f, 1000,
           "pseudo-visits of each child in the exploration term");
    VisitTemperature(v, &temperature);
    VisitChoice(v, "value", &value, kValueOfNames,
                "what is backed up: the scores of the completions' first "
                "steps, or the values of the completions");
    v.Flag("verify", &verify,
           "the value of a completion is the verifier's verdict");
    v.Flag("close", &close, "never revisit finished nodes and subtrees");
    VisitAnswerChoice(v, &choice);
  }
  std::vector<RequestKind> Needs() const {
    std::vector<RequestKind> needs = {RequestKind::kExpand};
    const bool scores = value == ValuedText::kFirstSteps || !verify;
    if (scores) needs.push_back(RequestKind::kEvaluate);
    if (verify) needs.push_back(RequestKind::kVerify);
    return needs;
  }
};

// A node as the search sees it. N is Node::visits.
struct VmNode {
  double sum = 0;                           // of the values of its visits
  float worth = NAN;                        // of a response that ends here
  absl::InlinedVector<NodeId, 5> children;  // kept and dropped ones
  std::vector<NodeId> ends;                 // of its completions
};

struct Vm {
  Vm(SearchContext& ctx, const VmOptions& given)
      : options(given), tree(ctx.tree()), places(1), votes(given.choice) {}
  VmNode& operator[](NodeId id) { return places[id]; }
  double Value(NodeId id) {
    return tree[id].visits == 0 ? 0 : places[id].sum / tree[id].visits;
  }
  void AddVisits(NodeId id, int n, double sum) {
    tree[id].visits += static_cast<uint32_t>(n);
    places[id].sum += sum;
    tree[id].q = static_cast<float>(Value(id));
  }

  const VmOptions& options;
  Tree& tree;
  std::vector<VmNode> places;  // by node
  uint64_t ties = 0;           // so far
  Votes votes;
};

// Stage 1, one level. Dropped and finished children are closed.
NodeId Pick(SearchContext& ctx, Vm& s, NodeId parent) {
  const double log_n = std::log(s.tree[parent].visits);
  absl::InlinedVector<NodeId, 5> best;
  double highest = 0;
  for (const NodeId child : s[parent].children) {
    if (s.tree[child].closed()) continue;
    const double score =
        s.Value(child) +
        s.options.c *
            std::sqrt((1 + log_n) / (s.options.eps + s.tree[child].visits));
    if (score < highest && !best.empty()) continue;
    if (score > highest) best.clear();
    best.push_back(child);
    highest = score;
  }
  if (best.size() == 1) return best[0];
  const double u =
      ctx.Stream(parent, Purpose::kSelect, s.ties++).UniformDouble();
  return best[static_cast<size_t>(u * static_cast<double>(best.size()))];
}

// Sets the worth of `ends`. False if the budget ran out.
Co<bool> Judge(SearchContext& ctx, Vm& s, const std::vector<NodeId>& ends) {
  for (const NodeId end : ends) {
    if (!std::isnan(s[end].worth)) continue;
    if (s.options.verify) {
      const Verification verdict = co_await ctx.Verify(end);
      if (verdict.done) s[end].worth = verdict.correct ? 1 : 0;
    } else {
      s[end].worth = s.tree.score(end);
    }
    if (std::isnan(s[end].worth)) co_return false;
  }
  co_return true;
}

// Stages 2 and 3. False if the budget ran out.
Co<bool> Complete(SearchContext& ctx, Vm& s, NodeId leaf) {
  const VmOptions& o = s.options;
  std::vector<NodeId> ends, first_steps;  // by completion
  for (int k = 0; k < o.samples; ++k) {
    const NodeId end = co_await Rollout(ctx, leaf, o.temperature);
    if (end == kNoNode) continue;
    ends.push_back(end);
    NodeId first = end;
    while (s.tree[first].parent != leaf) first = s.tree[first].parent;
    first_steps.push_back(first);
  }
  s.places.resize(s.tree.size());
  if (ends.empty()) co_return !ctx.ShouldStop();
  std::vector<NodeId> scored;
  if (!o.verify) scored = ends;
  if (o.value == ValuedText::kFirstSteps) {
    scored.insert(scored.end(), first_steps.begin(), first_steps.end());
  }
  if (!scored.empty()) co_await ctx.Evaluate(scored);
  for (const NodeId id : scored) {
    if (!s.tree[id].scored()) co_return false;
  }
  if (!co_await Judge(ctx, s, ends)) co_return false;
  for (const NodeId end : ends) {
    s.votes.Add(ctx, end, s[end].worth);
    s.votes.Offer(ctx);
  }
  auto& children = s[leaf].children;
  for (const NodeId c : first_steps) {
    if (std::find(children.begin(), children.end(), c) == children.end()) {
      children.push_back(c);
    }
    if (o.value == ValuedText::kFirstSteps) {
      s.AddVisits(c, 1, s.tree.score(c));
    }
  }
  std::vector<NodeId> order(children.begin(), children.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](NodeId a, NodeId b) { return s.Value(a) > s.Value(b); });
  for (size_t i = 0; i < order.size(); ++i) {
    const bool drop = i >= static_cast<size_t>(o.keep);
    const bool done = o.close && s.tree[order[i]].terminal();
    if (drop || done) s.tree[order[i]].flags |= kClosed;
  }
  s[leaf].ends = std::move(ends);
  co_return true;
}

// Stage 4.
Co<bool> BackUp(SearchContext& ctx, Vm& s, const std::vector<NodeId>& path) {
  const NodeId leaf = path.back();
  int n = 0;
  double sum = 0;
  if (s.tree[leaf].terminal()) {
    n = 1;
    sum = s.Value(leaf);
    if (s.tree[leaf].visits == 0) {
      const std::vector<NodeId> ends(1, leaf);
      if (!co_await Judge(ctx, s, ends)) co_return false;
      sum = s[leaf].worth;
    }
  } else if (s.options.value == ValuedText::kCompletions) {
    for (const NodeId end : s[leaf].ends) {
      n += 1;
      sum += s[end].worth;
    }
  } else {
    for (const NodeId c : s[leaf].children) {
      n += static_cast<int>(s.tree[c].visits);
      sum += s[c].sum;
    }
  }
  for (size_t i = path.size(); i-- > 0;) s.AddVisits(path[i], n, sum);
  co_return true;
}

// Closes nodes of `path` whose children are all closed, from the last one up.
void CloseUp(Vm& s, const std::vector<NodeId>& path) {
  for (size_t i = path.size(); i-- > 0;) {
    for (const NodeId c : s[path[i]].children) {
      if (!s.tree[c].closed()) return;
    }
    s.tree[path[i]].flags |= kClosed;
  }
}

// The completions of `node` vote, then those of its children.
void VoteInPreorder(SearchContext& ctx, Vm& s, NodeId node, Votes& votes) {
  for (const NodeId end : s[node].ends) votes.Add(ctx, end, s[end].worth);
  for (const NodeId c : s[node].children) VoteInPreorder(ctx, s, c, votes);
}

Co<> RunVm(SearchContext& ctx, const VmOptions& options) {
  Vm s(ctx, options);
  for (int i = 0, idle = 0;
       (options.simulations == 0 || i < options.simulations) &&
       !TooIdle(idle, options.simulations);
       ++i, ++idle) {
    if (ctx.ShouldStop() || s.tree[kRoot].closed()) break;
    std::vector<NodeId> path = {kRoot};  // 1
    while (!s[path.back()].children.empty()) {
      path.push_back(Pick(ctx, s, path.back()));
    }
    if (!s.tree[path.back()].terminal()) {
      const int64_t tokens = ctx.usage().tokens;
      if (!co_await Complete(ctx, s, path.back())) break;  // 2, 3
      if (ctx.usage().tokens > tokens) idle = 0;
      // Nothing follows, or nothing left to visit: never visit it again.
      CloseUp(s, path);
      if (s[path.back()].children.empty()) continue;
    }
    if (!co_await BackUp(ctx, s, path)) break;  // 4
    ctx.CountSimulation();
  }
  Votes votes(options.choice);
  VoteInPreorder(ctx, s, kRoot, votes);
  if (!votes.empty()) votes.Offer(ctx);
}

const RegisterAlgorithm<VmOptions> kVm(
    "vm_mcts",
    "VM-MCTS of ReST-RL: samples whole completions and keeps their first steps",
    {}, &RunVm,
    MethodNotes{.source = "ReST-RL, Zhoubian et al. 2025, arXiv:2508.19576",
                .when_to_use = "whole completions are cheap, as in code, and a "
                               "value model ranks first steps",
                .test = "tests/search/golden_rest_test.cc"});

}  // namespace
}  // namespace espalier
