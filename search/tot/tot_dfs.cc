// Tree of Thoughts, depth-first (Yao et al. 2023, arXiv:2305.10601; DFS of LLM
// Reasoners, Hao et al. 2024, arXiv:2404.05221).
//
//   1. visit     the next step in order; one that ends the response votes and
//                the search backtracks;
//   2. propose   `branch` next steps of it;
//   3. evaluate  them with the reward model: the value is path_score (that of
//                the model with aggregate=sum, whose values are not in [0, 1]);
//   4. order     them by falling value, ties to the oldest (without `prior` in
//                order of sampling), without those below `threshold` and at
//                most `per_node` of them; then 1 with the first of them, the
//                others after everything below it.
//
// The search ends when `ends` responses are finished (with `cut`, paths at the
// step limit count), `states` steps were visited, nothing is left to backtrack
// to or the budget is spent. A response votes with the `aggregate` of its
// steps' scores. With threshold = 0 the search is complete over what its
// samples reach: choice=best returns the response of highest score. Without a
// finished response the best path is finished (finish.h).
#include <algorithm>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/aggregate.h"
#include "search/parts/common_options.h"
#include "search/parts/propose.h"

namespace espalier {
namespace {

struct TotDfsOptions {
  int branch = 5;
  float threshold = 0;
  int ends = 0;
  int states = 0;
  int per_node = 0;
  bool prior = true;
  bool cut = false;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  float temperature = 0.7f;
  AnswerChoice choice = AnswerChoice::kWeighted;
  int64_t AtOnce() const { return branch; }
  void Visit(OptionVisitor& v) {
    v.Int("branch", &branch, 1, 4096, "samples of a node's next step");
    v.Real("threshold", &threshold, 0, 1,
           "steps with a lower value are pruned");
    v.Int("ends", &ends, 0, 1 << 30,
          "finished responses after which to stop; 0: no limit");
    v.Int("states", &states, 0, 1 << 30,
          "visited steps after which to stop; 0: no limit");
    v.Int("per_node", &per_node, 0, 4096,
          "maximum next steps visited per node; 0: all");
    v.Flag("prior", &prior,
           "visit steps by decreasing value, not in sampling order");
    v.Flag("cut", &cut, "paths cut by the step limit count towards `ends`");
    VisitLevel(v, &level);
    VisitChoice(v, "aggregate", &aggregate, kRankNames, kAggregateHelp);
    VisitTemperature(v, &temperature);
    VisitAnswerChoice(v, &choice);
  }
};

// By which steps are ordered and pruned.
float ValueOf(const Tree& tree, NodeId node, const TotDfsOptions& options) {
  return options.aggregate == Aggregate::kSum ? tree.step(node).path_score
                                              : tree.score(node);
}

Co<> RunTotDfs(SearchContext& ctx, const TotDfsOptions& options) {
  Votes votes(options.choice);
  std::vector<NodeId> stack = {kRoot};  // the next one is last
  std::vector<std::vector<NodeId>> found;
  const ExpandOptions ask{.n = options.branch,
                          .temperature = options.temperature};
  int ends = 0, states = 0;
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    if (node != kRoot && options.states > 0 && ++states > options.states) break;
    if (ctx.tree()[node].terminal()) {
      votes.Add(
          ctx, node,
          AggregatePath(ctx.tree(), node, options.level, options.aggregate));
      votes.Offer(ctx);
      ctx.CountSimulation();
      if (++ends == options.ends) break;
      continue;
    }
    if (options.cut && ctx.tree().step(node).depth >= ctx.format().max_steps) {
      if (++ends == options.ends) break;
      continue;
    }
    // Ends on the stack cost nothing: they vote even after the budget.
    if (ctx.ShouldStop()) continue;
    co_await Propose(ctx, absl::MakeConstSpan(&node, 1), ask, true, found);
    const Tree& tree = ctx.tree();
    std::vector<NodeId>& steps = found[0];
    std::erase_if(steps, [&](NodeId id) {
      return ValueOf(tree, id, options) < options.threshold;
    });
    if (options.prior) {
      std::stable_sort(steps.begin(), steps.end(), [&](NodeId a, NodeId b) {
        return ValueOf(tree, a, options) > ValueOf(tree, b, options);
      });
    }
    if (options.per_node > 0 &&
        steps.size() > static_cast<size_t>(options.per_node)) {
      steps.resize(static_cast<size_t>(options.per_node));
    }
    stack.insert(stack.end(), steps.rbegin(), steps.rend());
  }
}

const RegisterAlgorithm<TotDfsOptions> kTotDfs(
    "tot_dfs", "Tree of Thoughts: depth-first with backtracking",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunTotDfs,
    MethodNotes{
        .source = "Tree of Thoughts, Yao et al. 2023, arXiv:2305.10601; LLM "
                  "Reasoners, arXiv:2404.05221",
        .when_to_use =
            "dead ends can be recognised early and one solution is enough",
        .test = "tests/search/tot_test.cc"});

}  // namespace
}  // namespace espalier
