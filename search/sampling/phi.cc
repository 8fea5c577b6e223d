// Foresight sampling (phi-decoding, Xu et al. 2025, arXiv:2503.13288).
//
// `beams` paths start at the root with value 0. `foresight` times, per step:
//   1. propose  `rollouts` samples of the next step from each path; m is a
//               sample's mean ln p per token;
//   2. prune    those with m > mean - sigma * standard deviation of all stay;
//               if they are fewer than `beams`, the missing ones are drawn from
//               the others by softmax(m / tau), without repeats;
//   3. foresee  roll each out to its end; F is the mean ln p per token of what
//               comes after the sample, A = F - value of the path it continues;
//   4. cluster  the rollouts by outcome; C is the share of all that is in the
//               same cluster;
//   5. draw     `beams` different samples, by half of softmax(A / tau) and half
//               of softmax(C), continue, each with its F as value;
//   6. stop     after more than `least` steps, when all rollouts are the same
//               or a cluster has the share `stop` (if texts cannot be
//               clustered: when all samples are the same): the paths are then
//               those before stage 5.
// After the last step each path is rolled out to its end, and the responses
// form two clusters. The answer is drawn by softmax(A / tau) from the larger
// one; a tie goes to the later one.
//
// A path that has ended continues unchanged: whatever is sampled after it is
// the empty text, with `end_logprob` as mean ln p. Texts cannot be clustered if
// there are fewer than clusters or if all are empty. Then the draw uses only A,
// and the values are the m of the samples at the drawn indices, as in the
// authors' program, where the indices count the samples that stayed. The last
// draw is then among all responses: by softmax(-A / tau) if all texts are
// empty, by softmax(A / tau) if fewer than `beams` are not.
//
// Differs: the program clusters by k-means over TF-IDF of texts, with
// `clusters` clusters; here equal outcomes form a cluster, the last one taking
// all further ones. An outcome is the canonical answer, else the text. A sample
// whose rollout a limit cuts is left out. Passes repeat until `rounds` are done
// or the budget is spent, and their answers vote; in the first pass the answer
// of the rollout of the sample with the highest weight is held.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/common_options.h"
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
  int foresight = 8;
  int clusters = 3;
  int least = 4;
  int rounds = 0;
  float temperature = 0.6f;
  float foresight_temperature = 1;
  float tau = 0.1f;
  float sigma = 1;
  float stop = 0.69f;
  float end_logprob = -0.01f;
  AnswerChoice choice = AnswerChoice::kMajority;
  // The rollouts, or without foresight the paths themselves.
  int64_t AtOnce() const {
    return int64_t{beams} * (foresight > 0 ? rollouts : 1);
  }
  void Visit(OptionVisitor& v) {
    v.Int("beams", &beams, 1, 4096, "paths generated in parallel");
    v.Int("rollouts", &rollouts, 1, 4096, "samples of the next step per path");
    v.Int("foresight", &foresight, 0, 1 << 16, "steps sampled with foresight");
    v.Int("clusters", &clusters, 1, 4096,
          "maximum clusters of rollout outcomes");
    v.Int("least", &least, 0, 1 << 16,
          "number of steps after which foresight may stop early");
    VisitRounds(v, &rounds);
    v.Real("temperature", &temperature, 0, 10, "sampling temperature of steps");
    v.Real("foresight_temperature", &foresight_temperature, 0, 10,
           "sampling temperature of foresight rollouts");
    v.Real("tau", &tau, 0, 100, "temperature of the advantages' softmax");
    v.Real("sigma", &sigma, -100, 100,
           "samples whose log-prob is above mean - sigma * standard deviation "
           "get foresight");
    v.Real("stop", &stop, 0, 2,
           "share of samples with the same outcome that ends foresight; above "
           "1: never");
    v.Real("end_logprob", &end_logprob, -100, 0,
           "mean log-prob of the empty text after a finished response");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how the answers of several passes combine into one");
  }
};

struct Path {
  NodeId node = kRoot;
  double value = 0;
};

// Samples of a step with their mean ln p, as parallel arrays.
struct Samples {
  std::vector<NodeId> nodes;
  std::vector<double> before;  // values of the paths they continue
  std::vector<double> logprobs;
  std::vector<std::string> texts;
};

