// Reasoning via planning (RAP, Hao et al. 2023, arXiv:2305.14992), following
// the MCTS of LLM Reasoners.
//
// A step has a fast reward f as soon as it is sampled (path_score) and a reward
// r once it was entered (step_score); that of the root is 0. One simulation:
//
//   1. select    from the root, the child with the highest
//                  Q(c) + C sqrt(ln N(s) / max(1, N(c))),
//                the first of equals, until a node without children, an end, or
//                the step limit. Q = f until a child is entered, then the
//                maximum (or the mean) of the values of its visits. With
//                `first`, children that were not entered come before all
//                others, by f;
//   2. expand    enter the node and draw `branch` samples, without repeats;
//   3. simulate  move to the child of highest f, enter and expand it, until an
//                end, the step limit, or a node where nothing was sampled;
//   4. backup    node i of the path s_0 ... s_n has a visit of the value
//                  mean (or sum) of r_i ... r_n.
//
// Nothing is ever closed. A node that selection finds at the step limit is not
// entered: it counts with f, and is no answer.
//
// The answer, over the entered nodes, each node once however often visited:
//   edge        highest sum of the rewards of all nodes that are or lie above
//               an end with that answer, each counted once per answer;
//   max_reward  the end with the highest mean (or sum) of r_1 ... r_n.
// Ties: the end that comes first depth-first.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "search/algorithm.h"
#include "search/choose.h"
#include "search/mcts/mcts.h"
#include "search/parts/common_options.h"
#include "search/parts/path_visit.h"

