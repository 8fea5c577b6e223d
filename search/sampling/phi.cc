// Foresight sampling (T33; phi-decoding, Xu et al. 2025, arXiv:2503.13288).
//
// `beams` paths start at the root. Per step:
//   1. propose    `rollouts` samples of the next step from each path;
//   2. prune      samples whose mean log p is not above mean - sigma *
//                 standard deviation of all, though `beams` stay;
//   3. foresee    `foresight` greedy steps from each; F is their mean log p a
//                 token (of the sample itself where nothing follows it);
//   4. weigh      advantage  A = F - F of the path it continues (0 at first),
//                 alignment  C = |cluster| / N of its foreseen outcome;
//   5. draw       `beams` different samples (less those finished) from the
//                 joint distribution
//                   (softmax(A / tau) + softmax(C)) / 2;
//                 those that end the response are finished and vote;
//   6. stop       once `least` steps are taken and a cluster has more than
//                 `stop` of the samples, the paths are written to their ends
//                 without foresight, and vote.
// The paper's value is R = Norm(A) + Norm(C); the mean of two softmaxes is how
// its authors' program samples from it. It clusters texts by k-means over
// TF-IDF; here outcomes cluster when they are equal: the canonical answer that
// the foresight reached, else the text of its last step. It also drops
// samples with A <= 0, which here only their weight does.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/algorithm.h"
#include "search/parts/choose.h"
#include "search/parts/confidence.h"
#include "search/parts/lockstep.h"
#include "search/parts/logprob.h"
#include "search/parts/resample.h"
#include "search/sampling/foresight.h"

