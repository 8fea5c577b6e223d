// Shares of a budget of copies among paths, and one drawn of them.
#ifndef ESPALIER_SEARCH_ROLLOUT_SHARE_H_
#define ESPALIER_SEARCH_ROLLOUT_SHARE_H_

#include <cstddef>
#include <vector>

namespace espalier {

// `total` >= `count` >= 1 copies: each path the same, the last one what is left
// over.
std::vector<int> ShareEvenly(int count, int total);
// Each path one copy, the rest in proportion to exp(scale x) by the method of
// largest remainders, of equals the first. `total` is at least x.size() >= 1.
std::vector<int> ShareBySoftmax(const std::vector<double>& x, double scale,
                                int total);
// An index with the chance exp(scale x) / sum, by the uniform `u` in [0, 1).
size_t DrawBySoftmax(const std::vector<double>& x, double scale, double u);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_ROLLOUT_SHARE_H_
