// The tokens of one sampled step, with what the model reported of each: one
// form from the scheduler's rows (models/schedule) over a backend's completions
// to the search and its response log, moved from each to the next.
#ifndef ESPALIER_BASE_STEP_TOKENS_H_
#define ESPALIER_BASE_STEP_TOKENS_H_

#include <cstdint>
#include <limits>
#include <vector>

namespace espalier {

struct TokenLogprob {
  int32_t token = 0;
  float logprob = 0;  // ln p at temperature 1, no filter

  bool operator==(const TokenLogprob&) const = default;
};

// Every list but `alternatives` and `hidden` has one entry per token, or none
// if it was not requested.
struct StepTokens {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;          // ln p at temperature 1, no filter
  std::vector<float> sampler_logprobs;  // ln of the sampler's probability
  // Entropy of the model's distribution in nats at temperature 1: the mean over
  // the tokens, NaN if the model does not report it, and each token's.
  float mean_entropy = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> entropies;
  // Minus the mean ln p of the k most likely tokens (of all, if the vocabulary
  // is smaller) at temperature 1, no filter; higher is more confident
  // (DeepConf, arXiv:2508.15260).
  std::vector<float> confidences;
  // The k most likely tokens at each position, equally many for each: those of
  // the first token, then those of the second, and so on; most likely first,
  // ties by lower id.
  std::vector<TokenLogprob> alternatives;
  // [hidden_size]: the trunk's output after its final norm, from which the last
  // token was drawn.
  std::vector<float> hidden;
};

}  // namespace espalier

#endif  // ESPALIER_BASE_STEP_TOKENS_H_
