#include "search/parts/resample.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

// Index whose share of [0, sum of weights) contains `at`.
size_t IndexAt(const std::vector<double>& weights, double at) {
  size_t last = 0;  // in case rounding puts `at` beyond the end
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    at -= weights[i];
    if (at < 0) break;
  }
  return last;
}

}  // namespace

std::vector<double> Softmax(const std::vector<double>& x, double temperature) {
  if (x.empty()) return {};
  const double top = *std::max_element(x.begin(), x.end());
  std::vector<double> weights;
  double sum = 0;
  for (const double value : x) {
    weights.push_back(value == top ? 1
                      : temperature == 0
                          ? 0
                          : std::exp((value - top) / temperature));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<size_t> Resample(const std::vector<double>& weights, int n,
                             Resampling how, RandomStream& random) {
  std::vector<size_t> drawn;
  const double shift =
      how == Resampling::kSystematic ? random.UniformDouble() : 0;
  for (int i = 0; i < n; ++i) {
    drawn.push_back(IndexAt(weights, how == Resampling::kSystematic
                                         ? (i + shift) / n
                                         : random.UniformDouble()));
  }
  return drawn;
}

std::vector<size_t> DrawDistinct(std::vector<double> weights, int n,
                                 RandomStream& random) {
  std::vector<size_t> drawn;
  while (static_cast<int>(drawn.size()) < n) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    if (sum <= 0) break;
    const size_t known = drawn.size();
    for (size_t i = known; i < static_cast<size_t>(n); ++i) {
      const size_t at = IndexAt(weights, random.UniformDouble() * sum);
      if (std::find(drawn.begin(), drawn.end(), at) == drawn.end()) {
        drawn.push_back(at);
      }
    }
    for (size_t i = known; i < drawn.size(); ++i) weights[drawn[i]] = 0;
  }
  return drawn;
}

}  // namespace espalier
