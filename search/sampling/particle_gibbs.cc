// Particle filter and particle Gibbs as in its_hub (Puri et al. 2025,
// arXiv:2502.01618).
//
// A sweep moves `particles` responses from the root until all are stopped. Per
// step:
//   1. extend    every particle that is not stopped by one sampled step; it is
//                stopped when its response has ended, or after max_steps + 1
//                steps;
//   2. weigh     all, including stopped ones:
//                  w_i = softmax_i(logit(s_i)),
//                s_i the reward model's score of the response so far, clipped
//                to [1e-7, 1 - 1e-7];
//   3. resample  the same number, multinomially, also after the last step.
// With iterations > 1 and keep > 0, `keep` particles of a sweep are drawn by
// their weights, with replacement, as references of the next. In that sweep
// particles - keep move; references take part with the weight of their end from
// the first step on and are never replaced. A reference drawn in stage 3 before
// its end is copied up to the current step, and the copy continues from there.
//
// The answer is the particle of the highest weight after the last sweep, ties
// to the first (select=best), or one drawn by weight (select=sample).
//
// Differs: an unfinished response is a particle like any other, but never the
// answer; a particle that a token limit cuts is stopped before that step. A
// search that a budget ends holds the best of the previous sweep, or in the
// first sweep the best response that has ended.
//
// The method `particle` weighs references step by step, as in conditional SMC,
// and lets the finished particles of all sweeps vote.
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/algorithm.h"
#include "search/parts/aggregate.h"
#include "search/parts/common_options.h"
#include "search/parts/confidence.h"
#include "search/parts/lockstep.h"
#include "search/parts/resample.h"

