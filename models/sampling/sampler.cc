#include "models/sampling/sampler.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/base/status_macros.h"

namespace espalier {
namespace {

struct Weighted {
  double weight;
  int32_t id;
};

// Orders a heap so that the largest weight, then the lowest id, is on top.
bool Below(const Weighted& a, const Weighted& b) {
  return a.weight != b.weight ? a.weight < b.weight : a.id > b.id;
}

// Stages 2 and 3 of the header: `kept` in id order, cut down in place.
void KeepLikeliest(const SamplingOptions& options,
                   std::vector<Weighted>& kept) {
  const bool by_count =
      options.top_k > 0 && static_cast<size_t>(options.top_k) < kept.size();
  const bool by_mass = options.top_p < 1;
  if (!by_count && !by_mass) return;
  double total = 0;
  for (const Weighted& w : kept) total += w.weight;
  std::make_heap(kept.begin(), kept.end(), Below);
  auto largest_first = [&, end = kept.end()]() mutable {
    std::pop_heap(kept.begin(), end, Below);
    return *--end;
  };
  std::vector<Weighted> best;
  if (by_count) {
    total = 0;
    for (int i = 0; i < options.top_k; ++i) {
      best.push_back(largest_first());
      total += best.back().weight;
    }
  }
  if (by_mass) {
    double sum = 0;
    size_t n = 0;
    while (true) {
      if (n == best.size()) {
        if (by_count || n == kept.size()) break;
        best.push_back(largest_first());
      }
      sum += best[n++].weight;
      if (sum >= static_cast<double>(options.top_p) * total) break;
    }
    best.resize(n);
  }
  std::sort(best.begin(), best.end(),
            [](const Weighted& a, const Weighted& b) { return a.id < b.id; });
  kept = std::move(best);
}

}  // namespace

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
  return absl::OkStatus();
}

absl::StatusOr<TokenDistribution> TokenDistribution::Create(
    absl::Span<const float> logits, const SamplingOptions& options) {
  ESP_RETURN_IF_ERROR(CheckSamplingOptions(options));
  if (logits.empty()) return absl::InvalidArgumentError("no logits");
  TokenDistribution d;
  d.logits_ = logits;
  int32_t likeliest = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!std::isfinite(logits[i])) {
      return absl::InternalError(
          absl::StrCat("the model gave the logit ", logits[i], " for token ", i,
                       "; expected finite numbers (damaged weights?)"));
    }
    if (logits[i] > logits[likeliest]) likeliest = static_cast<int32_t>(i);
  }
  d.max_ = logits[likeliest];
  double sum = 0, weighted = 0;
  for (const float l : logits) {
    const double x = l - d.max_;
    const double e = std::exp(x);
    sum += e;
    weighted += e * x;
  }
  d.log_sum_ = std::log(sum);
  d.entropy_ = static_cast<float>(std::max(0.0, d.log_sum_ - weighted / sum));
  d.plain_ = options.temperature == 1 && options.top_k == 0 &&
             options.top_p == 1 && options.min_p == 0;
  if (options.temperature == 0) {
    d.ids_ = {likeliest};
    d.cumulative_ = {1};
    return d;
  }
  std::vector<Weighted> kept(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    const double x = (logits[i] - d.max_) / options.temperature;
    kept[i] = {std::exp(x), static_cast<int32_t>(i)};
  }
  KeepLikeliest(options, kept);
  double running = 0;
  for (const auto& [weight, id] : kept) {
    // The largest weight is exactly 1.
    if (weight == 0 || weight < static_cast<double>(options.min_p)) continue;
    running += weight;
    d.ids_.push_back(id);
    d.cumulative_.push_back(running);
  }
  return d;
}

Sampled TokenDistribution::Draw(float uniform) const {
  const double target = static_cast<double>(uniform) * cumulative_.back();
  const auto it =
      std::upper_bound(cumulative_.begin(), cumulative_.end(), target);
  // Rounding cannot put the target at the end unless uniform is 1.
  const auto at = std::min<std::ptrdiff_t>(
      it - cumulative_.begin(),
      static_cast<std::ptrdiff_t>(cumulative_.size()) - 1);
  const int32_t token = ids_[at];
  const auto logprob = static_cast<float>(logits_[token] - max_ - log_sum_);
  if (plain_) return {token, logprob, logprob, entropy_};
  const double weight = cumulative_[at] - (at > 0 ? cumulative_[at - 1] : 0);
  return {token, logprob,
          static_cast<float>(std::log(weight / cumulative_.back())), entropy_};
}

absl::StatusOr<Sampled> Sample(absl::Span<const float> logits,
                               const SamplingOptions& options, float uniform) {
  ESP_ASSIGN_OR_RETURN(const TokenDistribution d,
                       TokenDistribution::Create(logits, options));
  return d.Draw(uniform);
}

}  // namespace espalier
