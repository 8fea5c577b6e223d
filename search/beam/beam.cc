// Step-level beam search (T1; search-and-learn, openr).
//
// Per step, from each of `width` kept paths:
//   1. propose   `branch` continuations of one step;
//   2. evaluate  them with the reward model;
//   3. rank      log(score) + frequency * log(share of this request's samples
//                that said the same), so that agreement among samples counts
//                where the reward model is unsure;
//   4. keep      the best `width`; those that end the response are finished.
//
// accept > 0 samples one by one and stops at the first step scored at least
// that high relative to its parent (ratio of path scores): sure steps then
// cost one sample and the budget goes to the doubtful ones.
//
// A pass ends when nothing is kept; passes repeat with fresh samples until
// `rounds` are done or the budget is spent, and all finished responses vote.
#include <algorithm>
#include <cmath>
#include <vector>

#include "search/algorithm.h"
#include "search/parts/aggregate.h"
#include "search/parts/choose.h"

namespace espalier {
namespace {

struct BeamOptions {
  int width = 1;
  int branch = 4;
  int rounds = 0;
  float temperature = 1;
  float frequency = 1;
  float accept = 0;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    v.Int("width", &width, 1, 4096, "paths kept after each step");
    v.Int("branch", &branch, 1, 4096, "samples of the next step from each");
    v.Int("rounds", &rounds, 0, 1 << 20,
          "passes from the root; 0: until the budget is spent");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    v.Real("frequency", &frequency, 0, 100,
           "weight of the log share of equal samples");
    v.Real("accept", &accept, 0, 1,
           "stop sampling a step at this score relative to its parent; 0: off");
    VisitChoice(v, "level", &level, kLevelNames, "reward head");
    VisitChoice(v, "aggregate", &aggregate, kAggregateNames,
                "how step scores make the score of a path");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
};

struct Candidate {
  NodeId node;
  float rank;
};

// A score of 0 must stay comparable.
float LogScore(float score) { return std::log(std::max(score, 1e-9f)); }

float Score(SearchContext& ctx, NodeId node, const BeamOptions& options) {
  return AggregatePath(ctx.tree(), node, options.level, options.aggregate);
}

// Stages 2 and 3 for samples of one parent.
Co<> Rank(SearchContext& ctx, const std::vector<NodeId>& samples,
          const BeamOptions& options, std::vector<Candidate>& candidates) {
  const Evaluation evaluation = co_await ctx.Evaluate(samples);
  if (!evaluation.done && !ctx.tree()[samples.back()].scored()) co_return;
  std::vector<NodeId> distinct = samples;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const float total = static_cast<float>(samples.size());
  for (const NodeId node : distinct) {
    const auto same = std::count(samples.begin(), samples.end(), node);
    candidates.push_back(
        {node,
         LogScore(Score(ctx, node, options)) +
             options.frequency * std::log(static_cast<float>(same) / total)});
  }
}

// Stage 1 with early acceptance: one sample at a time.
Co<std::vector<NodeId>> ProposeUntilAccepted(SearchContext& ctx, NodeId parent,
                                             const BeamOptions& options) {
  std::vector<NodeId> samples;
  const float before = parent == kRoot ? 1 : Score(ctx, parent, options);
  while (static_cast<int>(samples.size()) < options.branch) {
    const Expansion one =
        co_await ctx.Expand(parent, {.temperature = options.temperature});
    if (one.samples.empty()) break;
    const NodeId node = one.samples[0];
    if (ctx.tree()[node].truncated()) continue;
    samples.push_back(node);
    const Evaluation evaluation = co_await ctx.Evaluate(one.samples);
    if (!evaluation.done && !ctx.tree()[node].scored()) break;
    if (Score(ctx, node, options) >= options.accept * before) break;
  }
  co_return samples;
}

Co<> ProposeAll(SearchContext& ctx, const std::vector<NodeId>& kept,
                const BeamOptions& options,
                std::vector<Candidate>& candidates) {
  if (options.accept > 0) {
    for (const NodeId parent : kept) {
      const std::vector<NodeId> samples =
          co_await ProposeUntilAccepted(ctx, parent, options);
      if (!samples.empty()) co_await Rank(ctx, samples, options, candidates);
    }
    co_return;
  }
  std::vector<Awaiting<Expansion>> asked;
  for (const NodeId parent : kept) {
    asked.push_back(ctx.Expand(
        parent, {.n = options.branch, .temperature = options.temperature}));
  }
  for (const Awaiting<Expansion>& request : asked) {
    const Expansion expansion = co_await request;
    std::vector<NodeId> samples;
    for (const NodeId node : expansion.samples) {
      if (!ctx.tree()[node].truncated()) samples.push_back(node);
    }
    if (!samples.empty()) co_await Rank(ctx, samples, options, candidates);
  }
}

// One pass from the root; finished responses vote as they end.
Co<> RunPass(SearchContext& ctx, const BeamOptions& options, Votes& votes) {
  std::vector<NodeId> kept = {kRoot};
  int places = options.width;
  while (!kept.empty() && places > 0) {
    std::vector<Candidate> candidates;
    co_await ProposeAll(ctx, kept, options, candidates);
    std::stable_sort(
        candidates.begin(), candidates.end(),
        [](const Candidate& a, const Candidate& b) { return a.rank > b.rank; });
    if (candidates.size() > static_cast<size_t>(places)) {
      candidates.resize(static_cast<size_t>(places));
    }
    kept.clear();
    for (const Candidate& candidate : candidates) {
      if (!ctx.tree()[candidate.node].terminal()) {
        kept.push_back(candidate.node);
        continue;
      }
      --places;  // a finished response leaves the beam with its place
      votes.Add(ctx, candidate.node, Score(ctx, candidate.node, options));
      votes.Offer(ctx, options.choice);
    }
  }
}

Co<> RunBeam(SearchContext& ctx, const BeamOptions& options) {
  Votes votes;
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    co_await RunPass(ctx, options, votes);
    ctx.CountSimulation();
  }
}

const RegisterAlgorithm<BeamOptions> kBeam(
    "beam", "step-level beam search by reward model and sibling agreement",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunBeam);

}  // namespace
}  // namespace espalier