namespace espalier {
namespace {

enum class PathReward : uint8_t { kMean, kSum };
constexpr std::array<std::string_view, 2> kPathRewardNames = {"mean", "sum"};
enum class Visits : uint8_t { kMean, kMax };
constexpr std::array<std::string_view, 2> kVisitsNames = {"mean", "max"};
enum class Output : uint8_t { kEdge, kMaxReward };
constexpr std::array<std::string_view, 2> kOutputNames = {"edge", "max_reward"};

struct RapOptions {
  int simulations = 0;
  int branch = 4;
  float temperature = 1;
  float c = 1;
  PathReward path_reward = PathReward::kMean;
  Visits q = Visits::kMax;
  bool first = false;
  Output output = Output::kEdge;
  void Visit(OptionVisitor& v) {
    v.Int("simulations", &simulations, 0, 1 << 30,
          "number of simulations; 0: until the budget is spent");
    v.Int("branch", &branch, 1, 4096, "samples per node");
    VisitTemperature(v, &temperature);
    v.Real("c", &c, 0, 1000, "exploration constant");
    VisitChoice(v, "path_reward", &path_reward, kPathRewardNames,
                "how the rewards from a node to the end of the path combine "
                "into the value of a visit");
    VisitChoice(v, "q", &q, kVisitsNames,
                "how the values of a node's visits combine");
    v.Flag("first", &first,
           "select children that were not entered yet before all others");
    VisitChoice(v, "output", &output, kOutputNames,
                "the answer with the highest sum of rewards in the tree, or "
                "that of the best path");
  }
};

// Ends with the same answer.
struct AnswerInTree {
  double edges = 0;
  NodeId first = kNoNode;  // depth-first first
  NodeId best = kNoNode;   // with the highest path reward
  double best_reward = 0;
};

struct Rap {
  explicit Rap(const RapOptions& given) : options(given) {}
  struct Stats {
    bool entered = false;
    double sum = 0;  // sum of the values of its visits
    double best = 0;
  };
  const RapOptions& options;
  std::vector<Stats> of;  // by node
  std::vector<AnswerInTree> answers;
  // Nodes with an end of that answer below them.
  absl::flat_hash_set<std::pair<NodeId, int32_t>> above;
  int64_t ends = 0;
};

double Reward(const Tree& tree, const Rap& s, NodeId id) {
  if (id == kRoot) return 0;
  return s.of[id].entered ? tree.step(id).step_score : tree.score(id);
}

double Q(const Tree& tree, const Rap& s, NodeId id) {
  const Rap::Stats& stats = s.of[id];
  if (!stats.entered) return Reward(tree, s, id);
  return s.options.q == Visits::kMax ? stats.best : stats.sum / tree[id].visits;
}

double PathValue(const Rap& s, double sum, int count) {
  return s.options.path_reward == PathReward::kMean ? sum / count : sum;
}

// The scored child with the highest `value`, the first of equals; kNoNode if
// there is none.
template <class Value>
NodeId Highest(const Tree& tree, NodeId parent, const Value& value) {
  NodeId best = kNoNode;
  double highest = 0;
  for (const NodeId id : Children(tree, parent)) {
    if (tree[id].truncated() || !tree[id].scored()) continue;
    const double of = value(id);
    if (best != kNoNode && of <= highest) continue;
    best = id;
    highest = of;
  }
  return best;
}

// Stage 1, one level.
NodeId Pick(const Tree& tree, const Rap& s, NodeId parent) {
  if (s.options.first) {
    const NodeId fast = Highest(tree, parent, [&](NodeId id) {
      return s.of[id].entered ? -1 : tree.score(id);
    });
    if (fast != kNoNode && !s.of[fast].entered) return fast;
  }
  const double log_n = std::log(std::max(1u, tree[parent].visits));
  return Highest(tree, parent, [&](NodeId id) {
    const double n = std::max(1u, tree[id].visits);
    return Q(tree, s, id) + s.options.c * std::sqrt(log_n / n);
  });
}

void Offer(SearchContext& ctx, const Rap& s) {
  const bool edge = s.options.output == Output::kEdge;
  const auto weight = [&](const AnswerInTree& a) {
    return edge ? a.edges : a.best_reward;
  };
  size_t winner = s.answers.size();
  double total = 0;
  for (size_t i = 0; i < s.answers.size(); ++i) {
    const AnswerInTree& answer = s.answers[i];
    if (answer.best == kNoNode) continue;
    total += weight(answer);
    if (winner < s.answers.size()) {
      const AnswerInTree& best = s.answers[winner];
      if (weight(answer) < weight(best)) continue;
      const bool equal = weight(answer) == weight(best);
      const auto place = [&](const AnswerInTree& a) {
        return edge ? a.first : a.best;
      };
      if (equal && !ComesFirst(ctx.tree(), place(answer), place(best)))
        continue;
    }
    winner = i;
  }
  if (winner == s.answers.size()) return;
  const double of = weight(s.answers[winner]);
  AnswerSupport support{.responses = s.ends, .leader = of};
  support.confidence = edge && total > 0 ? of / total : of;
  support.confidence = std::clamp(support.confidence, 0.0, 1.0);
  ctx.OfferAnswer(s.answers[winner].best, static_cast<int32_t>(winner),
                  static_cast<float>(of), support);
}

void CountEnd(SearchContext& ctx, Rap& s, NodeId end) {
  const Tree& tree = ctx.tree();
  const int32_t index = ctx.AnswerOf(end);
  if (index < 0) return;
  const auto at = static_cast<size_t>(index);
  if (s.answers.size() <= at) s.answers.resize(at + 1);
  AnswerInTree& answer = s.answers[at];
  double sum = 0;
  bool seen = false;
  for (NodeId id = end; id != kRoot; id = tree[id].parent) {
    sum += Reward(tree, s, id);
    seen = seen || (id != end && !s.above.insert({id, index}).second);
    if (!seen) answer.edges += Reward(tree, s, id);
  }
  const double reward = PathValue(s, sum, tree.step(end).depth);
  const auto before = [&](NodeId other) {
    return other == kNoNode || ComesFirst(tree, end, other);
  };
  if (before(answer.first)) answer.first = end;
  if (answer.best == kNoNode || reward > answer.best_reward ||
      (reward == answer.best_reward && before(answer.best))) {
    answer.best = end;
    answer.best_reward = reward;
  }
  ++s.ends;
  Offer(ctx, s);
}

// Stage 2.
Co<> Enter(SearchContext& ctx, Rap& s, NodeId node) {
  Tree& tree = ctx.tree();
  if (s.of.size() < tree.size()) s.of.resize(tree.size());
  if (!s.of[node].entered) {
    s.of[node].entered = true;
    if (tree[node].terminal()) CountEnd(ctx, s, node);
  }
  if (tree[node].terminal()) co_return;
  const Expansion expansion = co_await ctx.Expand(
      node, {.n = s.options.branch, .temperature = s.options.temperature});
  s.of.resize(tree.size());
  if (!expansion.samples.empty()) co_await ctx.Evaluate(expansion.samples);
}

// Stages 1 to 3. True if the path ended properly, not because of a budget.
Co<bool> Walk(SearchContext& ctx, Rap& s, PathVisit& visit) {
  const Tree& tree = ctx.tree();
  const auto ends = [&](NodeId id) {
    return tree[id].terminal() && s.of[id].entered;
  };
  const auto limit = [&](NodeId id) {
    return tree.step(id).depth >= ctx.format().max_steps;
  };
  visit.Begin();
  while (!ends(visit.last()) && !limit(visit.last())) {
    const NodeId next = Pick(tree, s, visit.last());
    if (next == kNoNode) break;
    visit.Enter(next);
  }
  if (ends(visit.last()) || limit(visit.last())) co_return true;
  while (true) {
    co_await Enter(ctx, s, visit.last());
    if (tree[visit.last()].terminal()) co_return true;
    const NodeId next =
        Highest(tree, visit.last(), [&](NodeId id) { return tree.score(id); });
    if (next == kNoNode) co_return !ctx.ShouldStop();
    visit.Enter(next);
  }
}

// Stage 4.
void Backup(Tree& tree, Rap& s, PathVisit& visit) {
  visit.Finish();
  double sum = 0;
  int count = 0;
  for (size_t i = visit.path().size(); i-- > 0;) {
    const NodeId id = visit.path()[i];
    Rap::Stats& stats = s.of[id];
    sum += Reward(tree, s, id);
    const double value = PathValue(s, sum, ++count);
    stats.best = tree[id].visits == 1 ? value : std::max(stats.best, value);
    stats.sum += value;
    tree[id].q = static_cast<float>(Q(tree, s, id));
  }
}

Co<> RunRap(SearchContext& ctx, const RapOptions& options) {
  Rap s(options);
  s.of.resize(1);
  PathVisit visit(ctx.tree());
  int idle = 0;  // consecutive simulations that sampled nothing
  for (int i = 0; (options.simulations == 0 || i < options.simulations) &&
                  !TooIdle(idle, options.simulations) && !ctx.ShouldStop();
       ++i) {
    const int64_t before = ctx.usage().tokens;
    const bool counts = co_await Walk(ctx, s, visit);
    idle = ctx.usage().tokens == before ? idle + 1 : 0;
    if (counts) {
      Backup(ctx.tree(), s, visit);
      ctx.CountSimulation();
    } else {
      visit.Abandon();
    }
  }
}

const RegisterAlgorithm<RapOptions> kRap(
    "rap", "RAP: UCT on the rewards of the steps from a node onwards",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunRap,
    MethodNotes{.source = "RAP, Hao et al. 2023, arXiv:2305.14992; LLM "
                          "Reasoners",
                .when_to_use = "the reward model judges single steps but "
                               "cannot value unfinished paths",
                .test = "tests/search/golden_reasoners_test.cc"});

}  // namespace
}  // namespace espalier
