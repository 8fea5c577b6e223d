// AB-MCTS-A: adaptive branching with node aggregation (Inoue et al. 2025,
// "Wider or Deeper? Scaling LLM Inference-Time Compute with Adaptive Branching
// Tree Search", arXiv:2503.04412; TreeQuest).
//
// At every node two Thompson draws (thompson.h) decide
//   GEN or CONT   the higher draw of the two arms' mean reward; then, if CONT,
//   which child   the highest draw of the open children's arms.
// GEN has the scores of what was generated at the node itself, CONT those of
// what was generated below its children, and a child's arm both its own score
// and all scores below it. See adaptive_branching.h for the loop and arm_tree.h
// for when arms close.
//
// With model_choice=stack each model has a GEN arm, a CONT arm and a worth at
// every node, and a child belongs to the model that generated it. The worth has
// all scores of GEN and CONT. The model with the highest draw of its worth is
// chosen first, then among that model's arms as above.
#include <array>
#include <vector>

#include "search/algorithm.h"
#include "search/bandit/adaptive_branching.h"

namespace espalier {
namespace {

struct AbMctsAOptions {
  BranchingOptions branching;
  ThompsonPrior prior;
  void Visit(OptionVisitor& v) {
    branching.Visit(v);
    prior.Visit(v);
  }
  int Models() const { return branching.models; }
};

class ThompsonChooser : public ArmChooser {
 public:
  ThompsonChooser(const Tree& tree, const ArmTree& arms,
                  const ThompsonPrior& prior)
      : tree_(tree), arms_(arms), prior_(prior) {}

  NodeId ChooseChild(NodeId node, RandomStream& random) override {
    const Arms& at = arms_[node];
    if (at.open_children == 0) return kNoNode;
    if (!at.gen_closed) {
      const double gen = prior_.Draw(at.gen, random);
      if (gen >= prior_.Draw(at.cont, random)) return kNoNode;
    }
    NodeId best = kNoNode;
    double highest = 0;
    for (const NodeId child : Children(tree_, node)) {
      if (!arms_.open_child(child)) continue;
      if (at.open_children == 1) return child;
      const double worth = prior_.Draw(arms_[child].self, random);
      if (best == kNoNode || worth > highest) {
        highest = worth;
        best = child;
      }
    }
    return best;
  }

  int ChooseModel(const ModelArms& models, RandomStream& random) override {
    return models.Choose(
        [&](const RewardStats& seen) { return prior_.Draw(seen, random); });
  }

 private:
  const Tree& tree_;
  const ArmTree& arms_;
  const ThompsonPrior& prior_;
};

// model_choice=stack.
class StackChooser : public ArmChooser {
 public:
  StackChooser(const Tree& tree, const ArmTree& arms,
               const AbMctsAOptions& options)
      : tree_(tree),
        arms_(arms),
        models_(static_cast<size_t>(options.branching.models)),
        prior_(options.prior),
        places_(1) {}

  NodeId ChooseChild(NodeId node, RandomStream& random) override {
    const Arms& at = arms_[node];
    std::array<int, kModelRoles.size()> open{};  // children, by model
    for (const NodeId child : Children(tree_, node)) {
      if (arms_.open_child(child)) ++open[Writer(child)];
    }
    const OfModels& place = places_[node];
    const size_t model = BestModel(place, open, at.gen_closed, random);
    model_ = static_cast<int>(model);
    if (open[model] == 0) return kNoNode;
    if (!at.gen_closed) {
      const double gen = prior_.Draw(place.gen[model], random);
      if (gen >= prior_.Draw(place.cont[model], random)) return kNoNode;
    }
    NodeId best = kNoNode;
    double highest = 0;
    for (const NodeId child : Children(tree_, node)) {
      if (!arms_.open_child(child) || Writer(child) != model) continue;
      if (open[model] == 1) return child;
      const double worth = prior_.Draw(arms_[child].self, random);
      if (best == kNoNode || worth > highest) {
        highest = worth;
        best = child;
      }
    }
    return best;
  }

  // The model of the last ChooseChild.
  int ChooseModel(const ModelArms&, RandomStream&) override { return model_; }

  void Observed(NodeId from, NodeId end, int model, double score) override {
    places_.resize(tree_.size());
    for (NodeId id = end; id != kRoot; id = tree_[id].parent) {
      OfModels& place = places_[tree_[id].parent];
      if (places_[id].writer < 0) places_[id].writer = model;
      const bool below = tree_.step(id).depth <= tree_.step(from).depth;
      const size_t of = below ? Writer(id) : static_cast<size_t>(model);
      (below ? place.cont : place.gen)[of].Add(score);
      place.worth[of].Add(score);
    }
  }

 private:
  struct OfModels {
    std::array<RewardStats, kModelRoles.size()> worth, gen, cont;
    int writer = -1;  // model that generated this node
  };

  size_t Writer(NodeId id) const {
    return static_cast<size_t>(places_[id].writer);
  }

  // Best of the models that may generate here or have an open child.
  size_t BestModel(const OfModels& place,
                   const std::array<int, kModelRoles.size()>& open,
                   bool gen_closed, RandomStream& random) const {
    std::array<size_t, kModelRoles.size()> usable{};
    size_t count = 0;
    for (size_t m = 0; m < models_; ++m) {
      if (!gen_closed || open[m] > 0) usable[count++] = m;
    }
    size_t best = usable[0];
    double highest = 0;
    for (size_t i = 0; count > 1 && i < count; ++i) {
      const double worth = prior_.Draw(place.worth[usable[i]], random);
      if (i > 0 && worth <= highest) continue;
      highest = worth;
      best = usable[i];
    }
    return best;
  }

  const Tree& tree_;
  const ArmTree& arms_;
  const size_t models_;
  const ThompsonPrior& prior_;
  std::vector<OfModels> places_;  // by node
  int model_ = 0;
};

Co<> RunAbMctsA(SearchContext& ctx, const AbMctsAOptions& options) {
  ArmTree arms(ctx.tree(), options.branching.patience);
  if (options.branching.model_choice == ModelChoice::kStack) {
    StackChooser chooser(ctx.tree(), arms, options);
    co_await RunAdaptiveBranching(ctx, options.branching, arms, chooser);
    co_return;
  }
  ThompsonChooser chooser(ctx.tree(), arms, options.prior);
  co_await RunAdaptiveBranching(ctx, options.branching, arms, chooser);
}

const RegisterAlgorithm<AbMctsAOptions> kAbMctsA(
    "ab_mcts_a", "adaptive branching tree search by Thompson sampling",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunAbMctsA,
    MethodNotes{.source = "TreeQuest, Inoue et al. 2025, arXiv:2503.04412",
                .when_to_use = "whole answers can be scored, and it is unclear "
                               "whether to sample new ones or refine old ones",
                .test = "tests/search/ab_mcts_test.cc"});

}  // namespace
}  // namespace espalier
