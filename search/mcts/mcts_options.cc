#include "search/mcts/mcts_options.h"

#include "absl/strings/str_cat.h"
#include "search/parts/common_options.h"

namespace espalier {

void MctsOptions::Visit(OptionVisitor& v) {
  v.Int("simulations", &simulations, 0, 1 << 30,
        "0: until the budget is spent");
  v.Int("branch", &branch, 1, 4096, "samples when a leaf is expanded");
  v.Int("in_flight", &in_flight, 1, 4096, "simulations under way at once");
  VisitTemperature(v, &temperature);
  v.Flag("widen", &widen, "sample further children as visits grow (T31)");
  v.Int("width", &width, 1, 1 << 20, "distinct children at most (widen)");
  VisitChoice(v, "descend", &descend, kDescendNames,
              "follow every simulation to an answer: true: by one sample a "
              "step below the new leaf; all: by `branch` samples and the "
              "choice among them");
  VisitChoice(
      v, "cut", &cut, kCutNames,
      "a path that the limit of steps cut: no visit, one of value 0, or "
      "one worth what its last step is; visit: so is a path that nothing "
      "follows");
  v.Int("forward", &forward, 0, 64,
        "greedy steps beyond a new leaf's best child, for its value");
  v.Real("forward_weight", &forward_weight, 0, 1,
         "share of what the forward steps found in that value");
  v.Flag("close", &close, "never visit again what is finished");
  v.Flag("verify", &verify,
         "put finished responses to the verifier (a puzzle's rules, the tests "
         "that a question shows); one accepted ends the search");
  v.Real("virtual_loss", &virtual_loss, 0, 100,
         "visits of value 0 that a simulation under way counts for");
  VisitChoice(v, "share", &share, kShareNames,
              "nodes that are one state: none; of the same last step; of the "
              "same steps in any order");
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
