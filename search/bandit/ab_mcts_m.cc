// AB-MCTS-M: adaptive branching with a mixed model (T15; Inoue et al. 2025,
// "Wider or Deeper? Scaling LLM Inference-Time Compute with Adaptive Branching
// Tree Search", arXiv:2503.04412; TreeQuest, which samples by NUTS).
//
// At every node the mixed model (mixed_model.h) is fitted to the scores in its
// children's subtrees, a group each. An arm's worth is one draw of its
// posterior prediction: for a child, of the next score in its group; for GEN,
// of a score in a group not seen yet. The highest goes. All arms of a decision
// are drawn from one state of the sampler, that is from the joint posterior
// (TreeQuest draws each from its own margin). The sampler's state is kept with
// the node: `sweeps` more make it fit what has been learned since.
//
// A child whose subtree has stopped to say anything new (pruning.h) has no arm
// unless no other is left. See adaptive_branching.h for the loop and
// arm_tree.h for what closes.
#include <cmath>
#include <vector>

#include "search/algorithm.h"
#include "search/bandit/adaptive_branching.h"
#include "search/bandit/mixed_model.h"
#include "search/bandit/pruning.h"

namespace espalier {
namespace {

struct AbMctsMOptions {
  BranchingOptions branching;
  int sweeps = 20;
  bool prune = true;
  int prune_least = 4;
  float prune_share = 0.75f;
  void Visit(OptionVisitor& v) {
    branching.Visit(v);
    v.Int("sweeps", &sweeps, 1, 1 << 20, "of the sampler for each decision");
    v.Flag("prune", &prune, "turn away from subtrees of equal scores");
    v.Int("prune_least", &prune_least, 1, 1 << 20,
          "scores before a subtree may be pruned");
    v.Real("prune_share", &prune_share, 0, 1,
           "of its scores that are the same to a hundredth");
  }
  int Models() const { return branching.models; }
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
    if (!at.gen_closed && candidates_.empty()) return kNoNode;
    if (states_.size() < tree_.size()) states_.resize(tree_.size());
    const MixedState& state = Fit(states_[node], random);
    NodeId best = kNoNode;
    double highest =
        at.gen_closed ? -INFINITY : MixedModel::PredictNew(state, random);
    for (const NodeId child : candidates_) {
      const double worth =
          MixedModel::Predict(state, arms_[child].self, random);
      if (worth > highest) {
        highest = worth;
        best = child;
      }
    }
    return best;
  }

  int ChooseModel(const ModelArms& models, RandomStream& random) override {
    if (models.seen().size() == 1) return 0;
    groups_.assign(models.seen().begin(), models.seen().end());
    const MixedState& state = Fit(model_state_, random);
    return models.Choose([&](const RewardStats& seen) {
      return seen.count > 0 ? MixedModel::Predict(state, seen, random)
                            : MixedModel::PredictNew(state, random);
    });
  }

  void Observed(NodeId, NodeId end, double score) override {
    if (!options_.prune) return;
    for (NodeId id = end; id != kRoot; id = tree_[id].parent) {
      pruning_.Add(id, score);
    }
  }

 private:
  // Groups: all children with scores. Candidates: the open ones among them
  // that are not pruned; all open ones if no other arm is left.
  void Collect(NodeId node) {
    groups_.clear();
    candidates_.clear();
    for (const NodeId child : Children(tree_, node)) {
      if (!arms_.observed(child)) continue;
      groups_.push_back(arms_[child].self);
      if (!arms_[child].closed && !pruning_.pruned(child)) {
        candidates_.push_back(child);
      }
    }
    if (!candidates_.empty() || !arms_[node].gen_closed) return;
    for (const NodeId child : Children(tree_, node)) {
      if (arms_.open_child(child)) candidates_.push_back(child);
    }
  }

  // Lets `state` follow groups_.
  const MixedState& Fit(MixedState& state, RandomStream& random) {
    model_.Set(groups_);
    for (int i = 0; i < options_.sweeps; ++i) model_.Sweep(state, random);
    return state;
  }

  const Tree& tree_;
  const ArmTree& arms_;
  const AbMctsMOptions& options_;
  SubtreePruning pruning_;
  std::vector<MixedState> states_;  // by node
  MixedState model_state_;
  MixedModel model_;
  std::vector<RewardStats> groups_;  // of the decision being made
  std::vector<NodeId> candidates_;
};

Co<> RunAbMctsM(SearchContext& ctx, const AbMctsMOptions& options) {
  ArmTree arms(ctx.tree(), options.branching.patience);
  MixedModelChooser chooser(ctx.tree(), arms, options);
  co_await RunAdaptiveBranching(ctx, options.branching, arms, chooser);
}

const RegisterAlgorithm<AbMctsMOptions> kAbMctsM(
    "ab_mcts_m", "adaptive branching tree search by a Bayesian mixed model",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunAbMctsM,
    MethodNotes{.source = "TreeQuest, Inoue et al. 2025, arXiv:2503.04412",
                .when_to_use = "as ab_mcts_a, where answers cost so much that "
                               "few scores must say a lot",
                .test = "tests/search/ab_mcts_test.cc"});

}  // namespace
}  // namespace espalier