// Rollouts from nodes of the tree.
struct Written {
  std::vector<size_t> of;    // indices of the nodes whose rollouts were not cut
  std::vector<NodeId> ends;  // ends of the responses
  std::vector<bool> empty;   // nothing followed
  std::vector<double> f;     // mean ln p
  std::vector<double> advantages;
};

struct PhiState {
  PhiState(SearchContext& ctx, const PhiOptions& options)
      : votes(options.choice), random(ctx.Stream(kRoot, Purpose::kSelect)) {}
  Votes votes;
  RandomStream random;  // of all draws, in order
};

// Stage 1.
Co<Samples> Propose(SearchContext& ctx, const std::vector<Path>& paths,
                    const PhiOptions& options) {
  std::vector<Draws> requests;
  for (const Path& path : paths) {
    if (ctx.tree()[path.node].terminal()) continue;
    requests.push_back({.parent = path.node, .n = options.rollouts});
  }
  const auto drawn = co_await ExpandEach(ctx, requests, options.temperature);
  Samples samples;
  size_t next = 0;
  for (const Path& path : paths) {
    const bool ended = ctx.tree()[path.node].terminal();
    const std::vector<NodeId> steps =
        ended ? std::vector<NodeId>(static_cast<size_t>(options.rollouts),
                                    path.node)
              : drawn[next++];
    for (const NodeId step : steps) {
      samples.nodes.push_back(step);
      samples.before.push_back(path.value);
      samples.texts.push_back(ended ? "" : std::string(ctx.tree().text(step)));
      samples.logprobs.push_back(
          ended ? static_cast<double>(options.end_logprob)
                : MeanLogprob(ctx.tree(), path.node, step));
    }
  }
  co_return samples;
}

// Stage 3: rolls out `from`, whose paths have the values `before`.
Co<Written> WriteOn(SearchContext& ctx, const std::vector<NodeId>& from,
                    const std::vector<double>& before,
                    const PhiOptions& options) {
  const std::vector<NodeId> ends =
      co_await FinishEach(ctx, from, options.foresight_temperature);
  Written written;
  for (size_t i = 0; i < from.size(); ++i) {
    if (ends[i] == kNoNode) continue;
    const bool empty = ends[i] == from[i];
    const double f = empty ? static_cast<double>(options.end_logprob)
                           : MeanLogprob(ctx.tree(), from[i], ends[i]);
    written.of.push_back(i);
    written.ends.push_back(ends[i]);
    written.empty.push_back(empty);
    written.f.push_back(f);
    written.advantages.push_back(f - before[i]);
  }
  co_return written;
}

// Key of a response's outcome.
std::string Outcome(SearchContext& ctx, NodeId end) {
  const int32_t answer = ctx.AnswerOf(end);
  if (answer >= 0) return absl::StrCat("=", answer);
  return ctx.tree().Response(end);
}

// The clusters of all rollouts; empty if texts cannot be clustered.
std::vector<size_t> ClustersOf(SearchContext& ctx, const Written& written,
                               int clusters) {
  const bool none = std::find(written.empty.begin(), written.empty.end(),
                              false) == written.empty.end();
  const auto most = static_cast<size_t>(clusters);
  if (none || written.ends.size() < most) return {};
  std::vector<std::string> outcomes;
  for (const NodeId end : written.ends) outcomes.push_back(Outcome(ctx, end));
  return Clusters(outcomes, most);
}

// True if all rollouts after `from` have the same text.
bool AllEqual(const Tree& tree, const std::vector<NodeId>& from,
              const Written& written) {
  const auto text = [&](size_t i) {
    return tree.Response(written.ends[i])
        .substr(tree.Response(from[written.of[i]]).size());
  };
  for (size_t i = 1; i < written.ends.size(); ++i) {
    if (text(i) != text(0)) return false;
  }
  return true;
}

// Until there is a vote, holds the rollout of the sample with the highest
// weight.
void Hold(SearchContext& ctx, const Written& written,
          const std::vector<double>& weights, const PhiState& state) {
  if (!state.votes.empty()) return;
  const auto heaviest = std::max_element(weights.begin(), weights.end());
  const NodeId end =
      written.ends[static_cast<size_t>(heaviest - weights.begin())];
  if (ctx.AnswerOf(end) < 0) return;
  ctx.Offer(end, PathConfidence(ctx.tree(), end, ConfidenceOf::kMean));
}

