// From logits to a token: filters, a draw, and the values recorded with it.
//
//   TokenDistribution d;  // used again for the next row: keeps its memory
//   ESP_RETURN_IF_ERROR(d.Assign(logits, options));
//   Sampled s = d.Draw(RandomStream::UniformAt(key, t));
//
// The sampler's distribution is computed in stages, each applied to what the
// previous one kept:
//   0 repetition penalty: l_i / penalty if l_i > 0, else l_i * penalty, for
//             tokens that occur in the text (Keskar et al. 2019,
//             arXiv:1909.05858)
//   1 temperature: w_i = exp((l_i - max l) / temperature)
//   2 top-k:  the k largest w; ties by lower id
//   3 top-p:  the fewest of the largest w whose sum reaches top_p of the sum
//             of what stage 2 kept (Holtzman et al. 2020)
//   4 min-p:  w_i >= min_p * max w (Nguyen et al. 2024)
// A draw inverts the cumulative sum in id order. Weights are single precision
// and summed in the same order on every instruction set (softmax.h), so a draw
// depends only on logits, options and the uniform number. Temperature 0 takes
// the largest logit, ties by lowest id. The most likely token is always kept.
//
// Thread-compatible; Draw and the other const methods are thread-safe.
#ifndef ESPALIER_MODELS_SAMPLING_SAMPLER_H_
#define ESPALIER_MODELS_SAMPLING_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/backend/backend.h"

namespace espalier {

// log-prob and entropy are the model's: temperature 1, no filter.
struct Sampled {
  int32_t token = 0;
  float logprob = 0;          // ln p(token)
  float sampler_logprob = 0;  // ln of its sampling probability
  float entropy = 0;          // of the whole distribution, nats
};

// InvalidArgument naming the invalid option.
absl::Status CheckSamplingOptions(const SamplingOptions& options);

class TokenDistribution {
 public:
  // Fails on options as above, and on logits that are empty or not finite.
  // `logits` must outlive the use. `seen`: the distinct tokens to apply the
  // repetition penalty to.
  absl::Status Assign(absl::Span<const float> logits,
                      const SamplingOptions& options,
                      absl::Span<const int32_t> seen = {});

  // The token at `uniform` in [0, 1) of the cumulative distribution.
  Sampled Draw(float uniform) const;
  // ln p of a token at temperature 1, no filter.
  float Logprob(int32_t token) const {
    return static_cast<float>(logits_[static_cast<size_t>(token)] - max_ -
                              log_sum_);
  }
  // Minus the mean ln p of the `k` most likely tokens, or of all if fewer; k >=
  // 1.
  float Confidence(int k) const;
  // The `n` most likely tokens, or all if fewer; ties by lowest id.
  std::vector<TokenLogprob> Alternatives(int n) const;

 private:
  enum class Kind : uint8_t { kGreedy, kAll, kFiltered };
  absl::Status CheckFinite(float highest) const;
  void Filter(const SamplingOptions& options);
  Sampled Found(int32_t token, double weight, double total) const;

  absl::Span<const float> logits_;
  double max_ = 0;      // largest logit
  double log_sum_ = 0;  // ln sum exp(l_i - max_)
  float entropy_ = 0;
  Kind kind_ = Kind::kAll;
  bool plain_ = false;              // draws from the model's own distribution
  int32_t top_token_ = 0;           // under the sampler
  std::vector<float> penalized_;    // logits after stage 0
  std::vector<float> weights_;      // of all tokens, after stage 1
  std::vector<double> block_sums_;  // of weights_
  std::vector<int32_t> ids_;        // kFiltered: kept tokens, ascending
  std::vector<double> cumulative_;  // and running sums of their weights
};

absl::StatusOr<Sampled> Sample(absl::Span<const float> logits,
                               const SamplingOptions& options, float uniform);

}  // namespace espalier

#endif  // ESPALIER_MODELS_SAMPLING_SAMPLER_H_
