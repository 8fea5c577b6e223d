// MCTS*: the search of ReST-MCTS* (Zhang et al. 2024, arXiv:2406.03816).
//
//   1. select    from the root to a node without children, always the child
//                with the highest
//                  V(c) + C sqrt(2 ln N(s) / N(c)),  V(c) + INF if unvisited,
//                ties at random; stops early at a node with V of at least
//                `gate`;
//   2. expand    `branch` samples; an ended response has no children;
//   3. evaluate  V(c) by the reward model;
//   4. roll out  up to `forward` steps from the best new child, which are used
//                only for its value and are not children:
//                  V(c) <- (1 - a) V(c) + a max over the steps of V(step),
//                0 if no step came. That is the child's first visit;
//   5. backup    N(s) += 1, V(s) = sum_c N(c) V(c) / sum_c N(c), from the
//                expanded node up to the root. An ended response keeps its V
//                and is visited again, unless `close`.
//
// The answer, by `answer`:
//   response  the finished response with the best score, including those
//             reached by rollouts; one at the gate ends the search (ours);
//   node      the node with the highest V, ties to the last, or the first one
//             that selection finds at the gate, finished or not. If unfinished
//             it is completed greedily;
//   end       the best end of the whole tree;
//   vote      the answer with the highest sum of V over its ends. Ends are
//             ended responses and nodes at the gate, which are not expanded.
//
// C = .4, INF = .8, a = .5, gate = .9, branch 3 as in its code.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "search/algorithm.h"
#include "search/mcts/mcts.h"
#include "search/parts/common_options.h"
#include "search/parts/rollout.h"

namespace espalier {
namespace {

enum class StarAnswer : uint8_t { kResponse, kNode, kEnd, kVote };
constexpr std::array<std::string_view, 4> kStarAnswerNames = {
    "response", "node", "end", "vote"};

struct StarOptions {
  int simulations = 0;
  int branch = 3;
  float temperature = 1;
  float c = 0.4f;
  float unvisited = 0.8f;
  float gate = 0.9f;
  int forward = 2;
  int forward_branch = 1;
  float forward_weight = 0.5f;
  bool forward_greedy = false;
  bool close = true;
  StarAnswer answer = StarAnswer::kResponse;
  // A chosen node is completed; answer=response needs a finished response.
  int64_t AtOnce() const {
    if (answer != StarAnswer::kResponse) return 1;
    return branch + int64_t{forward} * forward_branch;
  }
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "number of simulations; 0: until the budget is spent");
    v.Int("branch", &branch, 1, 4096, "samples per leaf expansion");
    VisitTemperature(v, &temperature);
    v.Real("c", &c, 0, 1000, "exploration constant C");
    v.Real("unvisited", &unvisited, 0, 1000, "bonus INF of unvisited children");
    v.Real("gate", &gate, 0, 2,
           "value at which a node ends the search or counts as finished; above "
           "1: never");
    v.Int("forward", &forward, 0, 64,
          "lookahead steps from a new leaf's best child, for its value; they "
          "count as 0 if none could be sampled");
    v.Int("forward_branch", &forward_branch, 1, 64,
          "samples per lookahead step, the best of which is continued");
    v.Real("forward_weight", &forward_weight, 0, 1,
           "weight of the lookahead in that value");
    v.Flag("forward_greedy", &forward_greedy,
           "lookahead steps use temperature 0");
    v.Flag("close", &close, "never revisit finished nodes and subtrees");
    VisitChoice(
        v, "answer", &answer, kStarAnswerNames,
        "the best finished response; the best node, completed; the best end of "
        "the tree; or a vote of its ends, weighted by value");
  }
};

// A node as the search sees it.
struct Place {
  double value = 0;                         // V
  absl::InlinedVector<NodeId, 4> children;  // distinct, in order of sampling
  bool ended = false;                       // nothing follows
};

struct Star {
  Star(SearchContext& ctx, const StarOptions& given)
      : options(given), tree(ctx.tree()), places(1) {}

