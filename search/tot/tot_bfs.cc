// Tree of Thoughts, breadth-first (T4; Yao et al. 2023, arXiv:2305.10601).
//
// From the root, step by step:
//   1. propose   `branch` next steps of every kept path;
//   2. evaluate  them with the reward model: the value is path_score;
//   3. keep      the `n_select` steps of highest value over all kept paths, of
//                equals the oldest. Those that end the response vote and leave.
//
// A pass ends when nothing is kept. Passes repeat with fresh samples until
// `rounds` are done or the budget is spent, or one sampled nothing. Without a
// finished response there is no answer.
#include <algorithm>
#include <vector>

#include "search/algorithm.h"
#include "search/parts/choose.h"
#include "search/parts/propose.h"

namespace espalier {
namespace {

struct TotBfsOptions {
  int n_select = 5;
  int branch = 5;
  int rounds = 0;
  float temperature = 0.7f;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    v.Int("n_select", &n_select, 1, 4096, "steps kept at each depth");
    v.Int("branch", &branch, 1, 4096, "samples of each kept path's next step");
    v.Int("rounds", &rounds, 0, 1 << 20,
          "passes from the root; 0: until the budget is spent");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
};

Co<> RunPass(SearchContext& ctx, const TotBfsOptions& options, Votes& votes) {
  std::vector<NodeId> kept = {kRoot};
  std::vector<std::vector<NodeId>> found;
  const ExpandOptions ask{.n = options.branch,
                          .temperature = options.temperature};
  while (!kept.empty() && !ctx.ShouldStop()) {
    co_await Propose(ctx, kept, ask, true, found);
    const Tree& tree = ctx.tree();
    std::vector<NodeId> steps;
    for (const auto& some : found) {
      steps.insert(steps.end(), some.begin(), some.end());
    }
    std::sort(steps.begin(), steps.end(), [&](NodeId a, NodeId b) {
      return tree.step(a).path_score != tree.step(b).path_score
                 ? tree.step(a).path_score > tree.step(b).path_score
                 : a < b;
    });
    if (steps.size() > static_cast<size_t>(options.n_select)) {
      steps.resize(static_cast<size_t>(options.n_select));
    }
    kept.clear();
    for (const NodeId step : steps) {
      if (!tree[step].terminal()) {
        kept.push_back(step);
        continue;
      }
      votes.Add(ctx, step, tree.step(step).path_score);
      votes.Offer(ctx);
    }
  }
}

Co<> RunTotBfs(SearchContext& ctx, const TotBfsOptions& options) {
  Votes votes(options.choice);
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    co_await RunPass(ctx, options, votes);
    ctx.CountSimulation();
    if (ctx.usage().tokens == before) break;
  }
}

const RegisterAlgorithm<TotBfsOptions> kTotBfs(
    "tot_bfs", "tree of thoughts: the best steps of each depth",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunTotBfs,
    MethodNotes{.source = "Tree of Thoughts, Yao et al. 2023, arXiv:2305.10601",
                .when_to_use = "problems take few steps and all partial "
                               "solutions of one depth can be ranked",
                .test = "tests/search/tot_test.cc"});

}  // namespace
}  // namespace espalier
