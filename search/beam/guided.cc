// Guided decoding: step-level beam search (beam.cc) that also weighs how often
// the policy samples a step, draws no more samples than needed and keeps within
// the budget (ours).
//
// Per step, from each of `width` kept paths:
//   1. propose   `branch` continuations of one step;
//   2. evaluate  them with the reward model;
//   3. rank      log(score) + likelihood * log p(path)
//                + frequency * log(share of this step's samples that are the
//                same), so that the policy's likelihood counts where the reward
//                model is unsure;
//   4. keep      the best `width`; those that end the response are finished.
//
// accept > 0 samples one by one and stops at the first step for which score /
// score of its parent * p(step)^likelihood is at least `accept`: confident
// steps then cost one sample and the budget goes to the doubtful ones.
//
// draft: before the first pass one whole response is generated at temperature
// 0. It is a fallback answer, its steps are candidates of the first pass, and
// its length determines how many samples a step may cost if the pass is to end
// within the budget. Off: the finishing stage (finish.h) answers without it,
// and at four times greedy's tokens the draft takes a quarter of them. With the
// shipped model it costs 14 points on stories:hard and 5 on stories:middle; on
// countdown:4, where most responses give up, it gains some.
//
// A pass ends when nothing is kept; passes repeat with fresh samples until
// `rounds` are done or the budget is spent, and all finished responses vote.
#include <algorithm>
#include <cmath>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/aggregate.h"
#include "search/parts/common_options.h"
#include "search/parts/rollout.h"

namespace espalier {
namespace {

struct GuidedOptions {
  int width = 1;
  int branch = 4;
  int rounds = 0;
  float temperature = 1;
  float frequency = 1;
  float likelihood = 0;
  float accept = 0.9f;
  bool draft = false;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  AnswerChoice choice = AnswerChoice::kWeighted;
  // The draft is an answer; with `accept` one sample per step may suffice.
  int64_t AtOnce() const {
    return draft ? 1 : int64_t{width} * (accept > 0 ? 1 : branch);
  }
  void Visit(OptionVisitor& v) {
    v.Int("width", &width, 1, 4096, "paths kept after each step");
    v.Int("branch", &branch, 1, 4096, "samples of the next step per path");
    VisitRounds(v, &rounds);
    VisitTemperature(v, &temperature);
    v.Real("frequency", &frequency, 0, 100,
           "weight of log(share of samples that equal the step)");
    v.Real("likelihood", &likelihood, 0, 100,
           "weight of the policy's log-prob");
    v.Real("accept", &accept, 0, 1,
           "stop sampling a step once a sample has this score relative to its "
           "parent; 0: off");
    v.Flag("draft", &draft,
           "generate one greedy response first, as a fallback and to estimate "
           "the cost of a pass");
    VisitLevel(v, &level);
    VisitAggregate(v, &aggregate);
    VisitAnswerChoice(v, &choice);
  }
};

struct GuidedStep {
  NodeId node;
  float rank;
};

// Keeps a score of 0 comparable.
float LogScore(float score) { return std::log(std::max(score, 1e-9f)); }

float Score(SearchContext& ctx, NodeId node, const GuidedOptions& options) {
  return AggregatePath(ctx.tree(), node, options.level, options.aggregate);
}

// log(score) + likelihood * log p, over the whole path.
float LogWorth(SearchContext& ctx, NodeId node, const GuidedOptions& options) {
  float log_p = 0;
  for (NodeId at = node; at != kRoot; at = ctx.tree()[at].parent) {
    log_p += ctx.tree().step(at).logprob;
  }
  return LogScore(Score(ctx, node, options)) + options.likelihood * log_p;
}

// Stages 2 and 3 for samples of one parent.
Co<> Rank(SearchContext& ctx, const std::vector<NodeId>& samples,
          const GuidedOptions& options, std::vector<GuidedStep>& candidates) {
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
         LogWorth(ctx, node, options) +
             options.frequency * std::log(static_cast<float>(same) / total)});
  }
}

// State of a pass in addition to the tree.
struct Pass {
  int branch = 1;             // current maximum of samples per step
  std::vector<NodeId> draft;  // candidates that need no sampling
};

// The draft's step below `parent`, or kNoNode.
NodeId DraftStep(const SearchContext& ctx, const Pass& pass, NodeId parent) {
  for (const NodeId node : pass.draft) {
    if (ctx.tree()[node].parent == parent) return node;
  }
  return kNoNode;
}

// True if `node` is good enough to need no further samples.
bool Accepted(SearchContext& ctx, NodeId node, const GuidedOptions& options) {
  const NodeId parent = ctx.tree()[node].parent;
  const float before = parent == kRoot ? 0 : LogWorth(ctx, parent, options);
  return LogWorth(ctx, node, options) - before >= std::log(options.accept);
}

// Stage 1 with early acceptance: one sample at a time.
Co<std::vector<NodeId>> ProposeUntilAccepted(SearchContext& ctx, NodeId parent,
                                             const GuidedOptions& options,
                                             const Pass& pass) {
  std::vector<NodeId> samples;
  if (const NodeId drafted = DraftStep(ctx, pass, parent); drafted != kNoNode) {
    samples.push_back(drafted);
    if (Accepted(ctx, drafted, options)) co_return samples;
  }
  while (static_cast<int>(samples.size()) < pass.branch) {
    const Expansion one =
        co_await ctx.Expand(parent, {.temperature = options.temperature});
    if (one.samples.empty()) break;
    const NodeId node = one.samples[0];
    if (ctx.tree()[node].truncated()) continue;
    samples.push_back(node);
    const Evaluation evaluation = co_await ctx.Evaluate(one.samples);
    if (!evaluation.done && !ctx.tree()[node].scored()) break;
    if (Accepted(ctx, node, options)) break;
  }
  co_return samples;
}