  Place& operator[](NodeId id) { return places[id]; }
  bool AtGate(NodeId id) { return places[id].value >= options.gate; }
  // True if nothing is sampled there.
  bool Ended(NodeId id) {
    return places[id].ended || (whole_tree() && AtGate(id));
  }
  bool EndsSearch(NodeId id) {
    return AtGate(id) &&
           (options.answer == StarAnswer::kNode ||
            (options.answer == StarAnswer::kResponse && tree[id].terminal()));
  }
  bool whole_tree() const {
    return options.answer == StarAnswer::kEnd ||
           options.answer == StarAnswer::kVote;
  }

  const StarOptions& options;
  Tree& tree;
  std::vector<Place> places;  // by node
  uint64_t ties = 0;          // so far
  NodeId chosen = kNoNode;    // at the gate
  Votes responses{AnswerChoice::kBest};
};

// Stage 1, one level.
NodeId BestChild(SearchContext& ctx, Star& s, NodeId parent) {
  const double log_n = std::log(std::max(1.0, 1.0 * s.tree[parent].visits));
  absl::InlinedVector<NodeId, 4> best;
  double highest = 0;
  for (const NodeId child : s[parent].children) {
    if (s.tree[child].closed()) continue;
    const double n = s.tree[child].visits;
    const double score =
        s[child].value +
        (n == 0 ? s.options.unvisited : s.options.c * std::sqrt(2 * log_n / n));
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

// `n` scored samples of `from`; nullopt if the budget ran out.
Co<std::optional<std::vector<NodeId>>> Propose(SearchContext& ctx, Star& s,
                                               NodeId from, int n,
                                               float temperature) {
  const Expansion sampled =
      co_await ctx.Expand(from, {.n = n, .temperature = temperature});
  if (sampled.samples.empty() && ctx.ShouldStop()) co_return std::nullopt;
  std::vector<NodeId> whole;
  for (const NodeId c : sampled.samples) {
    if (!s.tree[c].truncated()) whole.push_back(c);
  }
  co_await ctx.Evaluate(whole);
  s.places.resize(s.tree.size());
  for (const NodeId c : whole) {
    if (!s.tree[c].scored()) co_return std::nullopt;
    if (!s.tree[c].terminal() || s[c].ended) continue;
    s[c].ended = true;
    if (s.options.answer != StarAnswer::kResponse) continue;
    s.responses.Add(ctx, c, s.tree.score(c));
    s.responses.Offer(ctx);
  }
  co_return whole;
}

// Stages 2 and 3.
Co<> Open(SearchContext& ctx, Star& s, NodeId leaf) {
  const auto samples =
      co_await Propose(ctx, s, leaf, s.options.branch, s.options.temperature);
  if (!samples.has_value()) co_return;
  auto& children = s[leaf].children;
  for (const NodeId c : *samples) {
    if (std::find(children.begin(), children.end(), c) != children.end()) {
      continue;
    }
    children.push_back(c);
    s[c].value = s.tree.score(c);
    s.tree[c].q = s.tree.score(c);
  }
  s[leaf].ended = children.empty();
}

// Stage 4.
Co<> RollOut(SearchContext& ctx, Star& s, NodeId child) {
  if (s[child].ended) co_return;
  const float temperature =
      s.options.forward_greedy ? 0 : s.options.temperature;
  double best = 0;
  NodeId at = child;
  for (int k = 0; k < s.options.forward && !s.tree[at].terminal(); ++k) {
    const auto steps =
        co_await Propose(ctx, s, at, s.options.forward_branch, temperature);
    if (!steps.has_value()) co_return;
    if (steps->empty()) break;
    at = *std::max_element(
        steps->begin(), steps->end(),
        [&](NodeId a, NodeId b) { return s.tree.score(a) < s.tree.score(b); });
    best = std::max<double>(best, s.tree.score(at));
  }
  const double a = s.options.forward_weight;
  s[child].value = (1 - a) * s[child].value + a * best;
}

// Stage 5.
void BackUp(Star& s, PathVisit& visit) {
  const std::vector<NodeId>& path = visit.path();
  visit.Finish();
  for (size_t i = path.size(); i-- > 0;) {
    Place& place = s[path[i]];
    double visits = 0, sum = 0;
    bool all_closed = true;
    for (const NodeId c : place.children) {
      visits += s.tree[c].visits;
      sum += s.tree[c].visits * s[c].value;
      all_closed &= s.tree[c].closed();
    }
    if (visits > 0) place.value = sum / visits;
    s.tree[path[i]].q = static_cast<float>(place.value);
    const bool closes = place.children.empty() ? s.Ended(path[i]) : all_closed;
    if (s.options.close && closes) s.tree[path[i]].flags |= kClosed;
  }
}

// The nodes at and below `node`, parents first.
void InPreorder(Star& s, NodeId node, std::vector<NodeId>& nodes) {
  nodes.push_back(node);
  for (const NodeId c : s[node].children) InPreorder(s, c, nodes);
}

// The nodes that make the answer: one or, for answer=vote, all ends.
std::vector<NodeId> Chosen(Star& s) {
  if (s.chosen != kNoNode) return {s.chosen};
  std::vector<NodeId> nodes, ends;
  InPreorder(s, kRoot, nodes);
  for (const NodeId id : nodes) {
    if (s.whole_tree() && s[id].children.empty() && s.Ended(id)) {
      ends.push_back(id);
    }
  }
  if (!ends.empty() && s.options.answer == StarAnswer::kVote) return ends;
  // Ties go to the last of several nodes, to the first of several ends.
  const std::vector<NodeId>& among = ends.empty() ? nodes : ends;
  NodeId best = among[0];
  for (const NodeId id : among) {
    const double ahead = s[id].value - s[best].value;
    if (ends.empty() ? ahead >= 0 : ahead > 0) best = id;
  }
  return {best};
}

Co<> Answer(SearchContext& ctx, Star& s) {
  Votes votes(AnswerChoice::kWeighted);
  for (const NodeId id : Chosen(s)) {
    const NodeId end = co_await CarryOn(ctx, id);
    if (end != kNoNode) votes.Add(ctx, end, static_cast<float>(s[id].value));
  }
  if (!votes.empty()) votes.Offer(ctx);
}

Co<> RunStar(SearchContext& ctx, const StarOptions& options) {
  Star s(ctx, options);
  PathVisit visit(s.tree);
  for (int i = 0, idle = 0;
       (options.simulations == 0 || i < options.simulations) &&
       !TooIdle(idle, options.simulations);
       ++i, ++idle) {
    if (ctx.ShouldStop() || s.tree[kRoot].closed()) break;
    visit.Begin();  // 1
    while (!s[visit.last()].children.empty()) {
      visit.Enter(BestChild(ctx, s, visit.last()));
    }
    const NodeId leaf = visit.last();
    if (s.EndsSearch(leaf)) {
      visit.Abandon();
      s.chosen = leaf;
      break;
    }
    if (!s.Ended(leaf)) {
      const int64_t tokens = ctx.usage().tokens;
      co_await Open(ctx, s, leaf);  // 2, 3
      if (!s[leaf].children.empty()) {
        visit.Enter(BestChild(ctx, s, leaf));
        co_await RollOut(ctx, s, visit.last());  // 4
      } else if (!s[leaf].ended) {
        visit.Abandon();
        break;
      }
      if (ctx.usage().tokens > tokens) idle = 0;
    }
    BackUp(s, visit);  // 5
    ctx.CountSimulation();
  }
  if (options.answer != StarAnswer::kResponse) co_await Answer(ctx, s);
}

const RegisterAlgorithm<StarOptions> kStar(
    "mcts_star",
    "MCTS* of ReST-MCTS*: backs up visit-weighted means of child values",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunStar,
    MethodNotes{.source = "ReST-MCTS*, Zhang et al. 2024, arXiv:2406.03816",
                .when_to_use = "the reward model scores unfinished paths well "
                               "and responses are long",
                .test = "tests/search/golden_rest_test.cc"});

}  // namespace
}  // namespace espalier
