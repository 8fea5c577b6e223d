// The sum of the highest logits of a row, by vector instructions: what does not
// reach the lowest of the highest so far is passed over in blocks.
//
// Bits do not depend on the instruction set. Stateless function: thread-safe.
#ifndef ESPALIER_MODELS_SAMPLING_TOP_SUM_H_
#define ESPALIER_MODELS_SAMPLING_TOP_SUM_H_

#include <cstddef>

namespace espalier {

// Of the `k` highest of n >= 1 finite logits, 1 <= k <= n; of equals as many as
// there is room for.
double SumHighest(const float* logits, size_t n, size_t k);

}  // namespace espalier

#endif  // ESPALIER_MODELS_SAMPLING_TOP_SUM_H_
