// The mixed model of AB-MCTS-M and its sampler (TreeQuest).
//
//   MixedModel model(groups);  // rewards of each child's subtree
//   MixedState state;          // of the node; kept between calls
//   for (int i = 0; i < 20; ++i) model.Sweep(state, random);
//   double child = model.Predict(state, groups[2], random);
//   double fresh = model.PredictNew(state, random);
//   // One draw per arm, with sweeps in between:
//   model.DrawWorths({.first = 20, .between = 5}, arms, state, random, worths);
//
// Reward y of group j:
//
//   y ~ N(alpha_j, sigma)      alpha_j ~ N(mu, sigma_a)
//   mu ~ N(.5, .2^2)           sigma_a ~ HalfN(.2)       sigma ~ HalfN(.3)
//
// One sweep of Gibbs sampling over (mu, sigma_a, sigma) with every alpha_j
// integrated out, which mixes even where alternating with the alphas would
// stick (small sigma_a): the n rewards of a group enter through their mean,
// which is N(mu, v), v = sigma_a^2 + sigma^2 / n, and their squares within the
// group.
//   1. mu        conjugate normal;
//   2. sigma_a   slice sampling with stepping out (Neal 2003);
//   3. sigma     the same.
// alpha_j is then an exact normal draw where needed. Groups of equal size n
// share v, so a sweep costs O(distinct sizes), not O(groups).
//
// Exactly equal rewards would make the density infinite at sigma = 0: sigma is
// at least kMinSigma, well below the resolution of scores (hundredths).
//
// Thread-compatible.
#ifndef ESPALIER_SEARCH_BANDIT_MIXED_MODEL_H_
#define ESPALIER_SEARCH_BANDIT_MIXED_MODEL_H_

#include <vector>

#include "absl/types/span.h"
#include "search/bandit/thompson.h"

namespace espalier {

// Starts near the middle of the prior.
struct MixedState {
  double mu = 0.5;
  double sigma_a = 0.15;
  double sigma = 0.2;
};

// Sweeps before the first arm is drawn, and between one arm and the next.
struct MixedSweeps {
  int first = 20;
  int between = 5;
};

class MixedModel {
 public:
  static constexpr double kMuMean = 0.5, kMuSd = 0.2;
  static constexpr double kSigmaASd = 0.2, kSigmaSd = 0.3;
  static constexpr double kMinSigma = 1e-3;

  MixedModel() = default;
  explicit MixedModel(absl::Span<const RewardStats> groups) { Set(groups); }
  // Like a new model, in the same memory. Groups without rewards are ignored.
  void Set(absl::Span<const RewardStats> groups);

  void Sweep(MixedState& state, RandomStream& random) const;

  // A draw of alpha_j given the state.
  static double DrawAlpha(const MixedState& state, const RewardStats& group,
                          RandomStream& random);
  // A draw of the next reward: of this group, of a new group.
  static double Predict(const MixedState& state, const RewardStats& group,
                        RandomStream& random);
  static double PredictNew(const MixedState& state, RandomStream& random);

  // Draws the next reward of each of `arms`; an arm without rewards is a new
  // group. Every arm is drawn from its own marginal of the posterior: the state
  // moves between draws. A recorded stream holds the worths themselves.
  void DrawWorths(const MixedSweeps& sweeps, absl::Span<const RewardStats> arms,
                  MixedState& state, RandomStream& random,
                  std::vector<double>& worths) const;

  // ln of the posterior density of a state, up to a constant.
  double LogDensity(const MixedState& state) const;

 private:
  struct SizeClass {
    double size = 0;    // rewards in each of its groups
    RewardStats means;  // over its groups
  };
  std::vector<SizeClass> classes_;
  double free_ = 0;    // rewards - groups
  double within_ = 0;  // sum of squares within groups
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_BANDIT_MIXED_MODEL_H_
