#include "search/mcts/gumbel_formulas.h"

#include <algorithm>
#include <cmath>

namespace espalier {

HalvingSchedule::HalvingSchedule(int simulations, int candidates)
    : simulations_(simulations), left_(std::max(1, candidates)) {
  if (left_ == 1) return;
  rounds_ = static_cast<int>(std::ceil(std::log2(static_cast<double>(left_))));
  more_ = std::max(1, simulations_ / (rounds_ * left_));
}

void HalvingSchedule::Next() {
  if (++turn_ < left_) return;
  turn_ = 0;
  ++visits_;
  if (left_ == 1 || --more_ > 0) return;
  left_ = std::max(2, left_ / 2);
  more_ = std::max(1, simulations_ / (rounds_ * left_));
}

std::vector<float> CompletedQ(absl::Span<const GumbelAction> actions,
                              float value) {
  float highest = -INFINITY;
  for (const GumbelAction& a : actions) highest = std::max(highest, a.logit);
  double visits = 0, mass = 0, weighted = 0;
  for (const GumbelAction& a : actions) {
    visits += a.visits;
    if (a.visits == 0) continue;
    const double p = std::exp(static_cast<double>(a.logit - highest));
    mass += p;
    weighted += p * a.q;
  }
  const double mean = mass > 0 ? weighted / mass : value;
  const double mixed = (value + visits * mean) / (1 + visits);
  std::vector<float> completed;
  for (const GumbelAction& a : actions) {
    completed.push_back(
        a.visits == 0 && std::isnan(a.q) ? static_cast<float>(mixed) : a.q);
  }
  return completed;
}

std::vector<float> SigmaQ(absl::Span<const float> completed, float max_visits,
                          float c_visit, float c_scale, bool rescale) {
  const auto [low, high] =
      std::minmax_element(completed.begin(), completed.end());
  std::vector<float> sigma;
  for (const float q : completed) {
    const float scaled = !rescale       ? q
                         : *high > *low ? (q - *low) / (*high - *low)
                                        : 0;
    sigma.push_back((c_visit + max_visits) * c_scale * scaled);
  }
  return sigma;
}

std::vector<float> ImprovedPolicy(absl::Span<const GumbelAction> actions,
                                  absl::Span<const float> sigma) {
  float highest = -INFINITY;
  for (size_t i = 0; i < actions.size(); ++i) {
    highest = std::max(highest, actions[i].logit + sigma[i]);
  }
  std::vector<float> policy;
  float sum = 0;
  for (size_t i = 0; i < actions.size(); ++i) {
    policy.push_back(std::exp(actions[i].logit + sigma[i] - highest));
    sum += policy.back();
  }
  for (float& p : policy) p /= sum;
  return policy;
}

std::vector<float> PerturbedLogits(absl::Span<const float> logprobs,
                                   RandomStream random) {
  std::vector<float> perturbed;
  double mass = 1, bound = INFINITY;
  for (const float logprob : logprobs) {
    // A Gumbel with location ln(mass), truncated at `bound`, by inversion.
    const double mean = std::log(std::max(mass, 1e-30));
    const double u = std::max(random.UniformDouble(), 1e-300);
    bound = mean - std::log(std::exp(mean - bound) - std::log(u));
    perturbed.push_back(static_cast<float>(bound));
    mass -= std::exp(static_cast<double>(logprob));
  }
  return perturbed;
}

std::vector<float> FreshlyPerturbedLogits(absl::Span<const float> logprobs,
                                          RandomStream random) {
  std::vector<float> perturbed;
  for (const float logprob : logprobs) {
    const double u = std::max(random.UniformDouble(), 1e-300);
    perturbed.push_back(static_cast<float>(logprob - std::log(-std::log(u))));
  }
  return perturbed;
}

}  // namespace espalier
