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

// Mean of one value per problem, hence not all 0 or 1 (Efron 1979). `values` is
// not empty. Deterministic for a seed.
MeanWithInterval BootstrapMean(absl::Span<const double> values, uint64_t seed,
                               int resamples = 10000);

// 95 % interval of the mean accuracy over problems. Each problem has one value,
// the mean over its seeds; more seeds do not count as more problems. Wilson's
// interval with one seed or if all values are equal, else the bootstrap's. [0,
// 1] for none.
Interval ShareInterval(absl::Span<const double> shares);

// Over a[i] - b[i].
using PairedDifference = MeanWithInterval;

// Compares two methods on the same problems: a[i] and b[i] are their scores (0
// or 1) on problem i. Same size, not empty. Deterministic for a seed.
PairedDifference ComparePaired(absl::Span<const double> a,
                               absl::Span<const double> b, uint64_t seed,
                               int resamples = 10000);

// Area under the ROC curve: the chance that a random positive scores above a
// random negative, ties counting half (Mann-Whitney). NaN scores are ignored.
// NaN without both classes.
double AreaUnderCurve(const std::vector<std::pair<double, bool>>& scored);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_STATISTICS_H_
