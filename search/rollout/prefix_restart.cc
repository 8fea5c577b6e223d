// Restarts from a prefix of the best response (PrefixRL 2026, arXiv:2601.18795;
// InT 2026).
//
//   1. roll out  `rollouts` responses together: in the first round from the
//                prompt, later `fresh` of them from there and the others from
//                the prefix;
//   2. evaluate  all their steps; each finished response votes with the
//                path_score of its end, and the best one so far (ties to the
//                first) is kept;
//   3. restart   take the best response's prefix (prefix.h): of a success, or
//                just before its first error according to the step scores.
//
// Rounds repeat until `rounds` are done, the budget is spent, or a round
// samples nothing. Until a response has ended the prefix is the prompt. The
// papers store prefixes of earlier training runs; here they come from the same
// search.
#include <algorithm>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/common_options.h"
#include "search/parts/grow.h"
#include "search/rollout/prefix.h"

namespace espalier {
namespace {

struct PrefixRestartOptions {
  int rollouts = 4;
  int fresh = 1;
  int rounds = 0;
  PrefixRule prefix = PrefixRule::kThreshold;
  float fraction = 0.5f;
  float threshold = 0.5f;
  float temperature = 1;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    v.Int("rollouts", &rollouts, 1, 4096, "responses per round");
    v.Int("fresh", &fresh, 0, 4096,
          "responses that start from the prompt, in rounds after the first");
    v.Int("rounds", &rounds, 0, 1 << 20,
          "number of rounds; 0: until the budget is spent");
    VisitChoice(
        v, "prefix", &prefix, kPrefixRuleNames,
        "prefix of the best response: a fraction of its steps, up to the first "
        "step scored below threshold, or up to the largest drop in score");
    v.Real("fraction", &fraction, 0, 1, "fraction of steps kept (success)");
    v.Real("threshold", &threshold, 0, 1,
           "a step with a lower score is an error (threshold)");
    VisitTemperature(v, &temperature);
    VisitAnswerChoice(v, &choice);
  }
};

struct Restart {
  explicit Restart(AnswerChoice choice) : votes(choice) {}
  Votes votes;
  NodeId best = kNoNode;  // end of the best response
  NodeId prefix = kRoot;
};

// Stage 2 for the responses of a round.
Co<> Judge(SearchContext& ctx, const std::vector<NodeId>& ends,
           Restart& restart) {
  std::vector<Awaiting<Evaluation>> requests;
  for (const NodeId end : ends) {
    const std::vector<NodeId> path = ctx.tree().Path(end);
    requests.push_back(ctx.Evaluate(path));
  }
  for (const Awaiting<Evaluation>& evaluation : requests) co_await evaluation;
  for (const NodeId end : ends) {
    if (!ctx.tree()[end].scored()) continue;
    const float score = ctx.tree().score(end);
    restart.votes.Add(ctx, end, score);
    restart.votes.Offer(ctx);
    if (restart.best == kNoNode || score > ctx.tree().score(restart.best)) {
      restart.best = end;
    }
  }
}

Co<> RunPrefixRestart(SearchContext& ctx, const PrefixRestartOptions& options) {
  Restart restart(options.choice);
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    std::vector<NodeId> paths(static_cast<size_t>(options.rollouts),
                              restart.prefix);
    std::fill_n(paths.begin(), std::min(options.fresh, options.rollouts),
                kRoot);
    co_await Grow(ctx, kToTheEnd, options.temperature, paths);
    std::erase(paths, kNoNode);
    co_await Judge(ctx, paths, restart);
    ctx.CountSimulation();
    if (restart.best != kNoNode) {
      restart.prefix = PrefixOf(ctx.tree(), restart.best, options.prefix,
                                options.fraction, options.threshold);
    }
    if (ctx.usage().tokens == before) break;
  }
}

const RegisterAlgorithm<PrefixRestartOptions> kPrefixRestart(
    "prefix_restart",
    "rollouts that restart from a prefix of the best response",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunPrefixRestart,
    MethodNotes{.source = "PrefixRL, arXiv:2601.18795; InT",
                .when_to_use = "responses go wrong late, so the beginning of a "
                               "good one is worth keeping",
                .test = "tests/search/rollout_test.cc"});

}  // namespace
}  // namespace espalier
