// Sampling baselines: responses are drawn one after another, and an answer
// chosen.
//
//   greedy       one response at temperature 0
//   sample       one response
//   majority     most frequent answer (self-consistency, Wang et al. 2022)
//   best_of_n    answer of the response with the highest score
//   weighted     answer with the highest sum of scores
//
// Responses are independent draws. With n = 0 they are drawn until the budget
// is spent; a response that the budget cuts does not vote. After every response
// the current answer is offered, so that the answer at a smaller budget is the
// one this method would have given there.
#include <cstdint>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/aggregate.h"
#include "search/parts/common_options.h"
#include "search/parts/rollout.h"

namespace espalier {
namespace {

// Exactly one response, even without an answer, with as many tokens as the
// policy uses.
struct GreedyOptions {
  bool NeverFinished() const { return true; }
  void Visit(OptionVisitor&) {}
};

struct SampleOptions {
  float temperature = 1;
  // A draw without an answer is still a draw, and a greedy response in its
  // place would not be one. Hence no finishing.
  bool NeverFinished() const { return true; }
  void Visit(OptionVisitor& v) {
    v.Real("temperature", &temperature, 0, 10,
           "sampling temperature; 0: greedy");
  }
};

struct MajorityOptions {
  int n = 0;
  float temperature = 1;
  void Visit(OptionVisitor& v) {
    v.Int("n", &n, 0, 1 << 20, "responses; 0: until the budget is spent");
    VisitTemperature(v, &temperature);
  }
};

struct ScoredOptions {
  int n = 0;
  float temperature = 1;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  void Visit(OptionVisitor& v) {
    v.Int("n", &n, 0, 1 << 20, "responses; 0: until the budget is spent");
    VisitTemperature(v, &temperature);
    VisitLevel(v, &level);
    VisitAggregate(v, &aggregate);
  }
};

Co<> RunOne(SearchContext& ctx, float temperature) {
  const NodeId node = co_await Rollout(ctx, kRoot, temperature);
  if (node != kNoNode) ctx.Offer(node, 1);
}

Co<> RunGreedy(SearchContext& ctx, const GreedyOptions&) {
  co_await RunOne(ctx, 0);
}

Co<> RunSample(SearchContext& ctx, const SampleOptions& options) {
  co_await RunOne(ctx, options.temperature);
}

Co<> RunMajority(SearchContext& ctx, const MajorityOptions& options) {
  Votes votes(AnswerChoice::kMajority, {.simulations = options.n});
  for (int i = 0; (options.n == 0 || i < options.n) && !ctx.ShouldStop(); ++i) {
    const int64_t before = ctx.usage().tokens;
    const NodeId node = co_await Rollout(ctx, kRoot, options.temperature);
    if (ctx.usage().tokens == before) break;  // no more samples will come
    if (node == kNoNode) continue;
    votes.Add(ctx, node, 1);
    votes.Offer(ctx);
    ctx.CountSimulation();
  }
}

Co<> RunScored(SearchContext& ctx, const ScoredOptions& options,
               AnswerChoice choice) {
  Votes votes(choice, {.simulations = options.n});
  PathScores scores(ctx.tree(), options.level, options.aggregate);
  for (int i = 0; (options.n == 0 || i < options.n) && !ctx.ShouldStop(); ++i) {
    const int64_t before = ctx.usage().tokens;
    const NodeId node = co_await Rollout(ctx, kRoot, options.temperature);
    if (ctx.usage().tokens == before) break;  // no more samples will come
    if (node == kNoNode) continue;
    const std::vector<NodeId> path = ctx.tree().Path(node);
    const Evaluation evaluation = co_await ctx.Evaluate(path);
    if (!evaluation.done && !ctx.tree()[node].scored()) break;
    votes.Add(ctx, node, scores.Of(node));
    votes.Offer(ctx);
    ctx.CountSimulation();
  }
}

Co<> RunBestOfN(SearchContext& ctx, const ScoredOptions& options) {
  co_await RunScored(ctx, options, AnswerChoice::kBest);
}

Co<> RunWeighted(SearchContext& ctx, const ScoredOptions& options) {
  co_await RunScored(ctx, options, AnswerChoice::kWeighted);
}

const RegisterAlgorithm<GreedyOptions> kGreedy(
    "greedy", "one response at temperature 0", {RequestKind::kExpand},
    &RunGreedy,
    MethodNotes{.when_to_use = "the cheapest answer is enough, or as the "
                               "baseline that every search must beat",
                .test = "tests/search/sampling_test.cc"});
const RegisterAlgorithm<SampleOptions> kSample(
    "sample", "one sampled response", {RequestKind::kExpand}, &RunSample,
    MethodNotes{
        .when_to_use = "responses must be independent draws, as for pass@k",
        .test = "tests/search/sampling_test.cc"});
const RegisterAlgorithm<MajorityOptions> kMajority(
    "majority", "self-consistency: the most frequent of the sampled answers",
    {RequestKind::kExpand}, &RunMajority,
    MethodNotes{
        .source = "Self-consistency, Wang et al. 2022, arXiv:2203.11171",
        .when_to_use = "there is no reward model and answers can be compared",
        .test = "tests/search/sampling_test.cc"});
const RegisterAlgorithm<ScoredOptions> kBestOfN(
    "best_of_n", "the sampled response that the reward model scores highest",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunBestOfN,
    MethodNotes{
        .source = "Cobbe et al. 2021, arXiv:2110.14168; search-and-learn",
        .when_to_use = "a reward model can tell the one correct response from "
                       "many wrong ones",
        .test = "tests/search/sampling_test.cc"});
const RegisterAlgorithm<ScoredOptions> kWeighted(
    "weighted", "the answer with the highest sum of reward-model scores",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunWeighted,
    MethodNotes{.source = "search-and-learn, Beeching et al. 2024",
                .when_to_use = "there is a reward model and correct answers "
                               "come up more than once",
                .test = "tests/search/sampling_test.cc"});

}  // namespace
}  // namespace espalier