Co<> ProposeAll(SearchContext& ctx, const std::vector<NodeId>& kept,
                const GuidedOptions& options, const Pass& pass,
                std::vector<GuidedStep>& candidates) {
  if (options.accept > 0) {
    for (const NodeId parent : kept) {
      const std::vector<NodeId> samples =
          co_await ProposeUntilAccepted(ctx, parent, options, pass);
      if (!samples.empty()) co_await Rank(ctx, samples, options, candidates);
    }
    co_return;
  }
  std::vector<Awaiting<Expansion>> requests;
  for (const NodeId parent : kept) {
    const bool drafted = DraftStep(ctx, pass, parent) != kNoNode;
    requests.push_back(
        ctx.Expand(parent, {.n = std::max(1, pass.branch - (drafted ? 1 : 0)),
                            .temperature = options.temperature}));
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    const Expansion expansion = co_await requests[i];
    std::vector<NodeId> samples;
    const NodeId drafted = DraftStep(ctx, pass, kept[i]);
    if (drafted != kNoNode) samples.push_back(drafted);
    for (const NodeId node : expansion.samples) {
      if (!ctx.tree()[node].truncated()) samples.push_back(node);
    }
    if (!samples.empty()) co_await Rank(ctx, samples, options, candidates);
  }
}

// Tokens on the path from the root to `node`.
int64_t PathTokens(const Tree& tree, NodeId node) {
  int64_t tokens = 0;
  for (; node != kRoot; node = tree[node].parent)
    tokens += tree.step(node).num_tokens;
  return tokens;
}

// Samples per step that leave enough budget for the later steps, if a response
// takes `whole` tokens (0: unknown).
int Affordable(const SearchContext& ctx, const GuidedOptions& options,
               const std::vector<NodeId>& kept, int64_t whole) {
  if (whole == 0) return options.branch;
  const int64_t done = PathTokens(ctx.tree(), kept.front());
  // A response may be longer: always expect at least another tenth.
  const int64_t rest = std::max(whole - done, whole / 10 + 1);
  const int64_t share =
      ctx.tokens_left() / (rest * static_cast<int64_t>(kept.size()));
  return static_cast<int>(
      std::clamp<int64_t>(share, 1, static_cast<int64_t>(options.branch)));
}

// One pass from the root; finished responses vote as they end.
Co<> RunPass(SearchContext& ctx, const GuidedOptions& options, Pass& pass,
             int64_t whole, Votes& votes) {
  std::vector<NodeId> kept = {kRoot};
  int places = options.width;
  while (!kept.empty() && places > 0) {
    pass.branch = Affordable(ctx, options, kept, whole);
    std::vector<GuidedStep> candidates;
    co_await ProposeAll(ctx, kept, options, pass, candidates);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const GuidedStep& a, const GuidedStep& b) {
                       return a.rank > b.rank;
                     });
    if (candidates.size() > static_cast<size_t>(places)) {
      candidates.resize(static_cast<size_t>(places));
    }
    kept.clear();
    for (const GuidedStep& candidate : candidates) {
      if (!ctx.tree()[candidate.node].terminal()) {
        kept.push_back(candidate.node);
        continue;
      }
      --places;  // the beam shrinks by each finished response
      votes.Add(ctx, candidate.node, Score(ctx, candidate.node, options));
      votes.Offer(ctx);
    }
  }
}

// Generates and scores the draft. Its vote counts only until a pass has ended:
// the first pass repeats it if it is good.
Co<> WriteDraft(SearchContext& ctx, const GuidedOptions& options, Pass& pass) {
  const NodeId end = co_await Rollout(ctx, kRoot, 0);
  if (end == kNoNode) co_return;
  const std::vector<NodeId> path = ctx.tree().Path(end);
  const Evaluation evaluation = co_await ctx.Evaluate(path);
  if (!evaluation.done && !ctx.tree()[end].scored()) co_return;
  pass.draft = path;
  ctx.Offer(end, Score(ctx, end, options));
}

Co<> RunGuided(SearchContext& ctx, const GuidedOptions& options) {
  Votes votes(options.choice,
              {.simulations = options.rounds, .votes = options.width});
  Pass pass;
  if (options.draft) co_await WriteDraft(ctx, options, pass);
  const int64_t whole =
      pass.draft.empty() ? 0 : PathTokens(ctx.tree(), pass.draft.back());
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    co_await RunPass(ctx, options, pass, whole, votes);
    ctx.CountSimulation();
    // No more samples will come, unless the draft was all that was needed.
    if (ctx.usage().tokens == before && pass.draft.empty()) break;
    pass.draft.clear();
  }
}

const RegisterAlgorithm<GuidedOptions> kGuided(
    "guided", "step-level beam search by reward model and sibling agreement",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunGuided,
    MethodNotes{.source = "",
                .when_to_use = "a reward model judges single steps well; it "
                               "is the default if there is a reward model",
                .test = "tests/search/guided_test.cc"});

}  // namespace
}  // namespace espalier
