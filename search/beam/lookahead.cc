// Lookahead search (search-and-learn, Snell et al. 2024, arXiv:2408.03314).
// With k = 0: beam search by the reward of the last step in search-and-learn's
// form.
//
// Per step, from the kept paths:
//   1. propose   n samples of the next step in total, the kept paths taking
//                turns in their order;
//   2. look      k greedy steps ahead of each (temperature 0); each greedy step
//                is generated once per search;
//   3. evaluate  the steps with the reward model; a candidate's score is that
//                of the path to the end of its greedy steps;
//   4. keep      candidates that end the response are finished: they vote with
//                their score, once per draw, and leave without taking a place.
//                Of the others the best n / width are kept (all if n < width),
//                in their order of sampling; ties go to the later. Equal
//                samples are one candidate, unless `duplicates`.
// The last of `iterations` steps continues to the end of each response. A pass
// ends when nothing is kept or after n finished responses, the first n of which
// vote; with `sort` it runs to its end, and the n best vote. Passes repeat
// until `rounds` are done or the budget is spent. Greedy steps are never an
// answer unless they are sampled too.
//
// Differs: search-and-learn's beam continues after n have finished, and they
// vote at the end; a step that a limit cut is not a response here; its beam
// also generates greedy steps, without looking at them.
#include <algorithm>
#include <numeric>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/aggregate.h"
#include "search/parts/common_options.h"
#include "search/parts/lockstep.h"

