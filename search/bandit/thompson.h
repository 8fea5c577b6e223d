// Reward statistics of a bandit's arm, and Thompson draws of its worth.
//
//   RewardStats arm;
//   arm.Add(0.7);
//   ThompsonPrior prior{.kind = PriorKind::kBeta};
//   double worth = prior.Draw(arm, random);   // the arm with the highest wins
//
// Gaussian: rewards are normal with unknown mean and variance, whose prior is
// Normal-inverse-chi2 (Murphy, "Probabilistic Machine Learning: Advanced
// Topics", 3.4.3.3). After n rewards with mean x:
//
//   kappa' = kappa + n              m'   = (kappa m + n x) / kappa'
//   nu'    = nu + n                 tau2' = (nu tau2 + sum (x_i - x)^2
//                                          + n kappa (m - x)^2 / kappa') / nu'
//
// and the mean is m' + sqrt(tau2' / kappa') times a Student t of nu' degrees of
// freedom. Beta: a reward r in [0, 1] counts as r successes and 1 - r failures;
// the worth is a draw of Beta(a + sum r, b + sum (1 - r)).
#ifndef ESPALIER_SEARCH_BANDIT_THOMPSON_H_
#define ESPALIER_SEARCH_BANDIT_THOMPSON_H_

#include <array>
#include <string_view>

#include "base/random.h"
#include "espalier/method_options.h"

namespace espalier {

struct RewardStats {
  double count = 0;
  double mean = 0;
  double squares = 0;  // sum of squared differences from the mean

  void Add(double reward) {
    count += 1;
    const double off = reward - mean;
    mean += off / count;
    squares += off * (reward - mean);
  }
};

struct GaussianBelief {
  double m, kappa, nu, tau2;
};
struct BetaBelief {
  double a, b;
};

GaussianBelief Posterior(const GaussianBelief& prior, const RewardStats& seen);
BetaBelief Posterior(const BetaBelief& prior, const RewardStats& seen);

enum class PriorKind : uint8_t { kGaussian, kBeta };
inline constexpr std::array<std::string_view, 2> kPriorKindNames = {"gaussian",
                                                                    "beta"};

struct ThompsonPrior {
  PriorKind kind = PriorKind::kGaussian;
  float m = 0;  // TreeQuest's values: rewards are assumed low at first
  float kappa = 1;
  float nu = 1;
  float tau2 = 0.1f;
  float a = 0.5f;  // Jeffreys
  float b = 0.5f;
  void Visit(OptionVisitor& v);

  // A draw of the arm's mean reward.
  double Draw(const RewardStats& seen, RandomStream& random) const;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_BANDIT_THOMPSON_H_