namespace espalier {
namespace {

enum class FinalChoice : uint8_t { kBest, kSample };
constexpr std::array<std::string_view, 2> kSelectNames = {"best", "sample"};

struct ParticleGibbsOptions {
  int particles = 8;
  int iterations = 1;
  int keep = 1;
  int max_steps = 0;
  float temperature = 0.8f;
  FinalChoice select = FinalChoice::kBest;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  int64_t AtOnce() const { return particles; }
  void Visit(OptionVisitor& v) {
    v.Int("particles", &particles, 1, 4096, "responses generated in parallel");
    v.Int("iterations", &iterations, 1, 1 << 20, "sweeps");
    v.Int("keep", &keep, 0, 4096,
          "reference particles per sweep, drawn from the previous one");
    v.Int("max_steps", &max_steps, 0, 1 << 16,
          "steps that a particle may take before its last one; 0: no limit");
    VisitTemperature(v, &temperature);
    VisitChoice(v, "select", &select, kSelectNames,
                "how the answer is chosen from the last sweep");
    VisitLevel(v, &level);
    VisitAggregate(v, &aggregate);
  }
  std::vector<std::string> Check() const {
    if (iterations == 1 || keep <= particles) return {};
    return {absl::StrCat("keep=", keep, " is more than particles=", particles)};
  }
};

struct Particle {
  NodeId node = kRoot;
  bool stopped = false;
};
using Particles = std::vector<Particle>;

// State of a search across its sweeps.
struct SweepState {
  SweepState(SearchContext& ctx, const ParticleGibbsOptions& options)
      : scores(ctx.tree(), options.level, options.aggregate),
        random(ctx.Stream(kRoot, Purpose::kSelect)) {}
  PathScores scores;
  RandomStream random;  // of all draws, in order
  int sweeps = 0;       // number of finished sweeps
  float held = -1;      // score of the answer held before the first has ended
};

// Logits of the scores; a particle still at the root has no weight.
std::vector<double> LogWeights(const Particles& particles, SweepState& state) {
  std::vector<double> logits;
  for (const Particle& particle : particles) {
    logits.push_back(particle.node == kRoot
                         ? -std::numeric_limits<double>::infinity()
                         : Logit(state.scores.Of(particle.node), 1e-7));
  }
  return logits;
}

std::vector<size_t> Draw(const Particles& particles, int n, SweepState& state) {
  return Resample(Softmax(LogWeights(particles, state), 1), n,
                  Resampling::kMultinomial, state.random);
}

// Stage 1. False if the budget is spent.
Co<bool> Extend(SearchContext& ctx, Particles& particles, int step,
                const ParticleGibbsOptions& options) {
  std::vector<Draws> requests;
  std::vector<size_t> who;
  for (size_t i = 0; i < particles.size(); ++i) {
    if (particles[i].stopped) continue;
    requests.push_back({.parent = particles[i].node});
    who.push_back(i);
  }
  const auto samples = co_await ExpandEach(ctx, requests, options.temperature);
  std::vector<NodeId> arrived;
  for (size_t j = 0; j < who.size(); ++j) {
    Particle& particle = particles[who[j]];
    particle.stopped = true;
    if (samples[j].empty()) continue;
    particle.node = samples[j].front();
    particle.stopped = ctx.tree()[particle.node].terminal() ||
                       (options.max_steps > 0 && step > options.max_steps);
    arrived.push_back(particle.node);
  }
  co_return co_await ScoreEach(ctx, arrived);
}

// Holds the best finished response until a sweep has ended.
void HoldBest(SearchContext& ctx, const Particles& particles,
              SweepState& state) {
  for (const Particle& particle : particles) {
    if (!ctx.tree()[particle.node].terminal()) continue;
    const float score = state.scores.Of(particle.node);
    if (score <= state.held) continue;
    state.held = score;
    ctx.Offer(particle.node, score);
  }
}

// Offers the particle of the highest weight whose response has ended.
void OfferBest(SearchContext& ctx, const Particles& particles,
               SweepState& state) {
  const std::vector<double> weights = LogWeights(particles, state);
  size_t best = particles.size();
  for (size_t i = 0; i < particles.size(); ++i) {
    if (!ctx.tree()[particles[i].node].terminal()) continue;
    if (best == particles.size() || weights[i] > weights[best]) best = i;
  }
  if (best == particles.size()) return;
  const NodeId node = particles[best].node;
  ctx.Offer(node, state.scores.Of(node));
}

// One sweep. `particles` holds its references, and afterwards all its
// particles, references last. False if the budget ended it.
Co<bool> Sweep(SearchContext& ctx, Particles& particles,
               const ParticleGibbsOptions& options, SweepState& state) {
  const Particles references = particles;
  std::vector<std::vector<NodeId>> walks;
  for (const Particle& reference : references) {
    walks.push_back(ctx.tree().Path(reference.node));
  }
  const size_t moving =
      static_cast<size_t>(options.particles) - references.size();
  particles.assign(moving, {});
  particles.insert(particles.end(), references.begin(), references.end());
  for (int step = 1; std::any_of(particles.begin(), particles.end(),
                                 [](Particle p) { return !p.stopped; });
       ++step) {
    if (!co_await Extend(ctx, particles, step, options)) co_return false;
    if (state.sweeps == 0) HoldBest(ctx, particles, state);
    if (ctx.ShouldStop()) co_return false;
    Particles next;
    for (const size_t i : Draw(particles, static_cast<int>(moving), state)) {
      next.push_back(particles[i]);
      if (i < moving) continue;
      const std::vector<NodeId>& walk = walks[i - moving];
      if (walk.size() <= static_cast<size_t>(step)) continue;
      next.back() = {walk[static_cast<size_t>(step) - 1], false};
    }
    next.insert(next.end(), references.begin(), references.end());
    particles = next;
  }
  co_return true;
}

Co<> RunParticleGibbs(SearchContext& ctx, const ParticleGibbsOptions& options) {
  SweepState state(ctx, options);
  Particles particles, references;
  while (state.sweeps < options.iterations && !ctx.ShouldStop()) {
    particles = references;
    if (!co_await Sweep(ctx, particles, options, state)) co_return;
    ++state.sweeps;
    OfferBest(ctx, particles, state);
    ctx.CountSimulation();
    references.clear();
    for (const size_t i : Draw(particles, options.keep, state)) {
      references.push_back(particles[i]);
    }
  }
  if (options.select == FinalChoice::kBest || particles.empty()) co_return;
  const Particle drawn = particles[Draw(particles, 1, state).front()];
  if (ctx.tree()[drawn.node].terminal()) {
    ctx.Offer(drawn.node, state.scores.Of(drawn.node));
  }
}

const RegisterAlgorithm<ParticleGibbsOptions> kParticleGibbs(
    "particle_gibbs", "particle filter and particle Gibbs as in its_hub",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunParticleGibbs,
    MethodNotes{.source = "its_hub, Puri et al. 2025, arXiv:2502.01618",
                .when_to_use = "results must match its_hub; `particle` lets "
                               "all finished particles vote",
                .test = "tests/search/golden_its_hub_test.cc"});

}  // namespace
}  // namespace espalier