namespace espalier {
namespace {

struct LookaheadOptions {
  int n = 8;
  int width = 4;
  int k = 1;
  int iterations = 0;
  int rounds = 0;
  bool duplicates = false;
  bool sort = false;
  float temperature = 1;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  AnswerChoice choice = AnswerChoice::kWeighted;
  int64_t AtOnce() const { return n; }
  void Visit(OptionVisitor& v) {
    v.Int("n", &n, 1, 1 << 16, "samples per step, over all paths");
    v.Int("width", &width, 1, 4096,
          "samples per kept path; n / width paths are kept");
    v.Int("k", &k, 0, 64,
          "greedy lookahead steps for scoring a step; 0: plain beam search");
    v.Int("iterations", &iterations, 0, 1 << 16,
          "steps per pass, the last of which completes the response; 0: no "
          "limit");
    VisitRounds(v, &rounds);
    v.Flag("duplicates", &duplicates,
           "equal samples of a step are separate candidates");
    v.Flag("sort", &sort,
           "a pass continues after n responses have finished; its n best vote");
    VisitTemperature(v, &temperature);
    VisitLevel(v, &level);
    VisitAggregate(v, &aggregate);
    VisitAnswerChoice(v, &choice);
  }
};

struct LookaheadStep {
  NodeId node;
  float score;
};

// State that a search keeps across its passes.
struct LookaheadState {
  LookaheadState(SearchContext& ctx, const LookaheadOptions& options)
      : votes(options.choice,
              {.simulations = options.rounds, .votes = options.n}),
        scores(ctx.tree(), options.level, options.aggregate) {}
  Votes votes;
  PathScores scores;
  GreedySteps greedy;
};

// The parent of each of the n samples of a step.
std::vector<NodeId> Turns(const std::vector<NodeId>& kept,
                          const LookaheadOptions& options) {
  std::vector<NodeId> turns;
  for (size_t i = 0; i < static_cast<size_t>(options.n); ++i) {
    turns.push_back(kept[i % kept.size()]);
  }
  return turns;
}

// Stage 1. Samples in order of their turns.
Co<std::vector<NodeId>> Propose(SearchContext& ctx,
                                const std::vector<NodeId>& kept,
                                const LookaheadOptions& options) {
  std::vector<Draws> requests;
  std::vector<size_t> of;  // index in `requests` of each turn
  for (const NodeId node : Turns(kept, options)) {
    const auto known =
        std::find_if(requests.begin(), requests.end(),
                     [&](const Draws& draws) { return draws.parent == node; });
    of.push_back(static_cast<size_t>(known - requests.begin()));
    if (known == requests.end()) {
      requests.push_back({.parent = node});
    } else {
      ++known->n;
    }
  }
  const auto samples = co_await ExpandEach(ctx, requests, options.temperature);
  std::vector<NodeId> all;
  std::vector<size_t> taken(requests.size(), 0);
  for (const size_t i : of) {
    if (taken[i] < samples[i].size()) all.push_back(samples[i][taken[i]++]);
  }
  co_return all;
}

// The last step's stage 1: responses in order of their turns.
Co<std::vector<NodeId>> Finish(SearchContext& ctx,
                               const std::vector<NodeId>& kept,
                               const LookaheadOptions& options) {
  const std::vector<NodeId> from = Turns(kept, options);
  std::vector<NodeId> ends =
      co_await FinishEach(ctx, from, options.temperature);
  std::erase(ends, kNoNode);
  co_return ends;
}

// Stages 2 and 3: the samples with their scores, in order of sampling. Empty if
// the budget ended before they were scored.
Co<std::vector<LookaheadStep>> Evaluate(SearchContext& ctx,
                                        const std::vector<NodeId>& samples,
                                        const LookaheadOptions& options,
                                        LookaheadState& state) {
  const std::vector<NodeId> ends =
      co_await LookAheadEach(ctx, samples, options.k, state.greedy);
  std::vector<LookaheadStep> candidates;
  if (!co_await ScorePaths(ctx, ends)) co_return candidates;
  for (size_t i = 0; i < samples.size(); ++i) {
    candidates.push_back({samples[i], state.scores.Of(ends[i])});
  }
  co_return candidates;
}

// Stage 4 for the unfinished candidates.
std::vector<NodeId> Keep(const Tree& tree,
                         const std::vector<LookaheadStep>& candidates,
                         const LookaheadOptions& options) {
  std::vector<LookaheadStep> open;
  for (const LookaheadStep& candidate : candidates) {
    const bool known =
        !options.duplicates &&
        std::any_of(open.begin(), open.end(), [&](const LookaheadStep& other) {
          return other.node == candidate.node;
        });
    if (!known && !tree[candidate.node].terminal()) open.push_back(candidate);
  }
  std::vector<size_t> order(open.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return open[a].score < open[b].score;
  });
  const auto places = static_cast<size_t>(
      options.n < options.width ? options.n : options.n / options.width);
  if (order.size() > places) {
    order.erase(order.begin(),
                order.end() - static_cast<std::ptrdiff_t>(places));
  }
  std::sort(order.begin(), order.end());
  std::vector<NodeId> kept;
  for (const size_t i : order) kept.push_back(open[i].node);
  return kept;
}

Co<> RunPass(SearchContext& ctx, const LookaheadOptions& options,
             LookaheadState& state) {
  std::vector<NodeId> kept = {kRoot};
  std::vector<LookaheadStep> finished;
  const auto most = static_cast<size_t>(options.n);
  const auto vote = [&](const LookaheadStep& end) {
    state.votes.Add(ctx, end.node, end.score);
    state.votes.Offer(ctx);
  };
  for (int step = 1; !kept.empty() && (options.sort || finished.size() < most);
       ++step) {
    std::vector<NodeId> samples;
    if (step == options.iterations) {
      samples = co_await Finish(ctx, kept, options);
    } else {
      samples = co_await Propose(ctx, kept, options);
    }
    const std::vector<LookaheadStep> candidates =
        co_await Evaluate(ctx, samples, options, state);
    for (const LookaheadStep& candidate : candidates) {
      if (!ctx.tree()[candidate.node].terminal()) continue;
      if (!options.sort && finished.size() == most) break;
      finished.push_back(candidate);
      if (!options.sort) vote(candidate);
    }
    kept = Keep(ctx.tree(), candidates, options);
  }
  if (!options.sort) co_return;
  std::stable_sort(finished.begin(), finished.end(),
                   [](const LookaheadStep& a, const LookaheadStep& b) {
                     return a.score > b.score;
                   });
  if (finished.size() > most) finished.resize(most);
  for (const LookaheadStep& end : finished) vote(end);
}

Co<> RunLookahead(SearchContext& ctx, const LookaheadOptions& options) {
  LookaheadState state(ctx, options);
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    co_await RunPass(ctx, options, state);
    ctx.CountSimulation();
    if (ctx.usage().tokens == before) break;  // no more samples will come
  }
}

const RegisterAlgorithm<LookaheadOptions> kLookahead(
    "lookahead", "beam search that scores a step by its greedy continuation",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunLookahead,
    MethodNotes{
        .source = "search-and-learn, Beeching et al. 2024; Snell et al. 2024, "
                  "arXiv:2408.03314",
        .when_to_use =
            "a step is hard to judge before its consequences are seen",
        .test = "tests/search/beam_test.cc"});

}  // namespace
}  // namespace espalier
