// PUCT tree search over sampled steps (AlphaZero, openr, lc0).
//
// Selection (mcts.h has the rest): the child with the highest
//
//   Q(c) + c(N) P(c) sqrt(N(s)) / (1 + N(c)),
//   c(N) = c1 + ln((N(s) + c2 + 1) / c2),
//
// where N counts finished visits and those of other simulations in flight, and
// P is the softmax over siblings of summed token log-probs. An unvisited
// child's Q is its own score; with first_value=parent Q(s) - fpu * sqrt(visited
// prior mass), with first_value=loss 0. rescale=siblings (MuZero as in mctx): Q
// is rescaled from the range of Q(s) and the visited children's Q to [0, 1],
// and an unvisited child has the lower end.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/growable_array.h"
#include "search/algorithm.h"
#include "search/mcts/mcts.h"
#include "search/parts/prior.h"

namespace espalier {
namespace {

enum class FirstValue : uint8_t { kScore, kParent, kLoss };
constexpr std::array<std::string_view, 3> kFirstValueNames = {"score", "parent",
                                                              "loss"};
enum class Rescale : uint8_t { kNone, kSiblings };
constexpr std::array<std::string_view, 2> kRescaleNames = {"none", "siblings"};

struct PuctOptions : MctsOptions {
  float c1 = 1.25f;
  float c2 = 19652;
  float fpu = 0.33f;
  FirstValue first_value = FirstValue::kScore;
  Rescale rescale = Rescale::kNone;
  bool score_root = false;
  bool mean_logprob = false;
  void Visit(OptionVisitor& v) {
    MctsOptions::Visit(v);
    v.Real("c1", &c1, 0, 1000, "exploration constant");
    v.Real("c2", &c2, 1, 1e9f, "visit count from which exploration grows");
    v.Real("fpu", &fpu, 0, 10,
           "first-play urgency reduction (first_value=parent)");
    VisitChoice(v, "first_value", &first_value, kFirstValueNames,
                "Q of an unvisited child");
    VisitChoice(
        v, "rescale", &rescale, kRescaleNames,
        "rescale Q by the range of the parent's and visited siblings' Q");
    v.Flag("score_root", &score_root,
           "the root's value is the reward model's; otherwise the best child's "
           "score");
    v.Flag("mean_logprob", &mean_logprob,
           "prior from the mean token log-prob instead of the sum");
  }
};

class PuctRule {
 public:
  explicit PuctRule(const PuctOptions& options) : options_(options) {}

  NodeId Pick(SearchContext& ctx, NodeId parent) {
    const Tree& tree = ctx.tree();
    // Needed at the end of the visit; with millions of nodes it is a cache
    // miss.
    if (parent < sums_.size()) __builtin_prefetch(&sums_[parent]);
    const uint32_t n = StateVisits(tree, parent, options_.share);
    const float explore = Explore(n);
    const auto bonus = [explore](const Node& edge) {
      const uint32_t n = edge.visits + edge.in_flight;
      return explore * edge.prior / (1 + static_cast<float>(n));
    };
    if (options_.rescale == Rescale::kSiblings) {
      return PickRescaled(tree, parent, bonus);
    }
    if (options_.first_value == FirstValue::kScore &&
        options_.virtual_loss == 0) {
      return PickHighest(tree, parent,
                         [&](NodeId, const Node& edge, const Node& state) {
                           return state.q + bonus(edge);
                         });
    }
    float fpu = 0;
    if (options_.first_value == FirstValue::kParent) {
      fpu =
          tree[parent].q - options_.fpu * std::sqrt(VisitedPrior(tree, parent));
    }
    return PickHighest(tree, parent,
                       [&](NodeId, const Node& edge, const Node& state) {
                         return Value(edge, state, fpu) + bonus(edge);
                       });
  }

  void Sampled(Tree& tree, NodeId parent) const {
    SetPriors(tree, parent, options_.mean_logprob);
    // Other simulations may pass before the scores arrive.
    if (options_.in_flight > 1) SetFirstValues(tree, parent);
  }
  void Scored(Tree& tree, NodeId parent) const { SetFirstValues(tree, parent); }
  void Backup(Tree& tree, PathVisit& visit, float value) {
    // Settle takes values out of the means again when a verifier settles them.
    if (options_.verify) {
      MeanBackup(tree, visit, value);
      return;
    }
    // Means from sums: children with the same values are equal regardless of
    // the order in which these came.
    if (sums_.size() < tree.size()) {
      const size_t more = tree.size() - sums_.size();
      std::fill_n(sums_.Extend(more), more, 0);
    }
    visit.Finish([&](NodeId id, Node& node) {
      sums_[id] += value;
      node.q = static_cast<float>(sums_[id] / node.visits);
    });
  }

 private:
  template <class Bonus>
  NodeId PickRescaled(const Tree& tree, NodeId parent, const Bonus& bonus) {
    float low = tree[parent].q, high = low;
    for (const NodeId c : Children(tree, parent)) {
      if (tree[c].visits == 0) continue;
      const float q = WithVirtualLoss(tree, c, options_.virtual_loss);
      low = std::min(low, q);
      high = std::max(high, q);
    }
    const float range = std::max(high - low, 1e-8f);
    return PickHighest(
        tree, parent, [&](NodeId, const Node& edge, const Node& state) {
          if (edge.visits == 0) return bonus(edge);
          const float q = WithVirtualLoss(edge, state, options_.virtual_loss);
          return (q - low) / range + bonus(edge);
        });
  }

  // Sets unvisited children's values: their score or, until they have one, the
  // value of first_value=parent.
  void SetFirstValues(Tree& tree, NodeId parent) const {
    if (options_.first_value != FirstValue::kScore) return;
    float fpu = NAN;
    ForEachChild(tree, parent, [&](NodeId c) {
      Node& child = tree[c];
      if (child.visits > 0) return;
      if (child.scored()) {
        child.q = tree.score(c);
        return;
      }
      if (std::isnan(fpu)) {
        fpu = tree[parent].q -
              options_.fpu * std::sqrt(VisitedPrior(tree, parent));
      }
      child.q = fpu;
    });
  }
  // q of an unvisited child is its value before its first visit, unless that
  // depends on its parent.
  float Value(const Node& edge, const Node& state, float fpu) const {
    if (options_.first_value != FirstValue::kScore && edge.visits == 0) {
      return fpu;
    }
    return WithVirtualLoss(edge, state, options_.virtual_loss);
  }

  // c(N) sqrt(N). Cached, since every N up to the root's occurs many times.
  float Explore(uint32_t n) {
    if (n >= known_.size()) [[unlikely]] {
      if (n >= kKnown) return Compute(static_cast<float>(n));
      while (known_.size() <= n) {
        known_.push_back(Compute(static_cast<float>(known_.size())));
      }
    }
    return known_[n];
  }
  float Compute(float n) const {
    return (options_.c1 + std::log((n + options_.c2 + 1) / options_.c2)) *
           std::sqrt(n);
  }

  static constexpr uint32_t kKnown = 1 << 16;
  const PuctOptions& options_;
  std::vector<float> known_;
  GrowableArray<double> sums_;  // by node: sum of the values of its visits
};

Co<> RunPuct(SearchContext& ctx, const PuctOptions& options) {
  if (options.score_root) {
    const std::vector<NodeId> root(1, kRoot);
    co_await ctx.Evaluate(root);
  }
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
