// Intervals and comparisons for reported figures. Stateless: thread-safe.
#ifndef ESPALIER_SRC_EVAL_STATISTICS_H_
#define ESPALIER_SRC_EVAL_STATISTICS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace espalier {

struct Interval {
  double low = 0;
  double high = 1;
};

// 95 % Wilson score interval of a share `successes` / `n` (Wilson 1927);
// [0, 1] for n = 0.
Interval WilsonInterval(int64_t successes, int64_t n);

struct MeanWithInterval {
  double mean = 0;
  Interval interval;  // 95 % percentile bootstrap over the values
};

// Mean of values that are one a problem, hence not all 0 or 1 (Efron 1979).
// Not empty. Deterministic for a seed.
MeanWithInterval BootstrapMean(absl::Span<const double> values, uint64_t seed,
                               int resamples = 10000);

// 95 % interval of the mean share of right answers over problems, a value a
// problem: the mean of its seeds, which are no further problems. With one seed,
// or where all values are equal, Wilson's for as many problems; else the
// bootstrap's. [0, 1] for none.
Interval ShareInterval(absl::Span<const double> shares);

// Of a[i] - b[i].
using PairedDifference = MeanWithInterval;

// Compares two methods on the same problems: a[i] and b[i] are their scores
// (0 or 1) on problem i. Same size, not empty. Deterministic for a seed.
PairedDifference ComparePaired(absl::Span<const double> a,
                               absl::Span<const double> b, uint64_t seed,
                               int resamples = 10000);

// Area under the ROC curve: the chance that a random positive scores above a
// random negative, ties counting half (Mann-Whitney). Scores that are NaN are
// left out. NaN without both kinds.
double AreaUnderCurve(const std::vector<std::pair<double, bool>>& scored);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_STATISTICS_H_
