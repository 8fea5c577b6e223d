#include "search/sampling/foresight.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "search/parts/resample.h"

namespace espalier {

std::vector<size_t> PruneWidth(const std::vector<double>& mean_logprobs,
                               double sigmas, size_t least) {
  std::vector<size_t> order(mean_logprobs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (sigmas == 0) return order;
  const double n = static_cast<double>(mean_logprobs.size());
  double mean = 0, squares = 0;
  for (const double x : mean_logprobs) mean += x / n;
  for (const double x : mean_logprobs) squares += (x - mean) * (x - mean) / n;
  const double limit = mean - sigmas * std::sqrt(squares);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return mean_logprobs[a] > mean_logprobs[b];
  });
  size_t kept = 0;
  while (kept < order.size() &&
         (kept < least || mean_logprobs[order[kept]] > limit)) {
    ++kept;
  }
  order.resize(kept);
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<double> ClusterShares(const std::vector<std::string>& outcomes) {
  std::map<std::string, double> sizes;
  for (const std::string& outcome : outcomes) ++sizes[outcome];
  std::vector<double> shares;
  for (const std::string& outcome : outcomes) {
    shares.push_back(sizes[outcome] / static_cast<double>(outcomes.size()));
  }
  return shares;
}

std::vector<double> JointWeights(const std::vector<double>& advantages,
                                 const std::vector<double>& shares,
                                 double tau) {
  std::vector<double> weights = Softmax(advantages, tau);
  const std::vector<double> alignment = Softmax(shares, 1);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = (weights[i] + alignment[i]) / 2;
  }
  return weights;
}

}  // namespace espalier
