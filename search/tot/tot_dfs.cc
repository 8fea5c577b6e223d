// Tree of Thoughts, depth-first (T4; Yao et al. 2023, arXiv:2305.10601).
//
//   1. visit     the next step in order; one that ends the response votes and
//                the search backtracks;
//   2. propose   `branch` next steps of it;
//   3. evaluate  them with the reward model: the value is path_score;
//   4. order     them by falling value, of equals the oldest first, without
//                those below `threshold`; then 1 with the first of them, the
//                others after everything below it.
//
// The search ends when `ends` responses are finished, nothing is left to
// backtrack to or the budget is spent. With threshold = 0 it is complete over
// what its samples reach: the response of highest score is the answer of
// choice=best. Without a finished response there is no answer.
#include <algorithm>
#include <vector>

#include "search/algorithm.h"
#include "search/parts/choose.h"
#include "search/parts/propose.h"

namespace espalier {
namespace {

struct TotDfsOptions {
  int branch = 5;
  float threshold = 0;
  int ends = 0;
  float temperature = 0.7f;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    v.Int("branch", &branch, 1, 4096, "samples of a node's next step");
    v.Real("threshold", &threshold, 0, 1, "steps of lower value are pruned");
    v.Int("ends", &ends, 0, 1 << 30,
          "finished responses after which to stop; 0: none");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
};

Co<> RunTotDfs(SearchContext& ctx, const TotDfsOptions& options) {
  Votes votes(options.choice);
  std::vector<NodeId> stack = {kRoot};  // the next one last
  std::vector<std::vector<NodeId>> found;
  const ExpandOptions ask{.n = options.branch,
                          .temperature = options.temperature};
  int ends = 0;
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    if (ctx.tree()[node].terminal()) {
      votes.Add(ctx, node, ctx.tree().step(node).path_score);
      votes.Offer(ctx);
      ctx.CountSimulation();
      if (++ends == options.ends) break;
      continue;
    }
    // Ends that are waiting cost nothing: they vote even after the budget.
    if (ctx.ShouldStop()) continue;
    co_await Propose(ctx, absl::MakeConstSpan(&node, 1), ask, true, found);
    const Tree& tree = ctx.tree();
    std::vector<NodeId>& steps = found[0];
    std::erase_if(steps, [&](NodeId id) {
      return tree.step(id).path_score < options.threshold;
    });
    std::sort(steps.begin(), steps.end(), [&](NodeId a, NodeId b) {
      return tree.step(a).path_score != tree.step(b).path_score
                 ? tree.step(a).path_score < tree.step(b).path_score
                 : a > b;
    });
    stack.insert(stack.end(), steps.begin(), steps.end());
  }
}

const RegisterAlgorithm<TotDfsOptions> kTotDfs(
    "tot_dfs", "tree of thoughts: depth-first with backtracking",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunTotDfs,
    MethodNotes{
        .source = "Tree of Thoughts, Yao et al. 2023, arXiv:2305.10601",
        .when_to_use = "dead ends can be told early and one solution is enough",
        .test = "tests/search/tot_test.cc"});

}  // namespace
}  // namespace espalier
