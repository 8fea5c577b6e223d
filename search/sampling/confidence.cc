// Votes weighted by calibrated confidence (RLCR, Damani et al. 2025,
// arXiv:2507.16806, weights samples by their stated confidence; Platt 1999).
//
//   w(response) = sigmoid(slope * logit(c) + offset)^power,
//   c: by=reward      score of the response by the reward model
//      by=likelihood  the aggregate `of` of its tokens' probabilities
//
//   1. draw   `parallel` responses;
//   2. weigh  each;
//   3. vote   the answer with the highest sum of weights is held.
//
// With slope 1, offset 0, power 1 and the reward this is `weighted`; slope and
// offset are fitted where confidence and correctness are known, e.g. by
// logistic regression, which makes the weights probabilities (low Brier score);
// a power of 0 is `majority`. With n = 0 responses are drawn until the budget
// is spent; one that the budget cuts does not vote.
#include "search/parts/confidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/aggregate.h"
#include "search/parts/common_options.h"
#include "search/parts/lockstep.h"

namespace espalier {
namespace {

enum class By : uint8_t { kReward, kLikelihood };
constexpr std::array<std::string_view, 2> kByNames = {"reward", "likelihood"};

struct ConfidenceOptions {
  By by = By::kReward;
  int n = 0;
  int parallel = 1;
  float temperature = 1;
  float slope = 1;
  float offset = 0;
  float power = 1;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  ConfidenceOf of = ConfidenceOf::kMean;
  int64_t AtOnce() const { return parallel; }
  void Visit(OptionVisitor& v) {
    VisitChoice(v, "by", &by, kByNames, "source of the confidence");
    v.Int("n", &n, 0, 1 << 20, "responses; 0: until the budget is spent");
    v.Int("parallel", &parallel, 1, 4096, "responses sampled at once");
    VisitTemperature(v, &temperature);
    v.Real("slope", &slope, -100, 100,
           "calibration: factor of the confidence's log odds");
    v.Real("offset", &offset, -100, 100, "calibration: added to the log odds");
    v.Real("power", &power, 0, 100, "exponent of the calibrated confidence");
    VisitLevel(v, &level);
    VisitAggregate(v, &aggregate);
    VisitChoice(v, "of", &of, kConfidenceOfNames,
                "which tokens' probability is the confidence of a response "
                "(by=likelihood)");
  }
  std::vector<RequestKind> Needs() const {
    if (by == By::kLikelihood) return {RequestKind::kExpand};
    return {RequestKind::kExpand, RequestKind::kEvaluate};
  }
};

// Scores the steps of all responses if the weights need it. False if the search
// was cut.
Co<bool> Prepare(SearchContext& ctx, const std::vector<NodeId>& ends,
                 const ConfidenceOptions& options) {
  if (options.by == By::kLikelihood) co_return true;
  std::vector<NodeId> steps;
  for (const NodeId end : ends) {
    const std::vector<NodeId> path = ctx.tree().Path(end);
    steps.insert(steps.end(), path.begin(), path.end());
  }
  co_return co_await ScoreEach(ctx, steps);
}

float Weight(const Tree& tree, NodeId end, const ConfidenceOptions& options) {
  const double confidence =
      options.by == By::kLikelihood
          ? PathConfidence(tree, end, options.of)
          : AggregatePath(tree, end, options.level, options.aggregate);
  return static_cast<float>(
      std::pow(Calibrate(confidence, options.slope, options.offset),
               static_cast<double>(options.power)));
}

Co<> RunConfidence(SearchContext& ctx, const ConfidenceOptions& options) {
  Votes votes(AnswerChoice::kWeighted);
  int drawn = 0;
  while ((options.n == 0 || drawn < options.n) && !ctx.ShouldStop()) {
    const int count = options.n == 0
                          ? options.parallel
                          : std::min(options.parallel, options.n - drawn);
    const int64_t before = ctx.usage().tokens;
    const std::vector<NodeId> roots(static_cast<size_t>(count), kRoot);
    std::vector<NodeId> ends =
        co_await FinishEach(ctx, roots, options.temperature);
    std::erase(ends, kNoNode);
    if (!co_await Prepare(ctx, ends, options)) break;
    for (const NodeId end : ends) {
      votes.Add(ctx, end, Weight(ctx.tree(), end, options));
      votes.Offer(ctx);
      ctx.CountSimulation();
    }
    drawn += count;
    if (ctx.usage().tokens == before) break;  // no more samples will come
  }
}

const RegisterAlgorithm<ConfidenceOptions> kConfidence(
    "confidence", "vote weighted by calibrated confidence", {}, &RunConfidence,
    MethodNotes{
        .source = "RLCR, Damani et al. 2025, arXiv:2507.16806",
        .when_to_use = "scores are known to be over- or underconfident, and by "
                       "how much; by=likelihood if there is no reward model",
        .test = "tests/search/confidence_test.cc"});

}  // namespace
}  // namespace espalier
