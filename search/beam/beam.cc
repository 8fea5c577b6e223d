// Step-level beam search (OpenR, Wang et al. 2024, arXiv:2410.09671; LLM
// Reasoners, Hao et al. 2024, arXiv:2404.05221).
//
// Per step:
//   1. propose   `branch` continuations of one step of every kept path, without
//                repeats;
//   2. evaluate  them with the reward model: a path is worth the `aggregate` of
//                its steps' scores, and is dropped below `floor`;
//   3. keep      the best `width` of all, ties to the first of the best parent.
//                Those that end the response vote and leave the beam, which
//                shrinks by one (OpenR) unless `refill` (LLM Reasoners); so
//                does a path that nothing follows, without a vote.
//
// A pass ends when nothing is kept. Passes repeat with fresh samples until
// `rounds` are done, the budget is spent, or a pass samples nothing.
#include <algorithm>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/aggregate.h"
#include "search/parts/common_options.h"
#include "search/parts/propose.h"

namespace espalier {
namespace {

struct BeamOptions {
  int width = 4;
  int branch = 4;
  int rounds = 0;
  float temperature = 1;
  bool refill = false;
  float floor = 0;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  AnswerChoice choice = AnswerChoice::kWeighted;
  int64_t AtOnce() const { return int64_t{width} * branch; }
  void Visit(OptionVisitor& v) {
    v.Int("width", &width, 1, 4096, "paths kept after each step");
    v.Int("branch", &branch, 1, 4096, "samples of the next step per path");
    VisitRounds(v, &rounds);
    VisitTemperature(v, &temperature);
    v.Flag("refill", &refill,
           "a finished response frees its place in the beam");
    v.Real("floor", &floor, 0, 1, "paths with a lower score are dropped");
    VisitLevel(v, &level);
    VisitChoice(v, "aggregate", &aggregate, kRankNames, kAggregateHelp);
    VisitAnswerChoice(v, &choice);
  }
};

// For a search that can be stopped early: votes per pass, each in [0, 1].
VoteBound BoundOf(const BeamOptions& options) {
  if (options.refill || options.aggregate == Aggregate::kSum) {
    return {.in_flight = 0};
  }
  return {.simulations = options.rounds, .votes = options.width};
}

struct Candidate {
  NodeId node;
  float worth;
};

// One pass from the root; finished responses vote as they end.
Co<> RunPass(SearchContext& ctx, const BeamOptions& options, Votes& votes) {
  std::vector<NodeId> kept = {kRoot};
  std::vector<std::vector<NodeId>> found;
  const ExpandOptions ask{.n = options.branch,
                          .temperature = options.temperature};
  int places = options.width;
  while (!kept.empty() && places > 0) {
    co_await Propose(ctx, kept, ask, true, found);
    const Tree& tree = ctx.tree();
    std::vector<Candidate> candidates;
    for (const std::vector<NodeId>& steps : found) {
      if (steps.empty() && !options.refill) --places;
      for (const NodeId id : steps) {
        const float worth =
            AggregatePath(tree, id, options.level, options.aggregate);
        if (worth >= options.floor) candidates.push_back({id, worth});
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) {
                       return a.worth > b.worth;
                     });
    if (candidates.size() > static_cast<size_t>(places)) {
      candidates.resize(static_cast<size_t>(places));
    }
    kept.clear();
    for (const Candidate& candidate : candidates) {
      if (!tree[candidate.node].terminal()) {
        kept.push_back(candidate.node);
        continue;
      }
      if (!options.refill) --places;
      votes.Add(ctx, candidate.node, candidate.worth);
      votes.Offer(ctx);
    }
  }
}

Co<> RunBeam(SearchContext& ctx, const BeamOptions& options) {
  Votes votes(options.choice, BoundOf(options));
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    co_await RunPass(ctx, options, votes);
    ctx.CountSimulation();
    if (ctx.usage().tokens == before) break;
  }
}

const RegisterAlgorithm<BeamOptions> kBeam(
    "beam", "step-level beam search: keeps the best steps by the reward model",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunBeam,
    MethodNotes{.source = "OpenR, arXiv:2410.09671; LLM Reasoners, "
                          "arXiv:2404.05221",
                .when_to_use = "a reward model tells good steps from bad and "
                               "many paths are affordable",
                .test = "tests/search/beam_test.cc"});

}  // namespace
}  // namespace espalier
