// Momentum-uncertainty branching (T33; MUR, Yan et al. 2025,
// arXiv:2507.14958).
//
//   mur             the best candidate is the one the reward model scores best
//   mur_likelihood  ... the one with the highest mean log p a token
//
// Responses are written one after another. Per step:
//   1. sample  one step; its uncertainty is m = -mean log p;
//   2. test    it against the momentum of the steps before it
//              (search/sampling/momentum.h);
//   3. scale   an uncertain one: `candidates` - 1 further samples, the best of
//              all is taken, the first of equals;
//   4. update  the momentum with the step taken.
// A response that a limit cuts does not vote. Votes weigh by the score of the
// last step, or by the mean token probability.
#include <vector>

#include "search/algorithm.h"
#include "search/parts/aggregate.h"
#include "search/parts/choose.h"
#include "search/parts/confidence.h"
#include "search/parts/lockstep.h"
#include "search/parts/logprob.h"
#include "search/sampling/momentum.h"

namespace espalier {
namespace {

struct MurOptions {
  int n = 0;
  int candidates = 4;
  float temperature = 1;
  float alpha = 0.9f;
  float gamma = 0.9f;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    v.Int("n", &n, 0, 1 << 20, "responses; 0: until the budget is spent");
    v.Int("candidates", &candidates, 1, 4096, "samples of an uncertain step");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    v.Real("alpha", &alpha, 0, 1, "share of the past in the momentum");
    v.Real("gamma", &gamma, 0, 1,
           "less: fewer steps count as uncertain; 0: none");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
};

struct RewardMurOptions : MurOptions {
  Level level = Level::kPath;
  void Visit(OptionVisitor& v) {
    MurOptions::Visit(v);
    VisitChoice(v, "level", &level, kLevelNames, "reward head");
  }
};

// The score of a candidate; of a whole response.
double Judge(const Tree& tree, NodeId node, const RewardMurOptions& options) {
  return options.level == Level::kPath ? tree.step(node).path_score
                                       : tree.step(node).step_score;
}
double Judge(const Tree& tree, NodeId node, const MurOptions&) {
  return MeanLogprob(tree, tree.step(node).parent, node);
}
double JudgeResponse(const Tree& tree, NodeId end,
                     const RewardMurOptions& options) {
  return Judge(tree, end, options);
}
double JudgeResponse(const Tree& tree, NodeId end, const MurOptions&) {
  return PathConfidence(tree, end, ConfidenceOf::kMean);
}

Co<bool> Prepare(SearchContext& ctx, const std::vector<NodeId>& nodes,
                 const RewardMurOptions&) {
  co_return co_await ScoreEach(ctx, nodes);
}
Co<bool> Prepare(SearchContext&, const std::vector<NodeId>&,
                 const MurOptions&) {
  co_return true;
}

// Stages 1 to 3. The step taken below `parent`, or kNoNode.
template <class Options>
Co<NodeId> TakeStep(SearchContext& ctx, NodeId parent, const Momentum& momentum,
                    const Options& options) {
  std::vector<Draws> asked = {{.parent = parent}};
  const auto first = co_await ExpandEach(ctx, asked, options.temperature);
  if (first[0].empty()) co_return kNoNode;
  std::vector<NodeId> candidates = first[0];
  const NodeId only = candidates.front();
  const double m = -MeanLogprob(ctx.tree(), parent, only);
  if (options.candidates == 1 || !momentum.Exceeded(m)) co_return only;
  asked[0].n = options.candidates - 1;
  const auto more = co_await ExpandEach(ctx, asked, options.temperature);
  candidates.insert(candidates.end(), more[0].begin(), more[0].end());
  if (!co_await Prepare(ctx, candidates, options)) co_return kNoNode;
  NodeId best = only;
  for (const NodeId node : candidates) {
    if (Judge(ctx.tree(), node, options) > Judge(ctx.tree(), best, options)) {
      best = node;
    }
  }
  co_return best;
}

template <class Options>
Co<NodeId> Write(SearchContext& ctx, const Options& options) {
  Momentum momentum(options.alpha, options.gamma);
  NodeId node = kRoot;
  while (!ctx.tree()[node].terminal()) {
    const NodeId next = co_await TakeStep(ctx, node, momentum, options);
    if (next == kNoNode) co_return kNoNode;
    momentum.Add(-MeanLogprob(ctx.tree(), node, next));
    node = next;
  }
  co_return node;
}

template <class Options>
Co<> RunMur(SearchContext& ctx, const Options& options) {
  Votes votes(options.choice);
  for (int i = 0; (options.n == 0 || i < options.n) && !ctx.ShouldStop(); ++i) {
    const int64_t before = ctx.usage().tokens;
    const NodeId end = co_await Write(ctx, options);
    if (ctx.usage().tokens == before) break;  // nothing more will come
    if (end == kNoNode) continue;
    const std::vector<NodeId> scored = {end};
    if (!co_await Prepare(ctx, scored, options)) break;
    votes.Add(ctx, end,
              static_cast<float>(JudgeResponse(ctx.tree(), end, options)));
    votes.Offer(ctx);
    ctx.CountSimulation();
  }
}

const RegisterAlgorithm<RewardMurOptions> kMur(
    "mur", "more samples for steps less sure than those before, by reward",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunMur<RewardMurOptions>,
    MethodNotes{
        .source = "MUR, Yan et al. 2025, arXiv:2507.14958",
        .when_to_use =
            "few steps of a response are hard and only they deserve samples",
        .test = "tests/search/uncertainty_test.cc"});
const RegisterAlgorithm<MurOptions> kMurLikelihood(
    "mur_likelihood",
    "more samples for steps less sure than those before, by likelihood",
    {RequestKind::kExpand}, &RunMur<MurOptions>,
    MethodNotes{.source = "MUR, Yan et al. 2025, arXiv:2507.14958",
                .when_to_use = "as mur, where there is no reward model",
                .test = "tests/search/uncertainty_test.cc"});

}  // namespace
}  // namespace espalier
