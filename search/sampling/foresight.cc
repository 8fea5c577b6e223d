#include "search/sampling/foresight.h"

#include <algorithm>
#include <cmath>

#include "search/parts/resample.h"

namespace espalier {
namespace {

// If steps have two values, equally often, the limit at one standard deviation
// is the lower value itself, and rounding must not keep it.
constexpr double kRounding = 1e-6;

}  // namespace

std::vector<size_t> AboveWidth(const std::vector<double>& mean_logprobs,
                               double sigmas) {
  const double n = static_cast<double>(mean_logprobs.size());
  double sum = 0, squares = 0;
  for (const double x : mean_logprobs) sum += x;
  const double mean = sum / n;
  for (const double x : mean_logprobs) squares += (x - mean) * (x - mean);
  const double limit = mean - sigmas * std::sqrt(squares / n);
  std::vector<size_t> kept;
  for (size_t i = 0; i < mean_logprobs.size(); ++i) {
    if (mean_logprobs[i] > limit + kRounding) kept.push_back(i);
  }
  return kept;
}

std::vector<size_t> PruneWidth(const std::vector<double>& mean_logprobs,
                               double sigmas, size_t least, double tau,
                               RandomStream& random) {
  std::vector<size_t> kept = AboveWidth(mean_logprobs, sigmas);
  if (kept.size() >= least) return kept;
  std::vector<size_t> others;
  std::vector<double> of_others;
  for (size_t i = 0; i < mean_logprobs.size(); ++i) {
    if (std::find(kept.begin(), kept.end(), i) != kept.end()) continue;
    others.push_back(i);
    of_others.push_back(mean_logprobs[i]);
  }
  for (const size_t i :
       DrawDistinct(Softmax(of_others, tau),
                    static_cast<int>(least - kept.size()), random)) {
    kept.push_back(others[i]);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

std::vector<size_t> Clusters(const std::vector<std::string>& outcomes,
                             size_t clusters) {
  std::vector<std::string> known;
  std::vector<size_t> of;
  for (const std::string& outcome : outcomes) {
    const auto found = std::find(known.begin(), known.end(), outcome);
    const auto at = static_cast<size_t>(found - known.begin());
    if (found == known.end()) known.push_back(outcome);
    of.push_back(std::min(at, clusters - 1));
  }
  return of;
}

std::vector<double> ClusterShares(const std::vector<size_t>& clusters) {
  std::vector<double> shares;
  for (const size_t cluster : clusters) {
    const auto same = std::count(clusters.begin(), clusters.end(), cluster);
    shares.push_back(static_cast<double>(same) /
                     static_cast<double>(clusters.size()));
  }
  return shares;
}

std::vector<size_t> LargestCluster(const std::vector<size_t>& clusters) {
  const auto count = [&](size_t cluster) {
    return std::count(clusters.begin(), clusters.end(), cluster);
  };
  size_t largest = 0;
  for (const size_t cluster : clusters) {
    const bool more = count(cluster) > count(largest);
    const bool later = count(cluster) == count(largest) && cluster > largest;
    if (more || later) largest = cluster;
  }
  std::vector<size_t> members;
  for (size_t i = 0; i < clusters.size(); ++i) {
    if (clusters[i] == largest) members.push_back(i);
  }
  return members;
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
