// Choosing among steps by where they lead (phi-decoding; see phi.cc).
#ifndef ESPALIER_SEARCH_SAMPLING_FORESIGHT_H_
#define ESPALIER_SEARCH_SAMPLING_FORESIGHT_H_

#include <string>
#include <vector>

#include "base/random.h"

namespace espalier {

// Indices of the steps whose mean log p is above mean - sigmas * standard
// deviation of all, by more than rounding, in order.
std::vector<size_t> AboveWidth(const std::vector<double>& mean_logprobs,
                               double sigmas);

// The same, but if there are fewer than `least`, the missing ones are drawn
// from the others by softmax(mean log p / tau).
std::vector<size_t> PruneWidth(const std::vector<double>& mean_logprobs,
                               double sigmas, size_t least, double tau,
                               RandomStream& random);

// Cluster index of each: equal outcomes form a cluster, numbered in order of
// first appearance; cluster `clusters` - 1 takes all further ones.
std::vector<size_t> Clusters(const std::vector<std::string>& outcomes,
                             size_t clusters);

// For each, the share of all that is in the same cluster.
std::vector<double> ClusterShares(const std::vector<size_t>& clusters);

// Members of the largest cluster, in order; ties go to the last cluster.
std::vector<size_t> LargestCluster(const std::vector<size_t>& clusters);

// (softmax(advantages / tau) + softmax(shares)) / 2.
std::vector<double> JointWeights(const std::vector<double>& advantages,
                                 const std::vector<double>& shares, double tau);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_SAMPLING_FORESIGHT_H_
