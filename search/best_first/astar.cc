// A* over sampled steps (ToolChain*, Zhuang et al. 2023, arXiv:2310.13227).
//
//   1. pop       the open node of lowest f = g + h, ties to the oldest:
//                  g = sum of (1 - step_score)
//                  h = weight (1 - path_score) x expected steps left,
//                h = 0 at ends and where the number of steps is not known. An
//                end that is popped is the answer: the search is over;
//   2. propose   `branch` next steps;
//   3. evaluate  them;
//   4. prune     those with f > best, the cost of the cheapest end seen; the
//                others are open.
//
// The costs are our own: ToolChain* leaves them to the task. If h never exceeds
// the remaining cost of the cheapest path to an end, the answer is the cheapest
// that the samples reach. An end without an answer is ignored. Until an end is
// popped the cheapest one seen is the answer, if there is one. Scores of 1 make
// steps free: with equal f the search is breadth-first.
//
// in_flight > 1 pops several nodes at once, but no end before all open nodes of
// lower f are expanded: the answer's cost is the same.
#include <limits>
#include <vector>

#include "search/algorithm.h"
#include "search/best_first/priority.h"
#include "search/parts/common_options.h"
#include "search/parts/frontier.h"
#include "search/parts/propose.h"

namespace espalier {
namespace {

struct AStarOptions {
  int branch = 8;
  float temperature = 1;
  float weight = 1;
  int steps_left = 0;
  int in_flight = 1;
  int64_t AtOnce() const { return int64_t{branch} * in_flight; }
  void Visit(OptionVisitor& v) {
    v.Int("branch", &branch, 1, 4096, "samples of a node's next step");
    VisitTemperature(v, &temperature);
    v.Real("weight", &weight, 0, 1000, "weight of the cost to go (h)");
    v.Int("steps_left", &steps_left, 0, 65535,
          "expected steps of a response, from which h derives the steps left "
          "at a node; 0: unknown, h = 0");
    v.Int("in_flight", &in_flight, 1, 4096, "nodes expanded at once");
  }
};

struct AStar {
  const AStarOptions& options;
  Frontier frontier = {};
  std::vector<double> costs = {0};  // g by node
  double best = std::numeric_limits<double>::infinity();
};

// Stage 4 for one step.
void Insert(SearchContext& ctx, AStar& search, NodeId id) {
  const Step& step = ctx.tree().step(id);
  const bool ends = ctx.tree()[id].terminal();
  if (ends) ctx.Evict(id);
  if (ends && ctx.AnswerOf(id) < 0) return;
  if (search.costs.size() <= id) search.costs.resize(ctx.tree().size());
  const double g =
      search.costs[ctx.tree()[id].parent] + StepCost(step.step_score);
  search.costs[id] = g;
  const double f =
      g + CostToGo(ctx.tree().score(id), step.depth, ends,
                   search.options.weight, search.options.steps_left);
  if (f > search.best) {
    ctx.Evict(id);
    return;
  }
  search.frontier.Push(id, -f);
  if (!ends) ctx.SetRetention(id, -f);
  if (!ends || f == search.best) return;
  search.best = f;
  ctx.Offer(id, static_cast<float>(-f));
}

Co<> RunAStar(SearchContext& ctx, const AStarOptions& options) {
  AStar search{.options = options};
  search.frontier.Push(kRoot, 0);
  std::vector<NodeId> popped;
  std::vector<std::vector<NodeId>> found;
  const ExpandOptions ask{.n = options.branch,
                          .temperature = options.temperature};
  while (!search.frontier.empty() && !ctx.ShouldStop()) {
    if (const NodeId top = search.frontier.top(); ctx.tree()[top].terminal()) {
      ctx.Offer(top, static_cast<float>(search.frontier.top_rank()));
      co_return;
    }
    popped.clear();
    while (!search.frontier.empty() &&
           static_cast<int>(popped.size()) < options.in_flight &&
           !ctx.tree()[search.frontier.top()].terminal()) {
      popped.push_back(search.frontier.Pop());
    }
    co_await Propose(ctx, popped, ask, true, found);
    for (size_t i = 0; i < popped.size(); ++i) {
      for (const NodeId step : found[i]) Insert(ctx, search, step);
      ctx.Evict(popped[i]);
      ctx.CountSimulation();
    }
  }
}

const RegisterAlgorithm<AStarOptions> kAStar(
    "astar", "A*: finds the cheapest response by step scores",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunAStar,
    MethodNotes{
        .source = "ToolChain*, Zhuang et al. 2023, arXiv:2310.13227",
        .when_to_use = "steps have costs and the cheapest solution is wanted",
        .test = "tests/search/best_first_test.cc"});

}  // namespace
}  // namespace espalier
