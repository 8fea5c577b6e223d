// From logits to a token: filters, a draw, and what the trace records of it.
//
//   ESP_ASSIGN_OR_RETURN(const TokenDistribution d,
//                        TokenDistribution::Create(logits, options));
//   Sampled s = d.Draw(RandomStream::UniformAt(key, t));
//
// The sampler's distribution is made in this order, each stage on what the
// one before has kept:
//   1 temperature: w_i = exp((l_i - max l) / temperature)
//   2 top-k:  the k largest w; of equals the lower id stays
//   3 top-p:  the fewest of the largest w whose sum reaches top_p of the sum
//             of what stage 2 kept (Holtzman et al. 2020)
//   4 min-p:  w_i >= min_p * max w (Nguyen et al. 2024)
// A draw inverts the cumulative sum in id order. All sums are in double
// precision and in one order, so a draw is a function of logits, options and
// the uniform number alone. Temperature 0 takes the largest logit, of equals
// the lowest id. The likeliest token always stays.
//
// Immutable after Create; thread-safe.
#ifndef ESPALIER_MODELS_SAMPLING_SAMPLER_H_
#define ESPALIER_MODELS_SAMPLING_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/schedule/backend.h"

namespace espalier {

// log-prob and entropy are those of the model: temperature 1, no filter.
struct Sampled {
  int32_t token = 0;
  float logprob = 0;          // ln p(token)
  float sampler_logprob = 0;  // ln of the chance with which it was drawn
  float entropy = 0;          // of the whole distribution, nats
};

// InvalidArgument naming the option whose value makes no sense.
absl::Status CheckSamplingOptions(const SamplingOptions& options);

class TokenDistribution {
 public:
  // Fails on options as above, and on logits that are empty or not finite.
  // `logits` must outlive the distribution.
  static absl::StatusOr<TokenDistribution> Create(
      absl::Span<const float> logits, const SamplingOptions& options);

  // The token at `uniform` in [0, 1) of the cumulative distribution.
  Sampled Draw(float uniform) const;

 private:
  absl::Span<const float> logits_;
  double max_ = 0;      // largest logit
  double log_sum_ = 0;  // ln sum exp(l_i - max_)
  float entropy_ = 0;
  bool plain_ = false;              // drawn from the model's own distribution
  std::vector<int32_t> ids_;        // kept tokens, ascending
  std::vector<double> cumulative_;  // running sums of their weights
};

// One draw.
absl::StatusOr<Sampled> Sample(absl::Span<const float> logits,
                               const SamplingOptions& options, float uniform);

}  // namespace espalier

#endif  // ESPALIER_MODELS_SAMPLING_SAMPLER_H_
