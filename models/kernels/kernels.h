// The vector kernels of the CPU path, chosen at run time (AVX-512, AVX2,
// plain) from one source.
//
// Every output element is summed in one order that depends on its own row
// alone: over k = 0 .. K-1 in products, over keys in blocks of 64 absolute
// positions in attention. A row's bits therefore do not depend on how many
// other rows are computed with it. They do depend on the kernel path.
//
// Stateless functions: thread-safe where their outputs do not overlap.
#ifndef ESPALIER_MODELS_KERNELS_KERNELS_H_
#define ESPALIER_MODELS_KERNELS_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace espalier {

// Columns of a packed panel; rows of outputs are padded to it.
inline constexpr int kPanel = 64;
inline constexpr int PadToPanel(int n) {
  return (n + kPanel - 1) / kPanel * kPanel;
}

// Query heads that one pass over keys and values serves.
inline constexpr int kAttendHeads = 16;

// A weight matrix [n, k] packed as panels [PadToPanel(n)/64][k][64], padding 0.
// Kept as bf16 where that loses nothing, else as fp32.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // `weights` is row-major [n, k], fp32.
  PackedMatrix(absl::Span<const float> weights, int n, int k);

  int n() const { return n_; }
  int k() const { return k_; }
  bool is_bf16() const { return !bf16_.empty(); }
  const uint16_t* bf16() const { return bf16_.data(); }
  const float* fp32() const { return fp32_.data(); }

 private:
  int n_ = 0;
  int k_ = 0;
  std::vector<uint16_t> bf16_;
  std::vector<float> fp32_;
};

// y[r, 0..PadToPanel(n)) = x[r, 0..k) * W^T for `rows` rows; `ldx` and `ldy`
// are row strides in floats, ldy >= PadToPanel(n).
void MatMul(const float* x, size_t ldx, int rows, const PackedMatrix& w,
            float* y, size_t ldy);

// y = x / sqrt(mean(x^2) + eps) * weight, one row of n. In place allowed.
void RmsNorm(const float* x, const float* weight, int n, float eps, float* y);

// gate[i] = silu(gate[i]) * up[i] for n elements.
void SiluMul(float* gate, const float* up, int n);

// Attention of the `heads` query heads of one KV head over positions
// 0 .. position of its path. `keys[b]` and `values[b]` are the [head_dim][64]
// and [64][head_dim] pages of positions 64 b ..; `query` is already scaled.
// query and out: [heads, head_dim].
void Attend(const float* query, int heads, const float* const* keys,
            const float* const* values, int position, int head_dim, float* out);

// The instruction set that the kernels use here: "AVX3_DL", "AVX2", ...
std::string KernelPath();

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_KERNELS_H_
