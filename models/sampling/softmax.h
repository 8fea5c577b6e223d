// Exponentials of a row of logits and their sums, vectorised.
//
// Bits do not depend on the instruction set: sums run over 16 fixed lanes, then
// over blocks of 256 in double precision, and the exponential uses only
// products and sums (exp x = 2^n exp r with x = n ln 2 + r, Cody and Waite's
// reduction in two parts, and the Taylor polynomial of degree 7: |r| <= ln 2 /
// 2 leaves 6e-9). Relative error of a weight: below 2e-7 plus the rounding of
// its exponent. Weights below e^-87 are 0.
//
// Stateless functions: thread-safe if their outputs do not overlap.
#ifndef ESPALIER_MODELS_SAMPLING_SOFTMAX_H_
#define ESPALIER_MODELS_SAMPLING_SOFTMAX_H_

#include <cstddef>

namespace espalier {

inline constexpr size_t kWeightLanes = 16;
// Entries per block sum.
inline constexpr size_t kWeightBlock = 256;
inline constexpr size_t WeightBlocks(size_t n) {
  return (n + kWeightBlock - 1) / kWeightBlock;
}
// Number of weights written for n logits; those beyond n are 0.
inline constexpr size_t PaddedWeights(size_t n) {
  return (n + kWeightLanes - 1) / kWeightLanes * kWeightLanes;
}

// The highest of n >= 1 logits; NaN if one of them is not finite. `*at` is the
// index of the first maximum.
float HighestLogit(const float* logits, size_t n, size_t* at);

// At temperature 1: sum of e_i and of e_i x_i, x_i = logits[i] - highest and
// e_i = exp x_i.
struct SoftmaxSums {
  double exps = 0;
  double weighted = 0;
};
SoftmaxSums SumExps(const float* logits, size_t n, float highest);

// weights[i] = exp((logits[i] - highest) / temperature); `block_sums` gets the
// sum of each block. Also returns SumExps of the same logits if `sums`.
SoftmaxSums ExpWeights(const float* logits, size_t n, float highest,
                       float temperature, bool sums, float* weights,
                       double* block_sums);

}  // namespace espalier

#endif  // ESPALIER_MODELS_SAMPLING_SOFTMAX_H_
