// The loop shared by the AB-MCTS methods: "wider or deeper?" is decided at
// every node on the way down (Inoue et al. 2025, arXiv:2503.04412; TreeQuest).
//
// One simulation:
//   1. descend   from the root by the method's choice of arm, until a node's
//                choice is to generate;
//   2. generate  there, with the model that the method chooses:
//                unit=response  a response from the node to its end;
//                unit=step      one next step, so that a response grows over
//                               several simulations;
//   3. score     the end of what was generated with the reward model;
//   4. backup    the score into the arms (arm_tree.h); an end of a response
//                votes for its answer.
//
// With `batch` > 1, `batch` simulations choose before any of them is generated,
// and are generated together; their scores are backed up in the order of
// choice.
//
// unit=response has an answer after one simulation. unit=step may end without
// one if the budget is too small to reach a first end. A response cut by a
// length limit has no score and no vote, and counts as a draw without result.
//
// A search ends when its simulations or a budget are spent, or its tree is
// closed: when every node's last `patience` draws brought no new child. Policy
// samples are the only evidence that a node has no further children, so a small
// patience may miss rare ones; but every search ends. The whole tree is found
// with near certainty if (1 - p)^patience is small for the probability p of its
// rarest step. With patience 0 no node is ever given up, as in TreeQuest.
#ifndef ESPALIER_SEARCH_BANDIT_ADAPTIVE_BRANCHING_H_
#define ESPALIER_SEARCH_BANDIT_ADAPTIVE_BRANCHING_H_

#include <array>
#include <string_view>

#include "search/bandit/arm_tree.h"
#include "search/bandit/model_arms.h"
#include "search/choose.h"
#include "search/search_context.h"

namespace espalier {

enum class GenerationUnit : uint8_t { kResponse, kStep };
inline constexpr std::array<std::string_view, 2> kGenerationUnitNames = {
    "response", "step"};

struct BranchingOptions {
  int simulations = 0;
  int batch = 1;
  GenerationUnit unit = GenerationUnit::kResponse;
  float temperature = 1;
  int patience = 16;  // after 16, P(new child) is about 1 / 18
  int models = 1;
  ModelChoice model_choice = ModelChoice::kThompson;
  AnswerChoice choice = AnswerChoice::kBest;
  void Visit(OptionVisitor& v);
};

// How a method chooses among the arms.
class ArmChooser {
 public:
  virtual ~ArmChooser() = default;
  // An open child of the open node `node`, or kNoNode to generate here, which
  // requires that its GEN is open.
  virtual NodeId ChooseChild(NodeId node, RandomStream& random) = 0;
  virtual int ChooseModel(const ModelArms& models, RandomStream& random) = 0;
  // Called after the arms have counted a draw by `model` at `from` that ended
  // in `end`.
  virtual void Observed(NodeId from, NodeId end, int model, double score);
};

// `arms` and `chooser` outlive the search.
Co<> RunAdaptiveBranching(SearchContext& ctx, const BranchingOptions& options,
                          ArmTree& arms, ArmChooser& chooser);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_BANDIT_ADAPTIVE_BRANCHING_H_
