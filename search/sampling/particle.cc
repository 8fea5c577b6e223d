// Particle filter and particle Gibbs over steps (Puri et al. 2025,
// arXiv:2502.01618; conditional SMC of Andrieu et al. 2010).
//
// A sweep moves `particles` partial responses from the root to their ends. Per
// step:
//   1. extend    each unfinished particle by one sampled step;
//   2. score     all with the reward model: s in [0, 1];
//   3. resample  the same number, by
//                  w_i = softmax_i(logit(s_i) / resample_temperature),
//                  s_i clipped to [1e-6, 1 - 1e-6].
// Finished particles stay as they are and keep their weight in the resampling;
// particles whose step a length limit cut have weight 0. Once all are finished
// none is resampled any more: the votes weight them.
//
// With iterations > 1 a sweep is followed by conditional ones: `keep` finished
// particles are drawn by their weights as references. A reference repeats its
// steps alongside the particles - keep free ones, which may be resampled from
// its prefixes, and is itself never replaced. With one particle there can be no
// reference: sweeps are then independent.
//
// The finished particles of every sweep vote, with multiplicity; before the
// first sweep has ended its best finished one is held. its_hub, whose own
// choices are the method `particle_gibbs`, weighs a reference by its end
// throughout, resamples once more at the end of a sweep and answers with the
// best particle of the last. Rounds of `iterations` sweeps repeat until the
// budget is spent.
#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/aggregate.h"
#include "search/parts/common_options.h"
#include "search/parts/confidence.h"
#include "search/parts/lockstep.h"
#include "search/parts/resample.h"

