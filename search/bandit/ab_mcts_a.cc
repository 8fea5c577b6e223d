// AB-MCTS-A: adaptive branching with node aggregation (T14; Inoue et al. 2025,
// "Wider or Deeper? Scaling LLM Inference-Time Compute with Adaptive Branching
// Tree Search", arXiv:2503.04412; TreeQuest).
//
// At every node two Thompson draws (thompson.h) decide
//   GEN or CONT   the higher draw of the two arms' mean reward; then, if CONT,
//   which child   the highest draw of the open children's arms.
// GEN has the scores of what was generated at the node itself, CONT those of
// what was generated below its children, and a child's arm both its own score
// and all of what is below it. See adaptive_branching.h for the loop and
// arm_tree.h for what closes.
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

Co<> RunAbMctsA(SearchContext& ctx, const AbMctsAOptions& options) {
  ArmTree arms(ctx.tree(), options.branching.patience);
  ThompsonChooser chooser(ctx.tree(), arms, options.prior);
  co_await RunAdaptiveBranching(ctx, options.branching, arms, chooser);
}

const RegisterAlgorithm<AbMctsAOptions> kAbMctsA(
    "ab_mcts_a", "adaptive branching tree search by Thompson sampling",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunAbMctsA,
    MethodNotes{.source = "TreeQuest, Inoue et al. 2025, arXiv:2503.04412",
                .when_to_use = "whole answers are scored and it is open "
                               "whether to draw new ones or to refine",
                .test = "tests/search/ab_mcts_test.cc"});

}  // namespace
}  // namespace espalier
