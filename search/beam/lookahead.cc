// Lookahead search (T3; search-and-learn, Snell et al. 2024,
// arXiv:2408.03314). With k = 0: beam search by the reward of the last step
// (T1) in search-and-learn's form.
//
// Per step, from the kept paths:
//   1. propose   n samples of the next step in all, shared out evenly, the
//                better paths getting what is over;
//   2. look      k greedy steps further from each (temperature 0), each greedy
//                step written once a search;
//   3. evaluate  the steps with the reward model; a candidate's score is that
//                of the path to the end of its greedy steps;
//   4. keep      candidates that end the response are finished: they vote with
//                their score, as often as they were sampled, and leave without
//                taking a place. Of the others the best n / width are kept, at
//                least one; equal samples are one candidate, the first of
//                equal scores wins.
// A pass ends when nothing is kept, after n finished responses or after
// `iterations` steps; passes repeat until `rounds` are done or the budget is
// spent. Greedy steps are never an answer unless they are sampled too.
#include <algorithm>
#include <vector>

#include "search/algorithm.h"
#include "search/parts/aggregate.h"
#include "search/parts/choose.h"
#include "search/parts/lockstep.h"

namespace espalier {
namespace {

struct LookaheadOptions {
  int n = 8;
  int width = 4;
  int k = 1;
  int iterations = 0;
  int rounds = 0;
  float temperature = 1;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    v.Int("n", &n, 1, 1 << 16, "samples of each step, over all paths");
    v.Int("width", &width, 1, 4096,
          "samples for each path kept: n / width are");
    v.Int("k", &k, 0, 64, "greedy steps written to judge a step; 0: beam");
    v.Int("iterations", &iterations, 0, 1 << 16,
          "steps of a pass; 0: no limit");
    v.Int("rounds", &rounds, 0, 1 << 20,
          "passes from the root; 0: until the budget is spent");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    VisitChoice(v, "level", &level, kLevelNames, "reward head");
    VisitChoice(v, "aggregate", &aggregate, kAggregateNames,
                "how step scores make the score of a path");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
};

struct Candidate {
  NodeId node;
  float score;
};

// Stage 1. Samples of all kept paths in order.
Co<std::vector<NodeId>> Propose(SearchContext& ctx,
                                const std::vector<NodeId>& kept,
                                const LookaheadOptions& options) {
  const int paths = static_cast<int>(kept.size());
  std::vector<Draws> asked;
  for (int i = 0; i < paths; ++i) {
    const int share = options.n / paths + (i < options.n % paths ? 1 : 0);
    if (share > 0) asked.push_back({kept[static_cast<size_t>(i)], share});
  }
  const auto samples = co_await ExpandEach(ctx, asked, options.temperature);
  std::vector<NodeId> all;
  for (const auto& some : samples) {
    all.insert(all.end(), some.begin(), some.end());
  }
  co_return all;
}

// Stages 2 and 3: the distinct samples with their scores, in order of
// sampling. None if the budget ended before they were scored.
Co<std::vector<Candidate>> Evaluate(SearchContext& ctx,
                                    const std::vector<NodeId>& samples,
                                    const LookaheadOptions& options,
                                    GreedySteps& greedy) {
  std::vector<NodeId> distinct;
  for (const NodeId node : samples) {
    if (std::find(distinct.begin(), distinct.end(), node) == distinct.end()) {
      distinct.push_back(node);
    }
  }
  const std::vector<NodeId> ends =
      co_await LookAheadEach(ctx, distinct, options.k, greedy);
  std::vector<NodeId> unscored;
  for (size_t i = 0; i < distinct.size(); ++i) {
    const NodeId above = ctx.tree()[distinct[i]].parent;
    for (NodeId at = ends[i]; at != above; at = ctx.tree()[at].parent) {
      unscored.push_back(at);
    }
  }
  std::vector<Candidate> candidates;
  if (!co_await ScoreEach(ctx, unscored)) co_return candidates;
  for (size_t i = 0; i < distinct.size(); ++i) {
    candidates.push_back(
        {distinct[i],
         AggregatePath(ctx.tree(), ends[i], options.level, options.aggregate)});
  }
  co_return candidates;
}

Co<> RunPass(SearchContext& ctx, const LookaheadOptions& options,
             GreedySteps& greedy, Votes& votes) {
  const size_t places =
      static_cast<size_t>(std::max(1, options.n / options.width));
  std::vector<NodeId> kept = {kRoot};
  int finished = 0;
  for (int step = 0; !kept.empty() && finished < options.n &&
                     (options.iterations == 0 || step < options.iterations);
       ++step) {
    const std::vector<NodeId> samples = co_await Propose(ctx, kept, options);
    std::vector<Candidate> candidates =
        co_await Evaluate(ctx, samples, options, greedy);
    kept.clear();
    if (candidates.empty()) break;
    for (const NodeId node : samples) {
      if (!ctx.tree()[node].terminal()) continue;
      ++finished;
      votes.Add(
          ctx, node,
          AggregatePath(ctx.tree(), node, options.level, options.aggregate));
      votes.Offer(ctx);
    }
    std::erase_if(candidates, [&](const Candidate& candidate) {
      return ctx.tree()[candidate.node].terminal();
    });
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) {
                       return a.score > b.score;
                     });
    if (candidates.size() > places) candidates.resize(places);
    for (const Candidate& candidate : candidates) {
      kept.push_back(candidate.node);
    }
  }
}

Co<> RunLookahead(SearchContext& ctx, const LookaheadOptions& options) {
  // A pass ends in a step of n samples, with n - 1 finished before it.
  Votes votes(options.choice,
              {.simulations = options.rounds, .votes = 2 * int64_t{options.n}});
  GreedySteps greedy;
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    co_await RunPass(ctx, options, greedy, votes);
    ctx.CountSimulation();
    if (ctx.usage().tokens == before) break;  // nothing more will come
  }
}

const RegisterAlgorithm<LookaheadOptions> kLookahead(
    "lookahead", "beam search that judges a step by where it greedily leads",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunLookahead,
    MethodNotes{
        .source = "search-and-learn, Beeching et al. 2024; Snell et al. 2024, "
                  "arXiv:2408.03314",
        .when_to_use =
            "single steps are hard to judge before their consequences are seen",
        .test = "tests/search/beam_test.cc"});

}  // namespace
}  // namespace espalier
