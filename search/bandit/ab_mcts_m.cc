// AB-MCTS-M: adaptive branching with a mixed model (Inoue et al. 2025, "Wider
// or Deeper? Scaling LLM Inference-Time Compute with Adaptive Branching Tree
// Search", arXiv:2503.04412; TreeQuest, which samples by NUTS).
//
// At every node the mixed model (mixed_model.h) is fitted to the scores in its
// children's subtrees, one group per child. An arm's worth is one draw from the
// posterior predictive: for a child, of the next score in its group; for GEN,
// of a score in a new group. Each arm is drawn from its own marginal.
//
//   1. GEN if it is worth more than every child;
//   2. else the child of the highest worth whose subtree is not pruned as
//      repetitive (pruning.h), even if GEN is worth more;
//   3. GEN if there is no such child.
//
// The sampler's state is kept with the node: `sweeps` more sweeps adapt it to
// new scores, and `between` sweeps separate one arm's draw from the next. See
// adaptive_branching.h for the loop and arm_tree.h for when arms close.
//
// Differs: TreeQuest samples by NUTS; and its Thompson sampling among several
// models picks uniformly, because it looks up names in a list of numbers
// (model_choice=random does the same).
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "search/algorithm.h"
#include "search/bandit/adaptive_branching.h"
#include "search/bandit/mixed_model.h"
#include "search/bandit/pruning.h"

namespace espalier {
namespace {

struct AbMctsMOptions {
  BranchingOptions branching;
  MixedSweeps sweeps;
  bool prune = true;
  int prune_least = 4;
  float prune_share = 0.75f;
  void Visit(OptionVisitor& v) {
    branching.Visit(v);
    v.Int("sweeps", &sweeps.first, 1, 1 << 20,
          "sweeps of the sampler per decision");
    v.Int("between", &sweeps.between, 0, 1 << 20,
          "further sweeps between the draws of two arms; 0: draw all arms from "
          "one state");
    v.Flag("prune", &prune, "skip subtrees whose scores are mostly equal");
    v.Int("prune_least", &prune_least, 1, 1 << 20,
          "minimum number of scores before a subtree may be pruned");
    v.Real("prune_share", &prune_share, 0, 1,
           "share of its scores that must agree to two decimals");
  }
  int Models() const { return branching.models; }
  std::vector<std::string> Check() const {
    if (branching.model_choice != ModelChoice::kStack) return {};
    return {
        "model_choice=stack; expected thompson, ucb or random: the mixed model "
        "has no arms for a single generating model"};
  }
};

class MixedModelChooser : public ArmChooser {
 public:
  MixedModelChooser(const Tree& tree, const ArmTree& arms,
                    const AbMctsMOptions& options)
      : tree_(tree),
        arms_(arms),
        options_(options),
        pruning_(options.prune_least, options.prune_share) {}

  NodeId ChooseChild(NodeId node, RandomStream& random) override {
    const Arms& at = arms_[node];
    if (at.open_children == 0) return kNoNode;
    Collect(node);
    if (at.gen_closed && candidates_.size() == 1) return candidates_[0];
    if (states_.size() < tree_.size()) states_.resize(tree_.size());
    model_.Set(groups_);
    model_.DrawWorths(options_.sweeps, drawn_, states_[node], random, worths_);
    const auto children =
        worths_.begin() + static_cast<std::ptrdiff_t>(candidates_.size());
    const double highest = *std::max_element(worths_.begin(), children);
    if (!at.gen_closed && worths_.back() > highest) return kNoNode;  // 1
    NodeId best = kNoNode;                                           // 2
    double worth = 0;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (pruning_.pruned(candidates_[i])) continue;
      if (best == kNoNode || worths_[i] > worth) {
        best = candidates_[i];
        worth = worths_[i];
      }
    }
    if (best != kNoNode || !at.gen_closed) return best;  // 3
    const auto first = std::find(worths_.begin(), children, highest);
    return candidates_[static_cast<size_t>(first - worths_.begin())];
  }

  int ChooseModel(const ModelArms& models, RandomStream& random) override {
    if (models.seen().size() == 1) return 0;
    if (models.draws()) {
      model_.Set(models.seen());
      model_.DrawWorths(options_.sweeps, models.seen(), model_state_, random,
                        worths_);
    }
    size_t next = 0;
    return models.Choose([&](const RewardStats&) { return worths_[next++]; });
  }

  void Observed(NodeId, NodeId end, int, double score) override {
    if (!options_.prune) return;
    for (NodeId id = end; id != kRoot; id = tree_[id].parent) {
      pruning_.Add(id, score);
    }
  }

 private:
  // Groups: all children with scores. Candidates: the open ones among them,
  // whose arms are drawn, followed by GEN if it is open.
  void Collect(NodeId node) {
    groups_.clear();
    candidates_.clear();
    drawn_.clear();
    for (const NodeId child : Children(tree_, node)) {
      if (!arms_.observed(child)) continue;
      groups_.push_back(arms_[child].self);
      if (arms_[child].closed) continue;
      candidates_.push_back(child);
      drawn_.push_back(arms_[child].self);
    }
    if (!arms_[node].gen_closed) drawn_.push_back(RewardStats());
  }

  const Tree& tree_;
  const ArmTree& arms_;
  const AbMctsMOptions& options_;
  SubtreePruning pruning_;
  std::vector<MixedState> states_;  // by node
  MixedState model_state_;
  MixedModel model_;
  std::vector<RewardStats> groups_;  // of the current decision
  std::vector<NodeId> candidates_;
  std::vector<RewardStats> drawn_;
  std::vector<double> worths_;
};

Co<> RunAbMctsM(SearchContext& ctx, const AbMctsMOptions& options) {
  ArmTree arms(ctx.tree(), options.branching.patience);
  MixedModelChooser chooser(ctx.tree(), arms, options);
  co_await RunAdaptiveBranching(ctx, options.branching, arms, chooser);
}

const RegisterAlgorithm<AbMctsMOptions> kAbMctsM(
    "ab_mcts_m", "adaptive branching tree search by a Bayesian mixed model",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunAbMctsM,
    MethodNotes{
        .source = "TreeQuest, Inoue et al. 2025, arXiv:2503.04412",
        .when_to_use = "whole answers can be scored but are so expensive "
                       "that a few scores must suffice",
        .test = "tests/search/ab_mcts_test.cc"});

}  // namespace
}  // namespace espalier
