// The choice among steps by where they lead (phi-decoding; see phi.cc).
#ifndef ESPALIER_SEARCH_SAMPLING_FORESIGHT_H_
#define ESPALIER_SEARCH_SAMPLING_FORESIGHT_H_

#include <string>
#include <vector>

namespace espalier {

// Indices of the steps whose mean log p is above mean - sigmas * standard
// deviation of all (no limit for sigmas = 0), in order; filled up to `least`
// with the likeliest of the others.
std::vector<size_t> PruneWidth(const std::vector<double>& mean_logprobs,
                               double sigmas, size_t least);

// Share of all that has the same outcome: |cluster| / N, one per outcome.
std::vector<double> ClusterShares(const std::vector<std::string>& outcomes);

// (softmax(advantages / tau) + softmax(shares)) / 2.
std::vector<double> JointWeights(const std::vector<double>& advantages,
                                 const std::vector<double>& shares, double tau);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_SAMPLING_FORESIGHT_H_
