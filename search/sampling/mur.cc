// Momentum-uncertainty branching (MUR, Yan et al. 2025, arXiv:2507.14958).
//
// Responses are generated one after another. Per step:
//   1. sample  one step; its uncertainty is m = -mean log p (for n tokens the
//              sum over n + 1e-8 as in the program, so that of steps equally
//              likely per token the longer one is less certain);
//   2. test    it against the momentum of the steps before it
//              (search/sampling/momentum.h);
//   3. scale   an uncertain one: `candidates` - 1 further samples or, with
//              `fresh`, `candidates` further ones, excluding the first; the
//              best is taken, ties to the first: by=reward the highest score,
//              by=likelihood the highest mean log p per token;
//   4. update  the momentum with the step taken.
// After `max_steps` steps the rest is generated in one piece. A response that a
// limit cuts does not vote. Votes are weighted by the score of the last step,
// or by the mean token probability. by=likelihood uses no reward model.
#include <array>
#include <string_view>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/common_options.h"
#include "search/parts/confidence.h"
#include "search/parts/lockstep.h"
#include "search/parts/logprob.h"
#include "search/parts/rollout.h"
#include "search/sampling/momentum.h"

namespace espalier {
namespace {

enum class MurJudge : uint8_t { kReward, kLikelihood };
constexpr std::array<std::string_view, 2> kMurJudgeNames = {"reward",
                                                            "likelihood"};

struct MurOptions {
  MurJudge by = MurJudge::kReward;
  int n = 0;
  int candidates = 4;
  bool fresh = false;
  int max_steps = 0;
  float temperature = 1;
  float alpha = 0.9f;
  float gamma = 0.9f;
  Level level = Level::kPath;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    VisitChoice(v, "by", &by, kMurJudgeNames,
                "what judges candidates and responses");
    v.Int("n", &n, 0, 1 << 20, "responses; 0: until the budget is spent");
    v.Int("candidates", &candidates, 1, 4096, "samples of an uncertain step");
    v.Flag("fresh", &fresh,
           "sample all candidates anew; otherwise the first sample is one of "
           "them");
    v.Int("max_steps", &max_steps, 0, 1 << 16,
          "steps after which the rest is generated in one piece; 0: no limit");
    VisitTemperature(v, &temperature);
    v.Real("alpha", &alpha, 0, 1, "weight of the past in the momentum");
    v.Real("gamma", &gamma, 0, 1,
           "lower values make fewer steps count as uncertain; 0: none");
    VisitLevel(v, &level);
    VisitAnswerChoice(v, &choice);
  }
  std::vector<RequestKind> Needs() const {
    if (by == MurJudge::kLikelihood) return {RequestKind::kExpand};
    return {RequestKind::kExpand, RequestKind::kEvaluate};
  }
};

double Judge(const Tree& tree, NodeId node, const MurOptions& options) {
  if (options.by == MurJudge::kLikelihood) {
    return MeanLogprob(tree, tree[node].parent, node);
  }
  return tree.score(node);
}
double JudgeResponse(const Tree& tree, NodeId end, const MurOptions& options) {
  return options.by == MurJudge::kLikelihood
             ? PathConfidence(tree, end, ConfidenceOf::kMean)
             : Judge(tree, end, options);
}

// Scores nodes if Judge needs it. False if the search was cut.
Co<bool> Prepare(SearchContext& ctx, const std::vector<NodeId>& nodes,
                 const MurOptions& options) {
  if (options.by == MurJudge::kLikelihood) co_return true;
  co_return co_await ScoreEach(ctx, nodes);
}

// Uncertainty m of a step.
double Uncertainty(const Tree& tree, NodeId step) {
  return -tree.step(step).logprob / (tree.step(step).num_tokens + 1e-8);
}

// Stages 1 to 3. Returns the step taken below `parent`, or kNoNode.
Co<NodeId> TakeStep(SearchContext& ctx, NodeId parent, const Momentum& momentum,
                    const MurOptions& options) {
  std::vector<Draws> requests = {{.parent = parent}};
  const auto first = co_await ExpandEach(ctx, requests, options.temperature);
  if (first[0].empty()) co_return kNoNode;
  std::vector<NodeId> candidates = first[0];
  const NodeId only = candidates.front();
  const double m = Uncertainty(ctx.tree(), only);
  requests[0].n = options.fresh ? options.candidates : options.candidates - 1;
  if (requests[0].n == 0 || !momentum.Exceeded(m)) co_return only;
  const auto more = co_await ExpandEach(ctx, requests, options.temperature);
  if (options.fresh) candidates.clear();
  candidates.insert(candidates.end(), more[0].begin(), more[0].end());
  if (candidates.empty()) co_return only;
  if (!co_await Prepare(ctx, candidates, options)) co_return kNoNode;
  NodeId best = candidates.front();
  for (const NodeId node : candidates) {
    if (Judge(ctx.tree(), node, options) > Judge(ctx.tree(), best, options)) {
      best = node;
    }
  }
  co_return best;
}

Co<NodeId> Write(SearchContext& ctx, const MurOptions& options) {
  Momentum momentum(options.alpha, options.gamma);
  NodeId node = kRoot;
  for (int step = 0; !ctx.tree()[node].terminal(); ++step) {
    if (options.max_steps > 0 && step == options.max_steps) {
      co_return co_await Rollout(ctx, node, options.temperature);
    }
    const NodeId next = co_await TakeStep(ctx, node, momentum, options);
    if (next == kNoNode) co_return kNoNode;
    momentum.Add(Uncertainty(ctx.tree(), next));
    node = next;
  }
  co_return node;
}

Co<> RunMur(SearchContext& ctx, const MurOptions& options) {
  Votes votes(options.choice);
  for (int i = 0; (options.n == 0 || i < options.n) && !ctx.ShouldStop(); ++i) {
    const int64_t before = ctx.usage().tokens;
    const NodeId end = co_await Write(ctx, options);
    if (ctx.usage().tokens == before) break;  // no more samples will come
    if (end == kNoNode) continue;
    const std::vector<NodeId> scored = {end};
    if (!co_await Prepare(ctx, scored, options)) break;
    votes.Add(ctx, end,
              static_cast<float>(JudgeResponse(ctx.tree(), end, options)));
    votes.Offer(ctx);
    ctx.CountSimulation();
  }
}

const RegisterAlgorithm<MurOptions> kMur(
    "mur",
    "more samples for steps that are less certain than the previous ones", {},
    &RunMur,
    MethodNotes{
        .source = "MUR, Yan et al. 2025, arXiv:2507.14958",
        .when_to_use =
            "only a few steps of a response are hard and worth extra samples",
        .test = "tests/search/golden_uncertainty_test.cc"});

}  // namespace
}  // namespace espalier
