// UCT tree search over sampled steps (Kocsis & Szepesvari 2006; rStar, Qi et
// al. 2024, arXiv:2408.06195).
//
// Selection (mcts.h has the rest): the child with the highest
//
//   Q(c) + c sqrt(ln N(s) / N(c))
//
// N counts finished visits and those in flight. An unvisited child, by
// first_value (where N(c) = 1, visits in flight are added):
//   score     Q = its own score and N(c) = 1
//   zero      Q = 0 and N(c) = 1
//   random    before all visited ones, uniformly (rStar)
//   infinity  before all visited ones, in order of creation
// Ties go to the first. For exact ties means are kept at full precision:
// rounded, they would depend on the order of the visits. With c_end >= 0 c
// moves to c_end over the simulations t = 0 .. T - 1:
//   linear       c + (c_end - c) t/T
//   exponential  c (c_end/c)^(t/T)
// rStar's c is 2 throughout; its two schedules end at .2.
#include <array>
#include <cmath>
#include <vector>

#include "search/algorithm.h"
#include "search/mcts/mcts.h"
#include "search/parts/prior.h"

namespace espalier {
namespace {

enum class UnvisitedValue : uint8_t { kScore, kZero, kRandom, kInfinity };
constexpr std::array<std::string_view, 4> kUnvisitedValueNames = {
    "score", "zero", "random", "infinity"};

enum class Falls : uint8_t { kLinear, kExponential };
constexpr std::array<std::string_view, 2> kFallsNames = {"linear",
                                                         "exponential"};

struct UctOptions : MctsOptions {
  float c = 1;
  float c_end = -1;
  Falls c_falls = Falls::kLinear;
  UnvisitedValue first_value = UnvisitedValue::kScore;
  void Visit(OptionVisitor& v) {
    MctsOptions::Visit(v);
    v.Real("c", &c, 0, 1000, "exploration constant");
    v.Real("c_end", &c_end, -1, 1000,
           "final value of c after `simulations`; -1: c stays constant");
    VisitChoice(v, "c_falls", &c_falls, kFallsNames, "decay schedule of c");
    VisitChoice(v, "first_value", &first_value, kUnvisitedValueNames,
                "value of an unvisited child");
  }
  std::vector<std::string> Check() const {
    std::vector<std::string> problems = MctsOptions::Check();
    if (c_end >= 0 && simulations == 0) {
      problems.emplace_back(
          "c_end needs the number of simulations over which c decays; expected "
          "simulations > 0, found simulations=0");
    }
    if (c_falls == Falls::kExponential && (c <= 0 || c_end == 0)) {
      problems.emplace_back(
          "c_falls=exponential never leaves or reaches 0; expected c > 0 and "
          "c_end > 0");
    }
    return problems;
  }
};

class UctRule {
 public:
  explicit UctRule(const UctOptions& options) : options_(options) {}

  NodeId Pick(SearchContext& ctx, NodeId parent) const {
    const Tree& tree = ctx.tree();
    if (options_.first_value == UnvisitedValue::kRandom) {
      const NodeId unvisited = DrawUnvisited(ctx, parent);
      if (unvisited != kNoNode) return unvisited;
    }
    const double log_n =
        std::log(std::max(1u, StateVisits(tree, parent, options_.share)));
    const double c = Exploration(ctx.usage().simulations);
    return PickHighest(
        tree, parent, [&](NodeId child, const Node& edge, const Node& state) {
          const uint32_t n = edge.visits + edge.in_flight;
          const uint32_t met = std::max(1u, edge.visits) + edge.in_flight;
          const double bonus = c * std::sqrt(log_n / met);
          return (n == 0 ? First(edge) : Value(child, edge, state)) + bonus;
        });
  }

  void Sampled(Tree&, NodeId) const {}
  // Until the first visit q is the reward model's score.
  void Scored(Tree& tree, NodeId parent) const {
    if (options_.first_value != UnvisitedValue::kZero)
      StartAtScores(tree, parent);
  }
  void Backup(Tree& tree, PathVisit& visit, float value) {
    if (sums_.size() < tree.size()) sums_.resize(tree.size());
    for (const NodeId id : visit.path()) {
      const Node& node = tree[id];
      sums_[id] =
          node.visits == 0 ? value : Mean(id, node) * node.visits + value;
    }
    visit.Finish();
    for (const NodeId id : visit.path()) {
      tree[id].q = static_cast<float>(sums_[id] / tree[id].visits);
    }
  }

 private:
  float Exploration(int64_t simulations) const {
    if (options_.c_end < 0 || options_.simulations == 0) return options_.c;
    const float done = static_cast<float>(simulations) /
                       static_cast<float>(options_.simulations);
    if (options_.c_falls == Falls::kExponential) {
      return options_.c * std::pow(options_.c_end / options_.c, done);
    }
    return options_.c + (options_.c_end - options_.c) * done;
  }
  // A uniformly drawn open child that no simulation has selected; kNoNode if
  // there is none.
  NodeId DrawUnvisited(SearchContext& ctx, NodeId parent) const {
    const Tree& tree = ctx.tree();
    const auto unvisited = [&](NodeId child) {
      return tree[child].visits + tree[child].in_flight == 0 &&
             Open(tree, child);
    };
    uint32_t left = 0;
    for (const NodeId c : Children(tree, parent)) left += unvisited(c) ? 1 : 0;
    if (left == 0) return kNoNode;
    const uint32_t visit = tree[parent].visits + tree[parent].in_flight;
    RandomStream random = ctx.Stream(parent, Purpose::kSelect, visit);
    left = std::min(left - 1, static_cast<uint32_t>(random.UniformDouble() *
                                                    static_cast<double>(left)));
    for (const NodeId c : Children(tree, parent)) {
      if (unvisited(c) && left-- == 0) return c;
    }
    return kNoNode;
  }
  // Mean of the values of `id`'s visits: at full precision if the rule itself
  // backed them up, else q as it was set since (mcts.h).
  double Mean(NodeId id, const Node& node) const {
    if (id >= sums_.size() || node.visits == 0) return node.q;
    const double mean = sums_[id] / node.visits;
    return static_cast<float>(mean) == node.q ? mean : node.q;
  }
  float First(const Node& edge) const {
    // Above any value plus bonus of a visited child.
    constexpr float kFirst = 1e6f;
    switch (options_.first_value) {
      case UnvisitedValue::kScore:
      case UnvisitedValue::kZero:
        return edge.q;
      case UnvisitedValue::kRandom:  // none is left
      case UnvisitedValue::kInfinity:
        return kFirst;
    }
    return 0;
  }
  // A child on its first visit has no mean yet.
  double Value(NodeId child, const Node& edge, const Node& state) const {
    if (edge.visits == 0) return edge.q;
    if (!edge.alias && (options_.virtual_loss == 0 || edge.in_flight == 0)) {
      return Mean(child, edge);
    }
    return WithVirtualLoss(edge, state, options_.virtual_loss);
  }

  const UctOptions& options_;
  std::vector<double> sums_;  // by node: sum of the values of its visits
};

Co<> RunUct(SearchContext& ctx, const UctOptions& options) {
  co_await RunMcts(ctx, options, UctRule(options));
}

const RegisterAlgorithm<UctOptions> kUct(
    "uct", "UCT tree search (rStar)", {}, &RunUct,
    MethodNotes{
        .source = "Kocsis & Szepesvari 2006; rStar, arXiv:2408.06195",
        .when_to_use =
            "the policy's probabilities say little about the quality of steps",
        .test = "tests/search/mcts_test.cc"});

}  // namespace
}  // namespace espalier
