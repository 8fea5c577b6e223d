// Distributes a budget of copies over paths, and draws one of them.
#ifndef ESPALIER_SEARCH_ROLLOUT_SHARE_H_
#define ESPALIER_SEARCH_ROLLOUT_SHARE_H_

#include <cstddef>
#include <vector>

namespace espalier {

// `total` >= `count` >= 1 copies: equal shares, the last path gets the rest.
std::vector<int> ShareEvenly(int count, int total);
// One copy per path, the rest in proportion to exp(scale x) by the method of
// largest remainders, ties to the first. `total` is at least x.size() >= 1.
std::vector<int> ShareBySoftmax(const std::vector<double>& x, double scale,
                                int total);
// An index with probability exp(scale x) / sum, from the uniform `u` in [0, 1).
size_t DrawBySoftmax(const std::vector<double>& x, double scale, double u);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_ROLLOUT_SHARE_H_
