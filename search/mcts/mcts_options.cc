#include "search/mcts/mcts_options.h"

#include "absl/strings/str_cat.h"
#include "search/parts/common_options.h"

namespace espalier {

void MctsOptions::Visit(OptionVisitor& v) {
  v.Int("simulations", &simulations, 0, 1 << 30,
        "number of simulations; 0: until the budget is spent");
  v.Int("branch", &branch, 1, 4096, "samples per leaf expansion");
  v.Int("in_flight", &in_flight, 1, 4096, "concurrent simulations");
  VisitTemperature(v, &temperature);
  v.Flag("widen", &widen,
         "sample further children as visits grow (progressive widening)");
  v.Int("width", &width, 1, 1 << 20, "maximum distinct children (widen)");
  VisitChoice(v, "descend", &descend, kDescendNames,
              "continue every simulation to an answer: true: with one sample "
              "per step below the new leaf; all: with `branch` samples per "
              "step and selection among them");
  VisitChoice(v, "cut", &cut, kCutNames,
              "a path cut by the step limit counts as: no visit; a visit of "
              "value 0; or a visit with its last step's value, as does a path "
              "without any continuation");
  v.Int("forward", &forward, 0, 64,
        "greedy lookahead steps from a new leaf's best child, for its value");
  v.Real("forward_weight", &forward_weight, 0, 1,
         "weight of the lookahead in that value");
  v.Flag("close", &close, "never revisit finished nodes and subtrees");
  v.Flag("verify", &verify,
         "check finished responses with the verifier (puzzle rules, public "
         "tests); an accepted one ends the search");
  v.Real("virtual_loss", &virtual_loss, 0, 100,
         "visits of value 0 that a simulation in flight counts as");
  VisitChoice(v, "share", &share, kShareNames,
              "which nodes count as one state (transpositions): none; those "
              "with equal last steps; those with the same steps in any order");
  VisitAnswerChoice(v, &choice);
}

std::vector<RequestKind> MctsOptions::Needs() const {
  std::vector<RequestKind> needs = {RequestKind::kExpand,
                                    RequestKind::kEvaluate};
  if (verify) needs.push_back(RequestKind::kVerify);
  return needs;
}

std::vector<std::string> MctsOptions::Check() const {
  std::vector<std::string> problems;
  if (simulations > 0 && in_flight > simulations) {
    problems.push_back(absl::StrCat("in_flight=", in_flight,
                                    " is more than simulations=", simulations,
                                    "; expected at most as many"));
  }
  return problems;
}

}  // namespace espalier
