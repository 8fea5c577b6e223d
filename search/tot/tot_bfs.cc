// Tree of Thoughts, breadth-first (Yao et al. 2023, arXiv:2305.10601).
//
// From the root, step by step:
//   1. propose   `branch` next steps of every kept path;
//   2. evaluate  them with the reward model: the value is path_score. With
//                `merge`, equal steps of one path are one candidate; without
//                it, as in the program, the second of equals is worth 0 but may
//                still be kept and expanded again;
//   3. keep      `n_select` of them over all kept paths. greedy: those of
//                highest value, ties to the first; sample: each with
//                probability value / sum, with replacement. Those that end the
//                response vote and leave.
//
// A pass ends when nothing is kept. Passes repeat with fresh samples until
// `rounds` are done, the budget is spent, or a pass samples nothing. Without a
// finished response the best path is finished (finish.h).
//
// Differs: the program prompts for a list of next steps and for verdicts or
// votes in words, and runs as many rounds as its task has; it returns
// everything kept at the end.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string_view>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/common_options.h"
#include "search/parts/propose.h"

namespace espalier {
namespace {

enum class Selection : uint8_t { kGreedy, kSample };
constexpr std::array<std::string_view, 2> kSelectionNames = {"greedy",
                                                             "sample"};

struct TotBfsOptions {
  int n_select = 5;
  int branch = 5;
  int rounds = 0;
  float temperature = 0.7f;
  Selection select = Selection::kGreedy;
  bool merge = true;
  AnswerChoice choice = AnswerChoice::kWeighted;
  int64_t AtOnce() const { return int64_t{n_select} * branch; }
  void Visit(OptionVisitor& v) {
    v.Int("n_select", &n_select, 1, 4096, "steps kept at each depth");
    v.Int("branch", &branch, 1, 4096, "samples of the next step per kept path");
    VisitRounds(v, &rounds);
    VisitTemperature(v, &temperature);
    VisitChoice(v, "select", &select, kSelectionNames,
                "how the kept steps are selected");
    v.Flag("merge", &merge, "equal next steps of a path are one candidate");
    VisitAnswerChoice(v, &choice);
  }
};

// A step that may be kept.
struct ValuedStep {
  NodeId node = kNoNode;
  float value = 0;
};

// Stage 2: in order of kept paths, then of samples.
std::vector<ValuedStep> Valued(const Tree& tree,
                               const std::vector<std::vector<NodeId>>& found) {
  std::vector<ValuedStep> candidates;
  std::vector<NodeId> seen;
  for (const auto& some : found) {
    for (const NodeId node : some) {
      const bool repeated =
          std::find(seen.begin(), seen.end(), node) != seen.end();
      candidates.push_back({node, repeated ? 0 : tree.score(node)});
      if (!repeated) seen.push_back(node);
    }
  }
  return candidates;
}

// Stage 3, sample: one draw per place; uniform if all values are 0.
std::vector<ValuedStep> Sampled(const std::vector<ValuedStep>& candidates,
                                int count, RandomStream& draws) {
  std::vector<double> sums(candidates.size());
  std::transform_inclusive_scan(
      candidates.begin(), candidates.end(), sums.begin(), std::plus<>(),
      [](const ValuedStep& c) { return static_cast<double>(c.value); });
  if (sums.back() <= 0) std::iota(sums.begin(), sums.end(), 1.0);
  std::vector<ValuedStep> kept;
  for (int i = 0; i < count; ++i) {
    const auto at = std::upper_bound(sums.begin(), sums.end(),
                                     draws.UniformDouble() * sums.back());
    const auto index = static_cast<size_t>(at - sums.begin());
    kept.push_back(candidates[std::min(index, candidates.size() - 1)]);
  }
  return kept;
}

// Stage 3.
std::vector<ValuedStep> Select(const TotBfsOptions& options,
                               std::vector<ValuedStep> candidates,
                               RandomStream& draws) {
  if (candidates.empty()) return candidates;
  if (options.select == Selection::kSample) {
    return Sampled(candidates, options.n_select, draws);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const ValuedStep& a, const ValuedStep& b) {
                     return a.value > b.value;
                   });
  if (candidates.size() > static_cast<size_t>(options.n_select)) {
    candidates.resize(static_cast<size_t>(options.n_select));
  }
  return candidates;
}

Co<> RunPass(SearchContext& ctx, const TotBfsOptions& options,
             RandomStream& draws, Votes& votes) {
  std::vector<NodeId> kept = {kRoot};
  std::vector<std::vector<NodeId>> found;
  const ExpandOptions ask{.n = options.branch,
                          .temperature = options.temperature};
  while (!kept.empty() && !ctx.ShouldStop()) {
    co_await Propose(ctx, kept, ask, true, found, !options.merge);  // 1
    const Tree& tree = ctx.tree();
    const std::vector<ValuedStep> best =
        Select(options, Valued(tree, found), draws);  // 2, 3
    kept.clear();
    for (const ValuedStep& step : best) {
      if (!tree[step.node].terminal()) {
        kept.push_back(step.node);
        continue;
      }
      votes.Add(ctx, step.node, step.value);
      votes.Offer(ctx);
    }
  }
}

Co<> RunTotBfs(SearchContext& ctx, const TotBfsOptions& options) {
  Votes votes(options.choice);
  RandomStream draws = ctx.Stream(kRoot, Purpose::kSelect);
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    co_await RunPass(ctx, options, draws, votes);
    ctx.CountSimulation();
    if (ctx.usage().tokens == before) break;
  }
}

const RegisterAlgorithm<TotBfsOptions> kTotBfs(
    "tot_bfs", "Tree of Thoughts: keeps the best steps at each depth",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunTotBfs,
    MethodNotes{.source = "Tree of Thoughts, Yao et al. 2023, arXiv:2305.10601",
                .when_to_use = "problems take few steps and partial solutions "
                               "of the same depth can be ranked",
                .test = "tests/search/tot_test.cc"});

}  // namespace
}  // namespace espalier
