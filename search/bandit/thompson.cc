#include "search/bandit/thompson.h"

#include <cmath>

#include "search/bandit/draws.h"

namespace espalier {

GaussianBelief Posterior(const GaussianBelief& prior, const RewardStats& seen) {
  const double n = seen.count, off = prior.m - seen.mean;
  const double kappa = prior.kappa + n, nu = prior.nu + n;
  return {.m = (prior.kappa * prior.m + n * seen.mean) / kappa,
          .kappa = kappa,
          .nu = nu,
          .tau2 = (prior.nu * prior.tau2 + seen.squares +
                   n * prior.kappa * off * off / kappa) /
                  nu};
}

BetaBelief Posterior(const BetaBelief& prior, const RewardStats& seen) {
  return {.a = prior.a + seen.count * seen.mean,
          .b = prior.b + seen.count * (1 - seen.mean)};
}

void ThompsonPrior::Visit(OptionVisitor& v) {
  VisitChoice(v, "prior", &kind, kPriorKindNames,
              "prior over an arm's rewards");
  v.Real("m", &m, -100, 100, "prior mean (gaussian)");
  v.Real("kappa", &kappa, 1e-6f, 1e6f,
         "number of pseudo-observations behind m (gaussian)");
  v.Real("nu", &nu, 0.01f, 1e6f,
         "number of pseudo-observations behind tau2 (gaussian)");
  v.Real("tau2", &tau2, 1e-9f, 1e6f, "prior variance (gaussian)");
  v.Real("a", &a, 1e-3f, 1e6f, "prior successes (beta)");
  v.Real("b", &b, 1e-3f, 1e6f, "prior failures (beta)");
}

double ThompsonPrior::Draw(const RewardStats& seen,
                           RandomStream& random) const {
  if (kind == PriorKind::kBeta) {
    const BetaBelief now = Posterior(BetaBelief{a, b}, seen);
    return DrawBeta(now.a, now.b, random);
  }
  const GaussianBelief now =
      Posterior(GaussianBelief{m, kappa, nu, tau2}, seen);
  return now.m + std::sqrt(now.tau2 / now.kappa) * DrawStudentT(now.nu, random);
}

}  // namespace espalier
