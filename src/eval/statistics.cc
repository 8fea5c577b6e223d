#include "src/eval/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/random.h"

namespace espalier {

namespace {

// Wilson interval of a share `p` of `count`.
Interval WilsonOfShare(double p, double count) {
  constexpr double z = 1.959963984540054;  // 97.5 % point of the normal
  const double centre = p + z * z / (2 * count);
  const double spread =
      z * std::sqrt(p * (1 - p) / count + z * z / (4 * count * count));
  const double scale = 1 + z * z / count;
  return {std::max(0.0, (centre - spread) / scale),
          std::min(1.0, (centre + spread) / scale)};
}

}  // namespace

Interval WilsonInterval(int64_t successes, int64_t n) {
  if (n == 0) return {0, 1};
  return WilsonOfShare(static_cast<double>(successes) / static_cast<double>(n),
                       static_cast<double>(n));
}

Interval ShareInterval(absl::Span<const double> shares) {
  if (shares.empty()) return {0, 1};
  bool whole = true, equal = true;
  double sum = 0;
  for (const double share : shares) {
    whole = whole && (share == 0 || share == 1);
    equal = equal && share == shares[0];
    sum += share;
  }
  const auto n = static_cast<double>(shares.size());
  if (whole || equal) return WilsonOfShare(sum / n, n);
  return BootstrapMean(shares, 0).interval;
}

MeanWithInterval BootstrapMean(absl::Span<const double> values, uint64_t seed,
                               int resamples) {
  ESP_CHECK(!values.empty() && resamples >= 40);
  double sum = 0;
  for (const double value : values) sum += value;
  const double count = static_cast<double>(values.size());
  RandomStream rng(StreamKey(seed, values.size(), 0, Purpose::kBootstrap));
  std::vector<double> means(static_cast<size_t>(resamples));
  for (double& mean : means) {
    double total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      total += values[rng.Below(static_cast<uint32_t>(values.size()))];
    }
    mean = total / count;
  }
  std::sort(means.begin(), means.end());
  const auto at = [&](double share) {
    return means[static_cast<size_t>(share * (resamples - 1))];
  };
  return {sum / count, {at(0.025), at(0.975)}};
}

PairedDifference ComparePaired(absl::Span<const double> a,
                               absl::Span<const double> b, uint64_t seed,
                               int resamples) {
  ESP_CHECK(a.size() == b.size());
  std::vector<double> difference(a.size());
  for (size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return BootstrapMean(difference, seed, resamples);
}

double AreaUnderCurve(const std::vector<std::pair<double, bool>>& scored) {
  std::vector<std::pair<double, bool>> sorted;
  for (const auto& [score, positive] : scored) {
    if (!std::isnan(score)) sorted.push_back({score, positive});
  }
  std::sort(sorted.begin(), sorted.end());
  double wins = 0, positives = 0, negatives = 0;
  for (size_t i = 0; i < sorted.size();) {
    double tied_positives = 0, tied_negatives = 0;
    size_t j = i;
    for (; j < sorted.size() && sorted[j].first == sorted[i].first; ++j) {
      (sorted[j].second ? tied_positives : tied_negatives) += 1;
    }
    wins += tied_positives * (negatives + tied_negatives / 2);
    positives += tied_positives;
    negatives += tied_negatives;
    i = j;
  }
  if (positives == 0 || negatives == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return wins / (positives * negatives);
}

}  // namespace espalier
