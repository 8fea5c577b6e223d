#include "models/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "models/sampling/softmax.h"
#include "models/sampling/top_sum.h"
#include "models/sampling/top_tokens.h"

namespace espalier {

absl::Status CheckSamplingOptions(const SamplingOptions& options) {
  const auto wrong = [](absl::string_view name, float value,
                        absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        "sampling option ", name, " is ", value, "; expected ", expected));
  };
  // Written so that NaN fails.
  if (!(options.temperature >= 0 && std::isfinite(options.temperature))) {
    return wrong("temperature", options.temperature, "0 (greedy) or more");
  }
  if (options.top_k < 0) {
    return wrong("top_k", static_cast<float>(options.top_k), "0 (off) or more");
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    return wrong("top_p", options.top_p, "above 0 and at most 1 (off)");
  }
  if (!(options.min_p >= 0 && options.min_p <= 1)) {
    return wrong("min_p", options.min_p, "0 (off) to 1");
  }
  if (!(options.repetition_penalty > 0 &&
        std::isfinite(options.repetition_penalty))) {
    return wrong("repetition_penalty", options.repetition_penalty,
                 "above 0; 1 is off");
  }
  return absl::OkStatus();
}

absl::Status TokenDistribution::CheckFinite(float highest) const {
  if (highest == highest) return absl::OkStatus();
  size_t at = 0;
  while (std::isfinite(logits_[at])) ++at;
  return absl::InternalError(
      absl::StrCat("the model gave the logit ", logits_[at], " for token ", at,
                   "; expected finite numbers (damaged weights?)"));
}

absl::Status TokenDistribution::Assign(absl::Span<const float> logits,
                                       const SamplingOptions& options,
                                       absl::Span<const int32_t> seen) {
  ESP_RETURN_IF_ERROR(CheckSamplingOptions(options));
  if (logits.empty()) return absl::InvalidArgumentError("no logits");
  logits_ = logits;
  const size_t n = logits.size();
  size_t at = 0;
  float highest = HighestLogit(logits.data(), n, &at);
  ESP_RETURN_IF_ERROR(CheckFinite(highest));
  max_ = highest;
  const bool penalty = options.repetition_penalty != 1 && !seen.empty();
  const bool filter =
      (options.top_k > 0 && static_cast<size_t>(options.top_k) < n) ||
      options.top_p < 1 || options.min_p > 0;
  plain_ = options.temperature == 1 && !filter && !penalty;
  kind_ = options.temperature == 0 ? Kind::kGreedy
          : filter                 ? Kind::kFiltered
                                   : Kind::kAll;
  const float* drawn_from = logits.data();
  SoftmaxSums sums;
  if (penalty || kind_ == Kind::kGreedy) {
    sums = SumExps(logits.data(), n, highest);
  }
  if (penalty) {
    penalized_.assign(logits.begin(), logits.end());
    for (const int32_t token : seen) {
      float& l = penalized_[static_cast<size_t>(token)];
      l = l > 0 ? l / options.repetition_penalty
                : l * options.repetition_penalty;
      // Avoid infinities from a huge penalty.
      l = std::clamp(l, std::numeric_limits<float>::lowest(),
                     std::numeric_limits<float>::max());
    }
    drawn_from = penalized_.data();
    highest = HighestLogit(drawn_from, n, &at);
  }
  top_token_ = static_cast<int32_t>(at);
  if (kind_ != Kind::kGreedy) {
    weights_.resize(PaddedWeights(n));
    block_sums_.resize(WeightBlocks(n));
    const SoftmaxSums own =
        ExpWeights(drawn_from, n, highest, options.temperature, !penalty,
                   weights_.data(), block_sums_.data());
    if (!penalty) sums = own;
  }
  log_sum_ = std::log(sums.exps);
  entropy_ =
      static_cast<float>(std::max(0.0, log_sum_ - sums.weighted / sums.exps));
  if (kind_ == Kind::kFiltered) Filter(options);
  return absl::OkStatus();
}