// Stages 1 to 6. False if `paths` are the last ones.
Co<bool> TakeStep(SearchContext& ctx, int step, const PhiOptions& options,
                  PhiState& state, std::vector<Path>& paths) {
  const Samples samples = co_await Propose(ctx, paths, options);
  if (samples.nodes.empty()) co_return false;
  const auto tau = static_cast<double>(options.tau);
  const std::vector<size_t> kept =
      PruneWidth(samples.logprobs, static_cast<double>(options.sigma),
                 paths.size(), tau, state.random);  // 2
  std::vector<NodeId> from;
  std::vector<double> before;
  for (const size_t i : kept) {
    from.push_back(samples.nodes[i]);
    before.push_back(samples.before[i]);
  }
  const Written seen = co_await WriteOn(ctx, from, before, options);  // 3
  if (seen.ends.empty()) co_return false;
  const std::vector<size_t> clusters =
      ClustersOf(ctx, seen, options.clusters);  // 4
  const std::vector<double> shares = ClusterShares(clusters);
  const std::vector<double> weights =
      clusters.empty() ? Softmax(seen.advantages, tau)
                       : JointWeights(seen.advantages, shares, tau);
  Hold(ctx, seen, weights, state);
  std::vector<Path> next;
  for (const size_t i : DrawDistinct(weights, static_cast<int>(paths.size()),
                                     state.random)) {  // 5
    next.push_back(
        {.node = from[seen.of[i]],
         .value = clusters.empty() ? samples.logprobs[i] : seen.f[i]});
  }
  const auto most = std::max_element(shares.begin(), shares.end());
  const bool agreed =
      clusters.empty() ? std::count(samples.texts.begin(), samples.texts.end(),
                                    samples.texts[0]) ==
                             static_cast<std::ptrdiff_t>(samples.texts.size())
                       : AllEqual(ctx.tree(), from, seen) ||
                             *most >= static_cast<double>(options.stop);
  if (step > options.least && agreed) co_return false;  // 6
  paths = next;
  co_return true;
}

// The end: draws one response among those of the paths, or kNoNode.
Co<NodeId> Choose(SearchContext& ctx, const std::vector<Path>& paths,
                  const PhiOptions& options, PhiState& state) {
  std::vector<NodeId> from;
  std::vector<double> before;
  for (const Path& path : paths) {
    from.push_back(path.node);
    before.push_back(path.value);
  }
  const Written last = co_await WriteOn(ctx, from, before, options);
  if (last.ends.empty()) co_return kNoNode;
  const auto full = std::count(last.empty.begin(), last.empty.end(), false);
  std::vector<size_t> members(last.ends.size());
  for (size_t i = 0; i < members.size(); ++i) members[i] = i;
  if (full == static_cast<int>(last.ends.size())) {
    std::vector<std::string> outcomes;
    for (const NodeId end : last.ends) outcomes.push_back(Outcome(ctx, end));
    members = LargestCluster(Clusters(outcomes, 2));
  }
  std::vector<double> advantages;
  for (const size_t i : members) {
    advantages.push_back(full == 0 ? -last.advantages[i] : last.advantages[i]);
  }
  const std::vector<double> weights =
      Softmax(advantages, static_cast<double>(options.tau));
  const size_t drawn =
      Resample(weights, 1, Resampling::kMultinomial, state.random).front();
  co_return last.ends[members[drawn]];
}

Co<> RunPhi(SearchContext& ctx, const PhiOptions& options) {
  PhiState state(ctx, options);
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    std::vector<Path> paths(static_cast<size_t>(options.beams));
    for (int step = 1; step <= options.foresight; ++step) {
      if (!co_await TakeStep(ctx, step, options, state, paths)) break;
    }
    const NodeId end = co_await Choose(ctx, paths, options, state);
    if (end != kNoNode) {
      state.votes.Add(ctx, end,
                      PathConfidence(ctx.tree(), end, ConfidenceOf::kMean));
      state.votes.Offer(ctx);
    }
    ctx.CountSimulation();
    if (ctx.usage().tokens == before) break;  // no more samples will come
  }
}

const RegisterAlgorithm<PhiOptions> kPhi(
    "phi", "steps sampled by the likelihood and agreement of their rollouts",
    {RequestKind::kExpand}, &RunPhi,
    MethodNotes{.source = "phi-decoding, Xu et al. 2025, arXiv:2503.13288",
                .when_to_use = "there is no reward model and the quality of a "
                               "step shows in what follows it",
                .test = "tests/search/golden_uncertainty_test.cc"});

}  // namespace
}  // namespace espalier
