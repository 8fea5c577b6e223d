#include "search/rollout/share.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace espalier {
namespace {

// exp(scale x), normalised so that the largest is 1.
std::vector<double> Weights(const std::vector<double>& x, double scale) {
  std::vector<double> weights;
  for (const double value : x) weights.push_back(scale * value);
  const double most = *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights) weight = std::exp(weight - most);
  return weights;
}

}  // namespace

std::vector<int> ShareEvenly(int count, int total) {
  std::vector<int> shares(static_cast<size_t>(count), total / count);
  shares.back() += total % count;
  return shares;
}

std::vector<int> ShareBySoftmax(const std::vector<double>& x, double scale,
                                int total) {
  const std::vector<double> weights = Weights(x, scale);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const int rest = total - static_cast<int>(x.size());
  std::vector<int> shares;
  std::vector<double> remainders;
  int given = 0;
  for (const double weight : weights) {
    const double exact = weight / sum * rest;
    const int whole = static_cast<int>(exact);
    shares.push_back(1 + whole);
    remainders.push_back(exact - whole);
    given += whole;
  }
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return remainders[a] > remainders[b];
  });
  for (size_t i = 0; given < rest; ++i, ++given) ++shares[order[i]];
  return shares;
}

size_t DrawBySoftmax(const std::vector<double>& x, double scale, double u) {
  std::vector<double> sums = Weights(x, scale);
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  const auto at = std::upper_bound(sums.begin(), sums.end(), u * sums.back());
  return std::min(static_cast<size_t>(at - sums.begin()), x.size() - 1);
}

}  // namespace espalier
