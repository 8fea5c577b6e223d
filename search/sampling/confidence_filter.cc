#include "search/sampling/confidence_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace espalier {
namespace {

// Rounds to three decimals like the authors' library.
double Thousandths(double x) { return std::nearbyint(x * 1000) / 1000; }

// Number of groups with the same sum to check for rounding: even two are rare
// unless a response repeats itself.
constexpr int kHalfwayGroups = 64;

}  // namespace

void TokenGroups::Add(absl::Span<const float> confidences) {
  for (const float confidence : confidences) {
    tokens_.push_back(static_cast<int32_t>(
        std::lround(static_cast<double>(confidence) * 1000)));
    sum_ += tokens_.back();
    if (tokens_.size() > window_) sum_ -= tokens_[tokens_.size() - 1 - window_];
    if (tokens_.size() == window_) lowest_ = sum_;
    if (tokens_.size() > window_) lowest_ = std::min(lowest_, sum_);
    AddUnrounded(confidence);
  }
}

void TokenGroups::AddUnrounded(float confidence) {
  unrounded_.push_back(confidence);
  unrounded_sum_ += confidence;
  const size_t n = unrounded_.size();
  if (n > window_) unrounded_sum_ -= unrounded_[n - 1 - window_];
  if (n == window_ || (n > window_ && unrounded_sum_ < lowest_unrounded_)) {
    lowest_unrounded_ = unrounded_sum_;
  }
}

double TokenGroups::LowestUnrounded() const {
  if (tokens_.size() < window_) return std::numeric_limits<double>::infinity();
  return lowest_unrounded_ / static_cast<double>(window_);
}

double TokenGroups::OnlineConfidence() const {
  if (tokens_.size() < window_) return Mean(tokens_.size());
  const auto size = static_cast<int64_t>(window_);
  if (2 * (lowest_ % size) != size) return Thousandths(LowestGroup());
  // Halfway between two thousandths, the rounding error of the program's sum
  // decides: repeat its summation over each of the lowest groups until one is
  // rounded down. A response that repeats itself may have thousands of them.
  double lowest = std::numeric_limits<double>::infinity();
  int64_t sum = 0;
  int looked_at = 0;
  for (size_t i = 0; i < tokens_.size() && looked_at < kHalfwayGroups; ++i) {
    sum += tokens_[i];
    if (i >= window_) sum -= tokens_[i - window_];
    if (i + 1 < window_ || sum != lowest_) continue;
    ++looked_at;
    double mean = 0;
    for (size_t t = i + 1 - window_; t <= i; ++t) mean += tokens_[t] / 1000.0;
    lowest = std::min(lowest, Thousandths(mean / static_cast<double>(size)));
    if (lowest < LowestGroup()) break;
  }
  return lowest;
}

double TokenGroups::LowestGroup() const {
  if (tokens_.size() < window_) return std::numeric_limits<double>::infinity();
  return static_cast<double>(lowest_) / (1000 * static_cast<double>(window_));
}

double TokenGroups::Mean(size_t last) const {
  if (tokens_.empty()) return 0;
  const size_t n = std::min(last, tokens_.size());
  int64_t sum = 0;
  for (size_t i = tokens_.size() - n; i < tokens_.size(); ++i) {
    sum += tokens_[i];
  }
  return static_cast<double>(sum) / (1000 * static_cast<double>(n));
}

double TokenGroups::Confidence(ConfidenceOf of, int tail) const {
  if (of == ConfidenceOf::kTail) return Mean(static_cast<size_t>(tail));
  if (of == ConfidenceOf::kMean || tokens_.size() < window_) {
    return Mean(tokens_.size());
  }
  if (of == ConfidenceOf::kLowest) return LowestGroup();
  std::vector<int64_t> sums;
  int64_t sum = 0;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    sum += tokens_[i];
    if (i >= window_) sum -= tokens_[i - window_];
    if (i + 1 >= window_) sums.push_back(sum);
  }
  const size_t lowest = std::max<size_t>(1, sums.size() / 10);
  std::nth_element(sums.begin(),
                   sums.begin() + static_cast<std::ptrdiff_t>(lowest) - 1,
                   sums.end());
  int64_t total = 0;
  for (size_t i = 0; i < lowest; ++i) total += sums[i];
  return static_cast<double>(total) /
         (1000 * static_cast<double>(window_) * static_cast<double>(lowest));
}

double ConfidenceThreshold(std::vector<double> confidences, double eta) {
  ESP_CHECK(!confidences.empty());
  const double place =
      (100 - eta) / 100 * static_cast<double>(confidences.size() - 1);
  const auto below = static_cast<size_t>(place);
  const auto at = confidences.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(confidences.begin(), at, confidences.end());
  if (below + 1 == confidences.size()) return *at;
  const double above = *std::min_element(at + 1, confidences.end());
  return *at + (above - *at) * (place - static_cast<double>(below));
}

}  // namespace espalier