namespace espalier {
namespace {

struct PhiOptions {
  int beams = 4;
  int rollouts = 4;
  int foresight = 4;
  int rounds = 0;
  float temperature = 1;
  float tau = 0.1f;
  float sigma = 1;
  float stop = 0.7f;
  int least = 4;
  AnswerChoice choice = AnswerChoice::kMajority;
  void Visit(OptionVisitor& v) {
    v.Int("beams", &beams, 1, 4096, "paths written side by side");
    v.Int("rollouts", &rollouts, 1, 4096, "samples of the next step from each");
    v.Int("foresight", &foresight, 0, 64, "greedy steps seen ahead");
    v.Int("rounds", &rounds, 0, 1 << 20,
          "passes from the root; 0: until the budget is spent");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    v.Real("tau", &tau, 0, 100, "temperature of the advantages' softmax");
    v.Real("sigma", &sigma, 0, 100,
           "standard deviations below the mean that get foresight; 0: all");
    v.Real("stop", &stop, 0, 1,
           "share of samples with one outcome that ends foresight; 1: never");
    v.Int("least", &least, 0, 1 << 16, "steps before foresight may end");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
};

struct Path {
  NodeId node = kRoot;
  double f = 0;  // mean log p of what was foreseen for it
};

// A sample with the path that it continues, then with its foresight.
struct Sample {
  NodeId node;
  double f_before;
  double f = 0;
};

void Vote(SearchContext& ctx, NodeId end, Votes& votes) {
  votes.Add(ctx, end, PathConfidence(ctx.tree(), end, ConfidenceOf::kMean));
  votes.Offer(ctx);
}

// Stages 1 and 2.
Co<std::vector<Sample>> Propose(SearchContext& ctx,
                                const std::vector<Path>& paths,
                                const PhiOptions& options) {
  std::vector<Draws> asked;
  for (const Path& path : paths) asked.push_back({path.node, options.rollouts});
  const auto drawn = co_await ExpandEach(ctx, asked, options.temperature);
  std::vector<Sample> samples;
  std::vector<double> logprobs;
  for (size_t i = 0; i < paths.size(); ++i) {
    for (const NodeId node : drawn[i]) {
      samples.push_back({node, paths[i].f});
      logprobs.push_back(MeanLogprob(ctx.tree(), paths[i].node, node));
    }
  }
  std::vector<Sample> kept;
  for (const size_t i : PruneWidth(logprobs, options.sigma, paths.size())) {
    kept.push_back(samples[i]);
  }
  co_return kept;
}

// What a foresight that ends in `end` comes to.
std::string Outcome(SearchContext& ctx, NodeId end) {
  const int32_t answer =
      ctx.tree()[end].terminal() ? ctx.AnswerOf(end) : int32_t{-1};
  if (answer >= 0) return absl::StrCat("=", answer);
  return std::string(ctx.tree().text(end));
}

// Stages 3 and 4. Sets the samples' f; returns their clusters' shares.
Co<std::vector<double>> Foresee(SearchContext& ctx,
                                std::vector<Sample>& samples,
                                const PhiOptions& options,
                                GreedySteps& greedy) {
  std::vector<NodeId> from;
  for (const Sample& sample : samples) from.push_back(sample.node);
  const std::vector<NodeId> ends =
      co_await LookAheadEach(ctx, from, options.foresight, greedy);
  std::vector<std::string> outcomes;
  for (size_t i = 0; i < samples.size(); ++i) {
    const NodeId above =
        ends[i] == from[i] ? ctx.tree()[from[i]].parent : from[i];
    samples[i].f = MeanLogprob(ctx.tree(), above, ends[i]);
    outcomes.push_back(Outcome(ctx, ends[i]));
  }
  co_return ClusterShares(outcomes);
}

// Stage 5. The paths that go on.
std::vector<Path> Pick(SearchContext& ctx, const std::vector<Sample>& samples,
                       const std::vector<double>& shares, int places,
                       const PhiOptions& options, RandomStream& random,
                       Votes& votes) {
  std::vector<double> advantages;
  for (const Sample& sample : samples) {
    advantages.push_back(sample.f - sample.f_before);
  }
  std::vector<Path> paths;
  for (const size_t i : DrawDistinct(
           JointWeights(advantages, shares, options.tau), places, random)) {
    const Sample& sample = samples[i];
    if (ctx.tree()[sample.node].terminal()) {
      Vote(ctx, sample.node, votes);
    } else {
      paths.push_back({sample.node, sample.f});
    }
  }
  return paths;
}

Co<> RunPass(SearchContext& ctx, const PhiOptions& options, GreedySteps& greedy,
             RandomStream& random, Votes& votes) {
  std::vector<Path> paths(static_cast<size_t>(options.beams));
  for (int step = 1; !paths.empty(); ++step) {
    std::vector<Sample> samples = co_await Propose(ctx, paths, options);
    if (samples.empty()) co_return;
    const std::vector<double> shares =
        co_await Foresee(ctx, samples, options, greedy);
    paths = Pick(ctx, samples, shares, static_cast<int>(paths.size()), options,
                 random, votes);
    const double agreed = *std::max_element(shares.begin(), shares.end());
    if (step >= options.least && agreed > options.stop) break;
  }
  std::vector<NodeId> rest;
  for (const Path& path : paths) rest.push_back(path.node);
  const std::vector<NodeId> ends =
      co_await FinishEach(ctx, rest, options.temperature);
  for (const NodeId end : ends) {
    if (end != kNoNode) Vote(ctx, end, votes);
  }
}

Co<> RunPhi(SearchContext& ctx, const PhiOptions& options) {
  Votes votes(options.choice);
  GreedySteps greedy;
  RandomStream random = ctx.Stream(kRoot, Purpose::kSelect);
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    co_await RunPass(ctx, options, greedy, random, votes);
    ctx.CountSimulation();
    if (ctx.usage().tokens == before) break;  // nothing more will come
  }
}

const RegisterAlgorithm<PhiOptions> kPhi(
    "phi", "steps drawn by the likelihood and agreement of what they lead to",
    {RequestKind::kExpand}, &RunPhi,
    MethodNotes{.source = "phi-decoding, Xu et al. 2025, arXiv:2503.13288",
                .when_to_use = "there is no reward model and steps show their "
                               "worth a few steps later",
                .test = "tests/search/uncertainty_test.cc"});

}  // namespace
}  // namespace espalier