namespace espalier {
namespace {

struct ParticleOptions {
  int particles = 8;
  int iterations = 1;
  int keep = 1;
  int rounds = 0;
  float temperature = 1;
  float resample_temperature = 1;
  Resampling resampling = Resampling::kMultinomial;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  AnswerChoice choice = AnswerChoice::kWeighted;
  int64_t AtOnce() const { return particles; }
  void Visit(OptionVisitor& v) {
    v.Int("particles", &particles, 1, 4096, "responses generated in parallel");
    v.Int(
        "iterations", &iterations, 1, 1 << 20,
        "sweeps per round, each but the first conditional on the previous one");
    v.Int("keep", &keep, 1, 4096, "reference particles of a conditional sweep");
    v.Int("rounds", &rounds, 0, 1 << 20,
          "number of rounds; 0: until the budget is spent");
    VisitTemperature(v, &temperature);
    v.Real("resample_temperature", &resample_temperature, 0, 1000,
           "temperature of the softmax over weights; 0: the highest score "
           "takes all");
    VisitChoice(v, "resampling", &resampling, kResamplingNames,
                "how particles are resampled by their weights");
    VisitLevel(v, &level);
    VisitAggregate(v, &aggregate);
    VisitAnswerChoice(v, &choice);
  }
  std::vector<std::string> Check() const {
    // A single particle makes independent sweeps (see above).
    if (iterations == 1 || particles == 1 || keep < particles) return {};
    return {absl::StrCat("keep=", keep, " is not less than particles=",
                         particles, ", so no particle is resampled")};
  }
};

// A particle is its current node; kNoNode: lost.
using Nodes = std::vector<NodeId>;

struct FilterState {
  explicit FilterState(SearchContext& ctx, const ParticleOptions& options)
      : votes(options.choice),
        scores(ctx.tree(), options.level, options.aggregate),
        random(ctx.Stream(kRoot, Purpose::kSelect)) {}
  Votes votes;
  PathScores scores;
  RandomStream random;  // of all resampling
  float held = -1;      // score of the answer held before the first vote
};

std::vector<double> Weights(const Nodes& particles,
                            const ParticleOptions& options,
                            FilterState& state) {
  std::vector<double> logits;
  for (const NodeId node : particles) {
    logits.push_back(node == kNoNode ? -std::numeric_limits<double>::infinity()
                                     : Logit(state.scores.Of(node)));
  }
  return Softmax(logits, options.resample_temperature);
}

Nodes Take(const Nodes& particles, const std::vector<size_t>& indices) {
  Nodes taken;
  for (const size_t i : indices) taken.push_back(particles[i]);
  return taken;
}

// Stage 1. Returns the particles that moved.
Co<std::vector<size_t>> Extend(SearchContext& ctx, Nodes& particles,
                               float temperature) {
  std::vector<Draws> requests;
  std::vector<size_t> who;
  for (size_t i = 0; i < particles.size(); ++i) {
    if (particles[i] == kNoNode || ctx.tree()[particles[i]].terminal())
      continue;
    requests.push_back({.parent = particles[i]});
    who.push_back(i);
  }
  const auto samples = co_await ExpandEach(ctx, requests, temperature);
  for (size_t j = 0; j < who.size(); ++j) {
    particles[who[j]] = samples[j].empty() ? kNoNode : samples[j].front();
  }
  co_return who;
}

// Holds the best finished response until there are votes.
void Hold(SearchContext& ctx, const Nodes& particles, FilterState& state) {
  if (!state.votes.empty()) return;
  for (const NodeId node : particles) {
    if (node == kNoNode || !ctx.tree()[node].terminal()) continue;
    const float score = state.scores.Of(node);
    if (score <= state.held) continue;
    state.held = score;
    ctx.Offer(node, score);
  }
}

// One sweep. Returns its finished particles, references last.
Co<Nodes> Sweep(SearchContext& ctx, const Nodes& references,
                const ParticleOptions& options, FilterState& state) {
  const size_t free_count =
      static_cast<size_t>(options.particles) - references.size();
  std::vector<std::vector<NodeId>> walks;
  for (const NodeId end : references) walks.push_back(ctx.tree().Path(end));
  Nodes particles(free_count, kRoot);
  for (size_t step = 0;; ++step) {
    const std::vector<size_t> moved =
        co_await Extend(ctx, particles, options.temperature);
    if (moved.empty()) break;
    Nodes arrived;
    for (const size_t i : moved) {
      if (particles[i] != kNoNode) arrived.push_back(particles[i]);
    }
    if (!co_await ScoreEach(ctx, arrived)) {
      for (const size_t i : moved) particles[i] = kNoNode;
      break;
    }
    Hold(ctx, particles, state);
    Nodes all = particles;
    for (const auto& walk : walks) {
      all.push_back(walk[std::min(step, walk.size() - 1)]);
    }
    const bool open = std::any_of(all.begin(), all.end(), [&](NodeId node) {
      return node != kNoNode && !ctx.tree()[node].terminal();
    });
    if (!open || ctx.ShouldStop()) break;
    particles = Take(all, Resample(Weights(all, options, state),
                                   static_cast<int>(free_count),
                                   options.resampling, state.random));
  }
  Nodes finished;
  for (const NodeId node : particles) {
    if (node != kNoNode && ctx.tree()[node].terminal()) {
      finished.push_back(node);
    }
  }
  finished.insert(finished.end(), references.begin(), references.end());
  co_return finished;
}

Co<> RunRound(SearchContext& ctx, const ParticleOptions& options,
              FilterState& state) {
  Nodes references;
  for (int i = 0; i < options.iterations && !ctx.ShouldStop(); ++i) {
    const Nodes finished = co_await Sweep(ctx, references, options, state);
    for (const NodeId node : finished) {
      state.votes.Add(ctx, node, state.scores.Of(node));
    }
    if (!state.votes.empty()) state.votes.Offer(ctx);
    ctx.CountSimulation();
    const int keep = std::min(options.keep, options.particles - 1);
    if (finished.empty() || keep == 0 || i + 1 == options.iterations) continue;
    references =
        Take(finished, Resample(Weights(finished, options, state), keep,
                                options.resampling, state.random));
  }
}

Co<> RunParticle(SearchContext& ctx, const ParticleOptions& options) {
  FilterState state(ctx, options);
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    co_await RunRound(ctx, options, state);
    if (ctx.usage().tokens == before) break;  // no more samples will come
  }
}

const RegisterAlgorithm<ParticleOptions> kParticle(
    "particle", "particle filter: partial responses resampled by their scores",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunParticle,
    MethodNotes{.source = "Puri et al. 2025, arXiv:2502.01618; Andrieu et al. "
                          "2010",
                .when_to_use = "the reward model is noisy and a beam would "
                               "collapse onto its errors",
                .test = "tests/search/particle_test.cc"});

}  // namespace
}  // namespace espalier
