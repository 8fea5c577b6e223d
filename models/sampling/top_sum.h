// The sum of the highest logits of a row, vectorised: blocks with nothing above
// the lowest of the highest so far are skipped.
//
// Bits do not depend on the instruction set. Stateless function: thread-safe.
#ifndef ESPALIER_MODELS_SAMPLING_TOP_SUM_H_
#define ESPALIER_MODELS_SAMPLING_TOP_SUM_H_

#include <cstddef>

namespace espalier {

// Sum of the `k` highest of n >= 1 finite logits, 1 <= k <= n.
double SumHighest(const float* logits, size_t n, size_t k);

}  // namespace espalier

#endif  // ESPALIER_MODELS_SAMPLING_TOP_SUM_H_