// Stages 2 to 4.
void TokenDistribution::Filter(const SamplingOptions& options) {
  const size_t n = logits_.size();
  WeightCut cut;
  if (options.top_k > 0 || options.top_p < 1) {
    cut = CutToTopTokens(absl::MakeConstSpan(weights_).subspan(0, n),
                         options.top_k, options.top_p);
  }
  if (options.min_p > cut.weight) cut = WeightCut{.weight = options.min_p};
  ids_.clear();
  cumulative_.clear();
  double running = 0;
  for (size_t i = 0; i < n; ++i) {
    const float weight = weights_[i];
    const auto id = static_cast<int32_t>(i);
    if (weight == 0 || !cut.Keeps(weight, id)) continue;
    running += static_cast<double>(weight);
    ids_.push_back(id);
    cumulative_.push_back(running);
  }
}

Sampled TokenDistribution::Found(int32_t token, double weight,
                                 double total) const {
  const float logprob = Logprob(token);
  return {token, logprob,
          plain_ ? logprob : static_cast<float>(std::log(weight / total)),
          entropy_};
}

Sampled TokenDistribution::Draw(float uniform) const {
  if (kind_ == Kind::kGreedy) return Found(top_token_, 1, 1);
  if (kind_ == Kind::kFiltered) {
    const double target = static_cast<double>(uniform) * cumulative_.back();
    const auto it =
        std::upper_bound(cumulative_.begin(), cumulative_.end(), target);
    // Guards against rounding; the target is at the end only if uniform is 1.
    const size_t at = std::min(static_cast<size_t>(it - cumulative_.begin()),
                               cumulative_.size() - 1);
    return Found(ids_[at], cumulative_[at] - (at > 0 ? cumulative_[at - 1] : 0),
                 cumulative_.back());
  }
  const double total =
      std::accumulate(block_sums_.begin(), block_sums_.end(), 0.0);
  double left = static_cast<double>(uniform) * total;
  size_t block = 0;
  while (block + 1 < block_sums_.size() && left >= block_sums_[block]) {
    left -= block_sums_[block++];
  }
  while (block_sums_[block] == 0)
    --block;  // the most likely token's block is
              // not 0
  const size_t begin = block * kWeightBlock;
  const size_t end = std::min(logits_.size(), begin + kWeightBlock);
  size_t token = begin, heaviest = begin;
  for (; token < end; ++token) {
    left -= static_cast<double>(weights_[token]);
    if (left < 0) break;
    if (weights_[token] > weights_[heaviest]) heaviest = token;
  }
  // If rounding skips the whole block, take its heaviest token.
  if (token == end) token = heaviest;
  return Found(static_cast<int32_t>(token),
               static_cast<double>(weights_[token]), total);
}

float TokenDistribution::Confidence(int k) const {
  const size_t most = std::min(static_cast<size_t>(k), logits_.size());
  return static_cast<float>(max_ + log_sum_ -
                            SumHighest(logits_.data(), logits_.size(), most) /
                                static_cast<double>(most));
}

std::vector<TokenLogprob> TokenDistribution::Alternatives(int n) const {
  std::vector<TokenLogprob> best;
  if (n < 1) return best;
  const size_t most = std::min(static_cast<size_t>(n), logits_.size());
  best.reserve(most + 1);
  for (size_t i = 0; i < logits_.size(); ++i) {
    const float l = logits_[i];
    if (best.size() == most && !(l > best.back().logprob)) continue;
    const auto at = std::upper_bound(
        best.begin(), best.end(), l,
        [](float x, const TokenLogprob& b) { return x > b.logprob; });
    best.insert(at, {static_cast<int32_t>(i), l});
    if (best.size() > most) best.pop_back();
  }
  for (TokenLogprob& b : best) b.logprob = Logprob(b.token);
  return best;
}

absl::StatusOr<Sampled> Sample(absl::Span<const float> logits,
                               const SamplingOptions& options, float uniform) {
  TokenDistribution d;
  ESP_RETURN_IF_ERROR(d.Assign(logits, options));
  return d.Draw(uniform);
}

}  // namespace espalier
