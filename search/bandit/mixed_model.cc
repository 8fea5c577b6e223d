#include "search/bandit/mixed_model.h"

#include <algorithm>
#include <cmath>

#include "search/bandit/slice_sampler.h"

namespace espalier {

void MixedModel::Set(absl::Span<const RewardStats> groups) {
  classes_.clear();
  free_ = within_ = 0;
  for (const RewardStats& group : groups) {
    if (group.count == 0) continue;
    auto at =
        std::find_if(classes_.begin(), classes_.end(),
                     [&](const SizeClass& c) { return c.size == group.count; });
    if (at == classes_.end()) {
      at = classes_.insert(at, SizeClass{.size = group.count});
    }
    at->means.Add(group.mean);
    free_ += group.count - 1;
    within_ += group.squares;
  }
}

double MixedModel::LogDensity(const MixedState& s) const {
  const double between = s.sigma_a * s.sigma_a, inside = s.sigma * s.sigma;
  const double off = (s.mu - kMuMean) / kMuSd;
  double log_p = off * off + between / (kSigmaASd * kSigmaASd) +
                 inside / (kSigmaSd * kSigmaSd) + within_ / inside +
                 free_ * std::log(inside);
  for (const SizeClass& c : classes_) {
    const double v = between + inside / c.size;
    const double away = c.means.mean - s.mu;
    log_p += c.means.count * std::log(v) +
             (c.means.squares + c.means.count * away * away) / v;
  }
  return -0.5 * log_p;
}

void MixedModel::Sweep(MixedState& state, RandomStream& random) const {
  double precision = 1 / (kMuSd * kMuSd);
  double pull = kMuMean * precision;
  for (const SizeClass& c : classes_) {
    const double v =
        state.sigma_a * state.sigma_a + state.sigma * state.sigma / c.size;
    precision += c.means.count / v;
    pull += c.means.count * c.means.mean / v;
  }
  state.mu = pull / precision + random.Normal() / std::sqrt(precision);

  // The prior's width as initial interval: a posterior is seldom wider.
  MixedState trial = state;
  state.sigma_a = trial.sigma_a = SliceStep(
      state.sigma_a, kSigmaASd, 0,
      [&](double x) {
        trial.sigma_a = x;
        return LogDensity(trial);
      },
      random);
  state.sigma = SliceStep(
      state.sigma, kSigmaSd, kMinSigma,
      [&](double x) {
        trial.sigma = x;
        return LogDensity(trial);
      },
      random);
}

double MixedModel::DrawAlpha(const MixedState& s, const RewardStats& group,
                             RandomStream& random) {
  const double between = s.sigma_a * s.sigma_a;
  const double noise = s.sigma * s.sigma / group.count;
  // Weighted by precision, in a form that stays exact as sigma_a nears 0.
  const double share = between / (between + noise);
  return s.mu + share * (group.mean - s.mu) +
         std::sqrt(share * noise) * random.Normal();
}

double MixedModel::Predict(const MixedState& s, const RewardStats& group,
                           RandomStream& random) {
  return DrawAlpha(s, group, random) + s.sigma * random.Normal();
}

void MixedModel::DrawWorths(const MixedSweeps& sweeps,
                            absl::Span<const RewardStats> arms,
                            MixedState& state, RandomStream& random,
                            std::vector<double>& worths) const {
  worths.clear();
  for (const RewardStats& arm : arms) {
    if (random.recorded()) {
      worths.push_back(random.UniformDouble());
      continue;
    }
    const int count = worths.empty() ? sweeps.first : sweeps.between;
    for (int i = 0; i < count; ++i) Sweep(state, random);
    worths.push_back(arm.count > 0 ? Predict(state, arm, random)
                                   : PredictNew(state, random));
  }
}

double MixedModel::PredictNew(const MixedState& s, RandomStream& random) {
  return s.mu + std::hypot(s.sigma_a, s.sigma) * random.Normal();
}

}  // namespace espalier
