// 4-bit quantisation with two scales: a float per row of the matrix, and an
// integer multiplier per 64 inputs of the row,
//
//   row[i]  ~  scale * multipliers[i / 64] * numbers[i].
//
// Since multiplier times number fits into int8, products are those of int8
// weights: integer sums, exact in any order.
//
// Thread-safe: no state.
#ifndef ESPALIER_MODELS_KERNELS_INT4_H_
#define ESPALIER_MODELS_KERNELS_INT4_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier {

// Inputs that share a multiplier.
inline constexpr int kInt4Group = 64;

struct Int4Row {
  float scale = 0;
  std::vector<uint8_t> multipliers;  // 0 .. 15, one per group
  std::vector<int8_t> numbers;       // -8 .. 7
  int product(size_t i) const {
    return multipliers[i / kInt4Group] * numbers[i];
  }
};

// Quantises row[0 .. k), choosing each multiplier by least squares among the
// plausible ones. Overwrites `out` but reuses its memory.
void QuantizeInt4(const float* row, int k, Int4Row& out);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_INT4_H_
