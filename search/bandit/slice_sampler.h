// One update of a univariate slice sampler (Neal 2003, "Slice sampling",
// figures 3 and 5): leaves the density exp(log_density) on [low, inf)
// invariant.
//
//   1. level     a uniform height under the density at x;
//   2. step out  an interval of `width` around x, extended by `width` at each
//                end until it leaves the slice (or reaches `low`);
//   3. shrink    draw in the interval; a point outside the slice shrinks it.
//
// The density must fall to 0 towards infinity and be positive at x.
#ifndef ESPALIER_SEARCH_BANDIT_SLICE_SAMPLER_H_
#define ESPALIER_SEARCH_BANDIT_SLICE_SAMPLER_H_

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace espalier {

template <class LogDensity>
double SliceStep(double x, double width, double low, LogDensity log_density,
                 RandomStream& random) {
  const double level = log_density(x) + std::log(1 - random.UniformDouble());
  double left = x - width * random.UniformDouble();
  double right = left + width;
  while (left > low && log_density(left) > level) left -= width;
  left = std::max(left, low);
  while (log_density(right) > level) right += width;
  while (true) {
    const double drawn = left + (right - left) * random.UniformDouble();
    // An interval shrunk to nothing is x itself.
    if (drawn == x || log_density(drawn) > level) return drawn;
    (drawn < x ? left : right) = drawn;
  }
}

}  // namespace espalier

#endif  // ESPALIER_SEARCH_BANDIT_SLICE_SAMPLER_H_
