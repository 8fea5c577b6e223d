// PUCT tree search over sampled steps (T8; AlphaZero, openr, lc0).
//
// Selection (mcts.h has the rest): the child with the highest
//
//   Q(c) + c(N) P(c) sqrt(N(s)) / (1 + N(c)),
//   c(N) = c1 + ln((N(s) + c2 + 1) / c2),
//
// where N counts finished visits and those in flight, and P is the softmax
// over siblings of summed token log-probs. An unvisited child's Q is its own
// score or, with first_value=parent, Q(s) - fpu * sqrt(visited prior mass).
#include <array>
#include <cmath>

#include "search/algorithm.h"
#include "search/mcts/mcts.h"
#include "search/parts/prior.h"

namespace espalier {
namespace {

enum class FirstValue : uint8_t { kScore, kParent };
constexpr std::array<std::string_view, 2> kFirstValueNames = {"score",
                                                              "parent"};

struct PuctOptions : MctsOptions {
  float c1 = 1.25f;
  float c2 = 19652;
  float fpu = 0.33f;
  FirstValue first_value = FirstValue::kScore;
  bool mean_logprob = false;
  void Visit(OptionVisitor& v) {
    MctsOptions::Visit(v);
    v.Real("c1", &c1, 0, 1000, "exploration constant");
    v.Real("c2", &c2, 1, 1e9f, "visits at which exploration grows");
    v.Real("fpu", &fpu, 0, 10, "first-play reduction (first_value=parent)");
    VisitChoice(v, "first_value", &first_value, kFirstValueNames,
                "Q of a child before its first visit");
    v.Flag("mean_logprob", &mean_logprob,
           "prior from the mean token log-prob instead of the sum");
  }
};

class PuctRule {
 public:
  explicit PuctRule(const PuctOptions& options) : options_(options) {}

  NodeId Pick(SearchContext& ctx, NodeId parent) {
    const Tree& tree = ctx.tree();
    const Node& node = tree[parent];
    const float n = StateVisits(tree, parent, options_.share);
    const float explore = Explore(n);
    float fpu = 0;
    if (options_.first_value == FirstValue::kParent) {
      fpu = node.q - options_.fpu * std::sqrt(VisitedPrior(tree, parent));
    }
    NodeId best = kNoNode;
    float best_score = -INFINITY;
    for (const NodeId child : Children(tree, parent)) {
      const Node& edge = tree[child];
      if (!Open(tree, edge)) continue;
      const float score =
          Value(tree, edge, fpu) +
          explore * edge.prior /
              (1 + static_cast<float>(edge.visits + edge.in_flight));
      // Without a branch: which child it is cannot be foretold.
      best = score > best_score ? child : best;
      best_score = std::max(score, best_score);
    }
    if (best != kNoNode) tree.PrefetchChildren(tree.Twin(best));
    return best;
  }

  void Sampled(Tree& tree, NodeId parent) const {
    SetPriors(tree, parent, options_.mean_logprob);
    if (options_.first_value == FirstValue::kParent) return;
    // Until a child has its own score, see Value.
    const float fpu =
        tree[parent].q - options_.fpu * std::sqrt(VisitedPrior(tree, parent));
    for (const NodeId c : Children(tree, parent)) {
      Node& child = tree[c];
      if (child.visits == 0 && !child.scored()) child.q = fpu;
    }
  }
  void Scored(Tree& tree, NodeId parent) const {
    if (options_.first_value == FirstValue::kParent) return;
    for (const NodeId c : Children(tree, parent)) {
      Node& child = tree[c];
      if (child.visits == 0 && child.scored())
        child.q = tree.step(c).path_score;
    }
  }
  void Backup(Tree& tree, PathVisit& visit, float value) const {
    MeanBackup(tree, visit, value);
  }

 private:
  // q of an unvisited child is what it is worth before its first visit, unless
  // that is a matter of its parent.
  float Value(const Tree& tree, const Node& edge, float fpu) const {
    if (options_.first_value == FirstValue::kParent && edge.visits == 0) {
      return fpu;
    }
    return WithVirtualLoss(tree, edge, options_.virtual_loss);
  }

  // c(N) sqrt(N). Every N up to the root's is met many times, the logarithm
  // is taken once.
  float Explore(float n) {
    if (n >= kKnown) return Compute(n);
    const size_t index = static_cast<size_t>(n);
    while (known_.size() <= index) {
      known_.push_back(Compute(static_cast<float>(known_.size())));
    }
    return known_[index];
  }
  float Compute(float n) const {
    return (options_.c1 + std::log((n + options_.c2 + 1) / options_.c2)) *
           std::sqrt(n);
  }

  static constexpr int kKnown = 1 << 16;
  const PuctOptions& options_;
  std::vector<float> known_;
};

Co<> RunPuct(SearchContext& ctx, const PuctOptions& options) {
  co_await RunMcts(ctx, options, PuctRule(options));
}

const RegisterAlgorithm<PuctOptions> kPuct(
    "puct", "PUCT tree search with widening and virtual visits", {}, &RunPuct,
    MethodNotes{
        .source = "AlphaZero, arXiv:1712.01815; OpenR, arXiv:2410.09671; lc0",
        .when_to_use = "many simulations are affordable and the policy's "
                       "probabilities tell good steps from bad",
        .test = "tests/engine/trunk_search_test.cc"});

}  // namespace
}  // namespace espalier
