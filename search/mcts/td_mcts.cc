// TD-MCTS (T32): values learned by temporal differences along the tree (x1 and
// "Reasoning Language Models: A Blueprint", Besta et al. 2025,
// arXiv:2501.11223).
//
//   1. select    the child with the highest
//                  minmax01(Q(c)) + sqrt(N(s) - 1) / (1 + N(c))
//                                   * (c1 + ln((N(s) + c2) / c2)),
//                no prior; minmax01 rescales by the lowest and highest Q of
//                the siblings;
//   2.-3.        as mcts.h;
//   4. simulate  Q(c) of the best new child = (1 - a) V + a max over `forward`
//                greedy steps;
//   5. backup    Q(s) <- (1 - lr) Q(s) + lr gamma sum_c N(c) Q(c) / sum N(c).
//
// gamma = .96, lr = 1 as published.
#include <cmath>

#include "search/algorithm.h"
#include "search/mcts/mcts.h"
#include "search/parts/prior.h"

namespace espalier {
namespace {

struct TdOptions : MctsOptions {
  float c1 = 1.25f;
  float c2 = 19652;
  float gamma = 0.96f;
  float lr = 1;
  TdOptions() {
    widen = false;
    descend = Descend::kNone;
    forward = 1;
  }
  void Visit(OptionVisitor& v) {
    MctsOptions::Visit(v);
    v.Real("c1", &c1, 0, 1000, "exploration constant");
    v.Real("c2", &c2, 1, 1e9f, "visits at which exploration grows");
    v.Real("gamma", &gamma, 0, 1, "discount of each step up");
    v.Real("lr", &lr, 0, 1, "learning rate of the backup");
  }
};

class TdRule {
 public:
  explicit TdRule(const TdOptions& options) : options_(options) {}

  NodeId Pick(SearchContext& ctx, NodeId parent) const {
    const Tree& tree = ctx.tree();
    const auto n =
        static_cast<float>(StateVisits(tree, parent, options_.share));
    const float explore =
        std::sqrt(std::max(0.0f, n - 1)) *
        (options_.c1 + std::log((n + options_.c2) / options_.c2));
    float low = INFINITY, high = -INFINITY;
    for (const NodeId child : Children(tree, parent)) {
      const float q = WithVirtualLoss(tree, child, options_.virtual_loss);
      low = std::min(low, q);
      high = std::max(high, q);
    }
    return PickHighest(
        tree, parent, [&](NodeId, const Node& edge, const Node& state) {
          const float q = WithVirtualLoss(edge, state, options_.virtual_loss);
          const float scaled = high > low ? (q - low) / (high - low) : 0.5f;
          const uint32_t n = edge.visits + edge.in_flight;
          return scaled + explore / (1 + static_cast<float>(n));
        });
  }

  void Sampled(Tree&, NodeId) const {}
  void Scored(Tree& tree, NodeId parent) const { StartAtScores(tree, parent); }
  void Backup(Tree& tree, PathVisit& visit, float value) const {
    TdBackup(tree, visit, LeafValue(tree, visit, value, options_.verify),
             options_.lr, options_.gamma);
  }

 private:
  const TdOptions& options_;
};

Co<> RunTd(SearchContext& ctx, const TdOptions& options) {
  co_await RunMcts(ctx, options, TdRule(options));
}

const RegisterAlgorithm<TdOptions> kTd(
    "td_mcts", "MCTS with temporal-difference backups (x1)", {}, &RunTd,
    MethodNotes{.source = "x1, Besta et al. 2025, arXiv:2501.11223",
                .when_to_use = "what lies near a node shall count for more "
                               "than what lies far below it",
                .test = "tests/search/mcts_test.cc"});

}  // namespace
}  // namespace espalier
