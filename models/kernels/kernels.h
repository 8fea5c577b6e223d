// The vector kernels of the CPU path, chosen at run time (AVX-512, AVX2, plain)
// from one source.
//
// The summation order of an output element depends only on its own row: over k
// = 0 .. K-1 in products, over keys in blocks of 64 absolute positions in
// attention. A row's bits therefore do not depend on how many other rows are
// computed with it. They do depend on the kernel path.
//
// Stateless functions: thread-safe if their outputs do not overlap.
#ifndef ESPALIER_MODELS_KERNELS_KERNELS_H_
#define ESPALIER_MODELS_KERNELS_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

// Number format of a packed matrix.
enum class WeightKind : uint8_t {
  kFp32,
  kBf16,
  kInt8,  // one scale per output; where the path has int8 products, they round
          // activations to int8 with one scale per row
  kInt4,  // int4.h, activations as for kInt8; stored as int8 where the path has
          // no int4 products
};

// Columns of a packed panel; output rows are padded to it.
inline constexpr int kPanel = 64;
inline constexpr int PadToPanel(int n) {
  return (n + kPanel - 1) / kPanel * kPanel;
}

// Query heads served by one pass over keys and values.
inline constexpr int kAttendHeads = 16;

// Writes rows [begin, begin + count) of a matrix [n, k] as fp32.
using ReadRows = absl::FunctionRef<void(int begin, int count, float* out)>;

// A weight matrix [n, k] packed as panels [PadToPanel(n)/64][k][64],
// zero-padded: fp32, bf16 (rounded), or int8 with a scale per output (for
// kInt4: multiplier times number).
class PackedMatrix {
 public:
  PackedMatrix(int n, int k, WeightKind kind, ReadRows read);

  int n() const { return n_; }
  int k() const { return k_; }
  int64_t bytes() const;
  void Row(int i, float* out) const;

  const std::vector<float>& fp32() const { return fp32_; }
  const std::vector<uint16_t>& bf16() const { return bf16_; }
  const std::vector<int8_t>& int8() const { return int8_; }
  const float* scales() const { return scales_.data(); }  // for int8

 private:
  int n_, k_;
  std::vector<uint16_t> bf16_;
  std::vector<float> fp32_;
  std::vector<int8_t> int8_;
  std::vector<float> scales_;
};

// y[r, c] = x[r, 0..k) * row (column + c) of W for c below `columns`, padded
// to panels; `column` is a multiple of 64. `ldx` and `ldy` are row strides in
// floats, ldy >= PadToPanel(columns).
void MatMul(const float* x, size_t ldx, int rows, const PackedMatrix& w,
            int column, int columns, float* y, size_t ldy);

// y = x / sqrt(mean(x^2) + eps) * weight, one row of n. In place allowed.
void RmsNorm(const float* x, const float* weight, int n, float eps, float* y);
// y = (x - mean) / sqrt(variance + eps) * weight + bias; same conventions.
void LayerNorm(const float* x, const float* weight, const float* bias, int n,
               float eps, float* y);

// x[i] = act(x[i]), and x[i] = act(x[i]) * up[i], for n elements.
void Activate(Activation act, float* x, int n);
void ActivateMul(Activation act, float* x, const float* up, int n);
// x[i] += y[i] for n elements.
void AddTo(float* x, const float* y, int n);
// Rotates pairs (x[i], x[i + half]) by the angles of cos and sin, i < half.
void Rotate(float* x, const float* cos, const float* sin, int half);

// Attention of the `heads` query heads of one KV head over positions first ..
// position of its path. `keys[b]` and `values[b]` are the [head_dim][64] and
// [64][head_dim] pages of positions 64 b ..; `query` is already scaled. query
// and out: [heads, head_dim]. With a `cap` above 0 each score s becomes
// cap * tanh(s / cap).
void Attend(const float* query, int heads, const float* const* keys,
            const float* const* values, int first, int position, int head_dim,
            float* out, float cap = 0);

// The instruction set in use: "AVX3_DL", "AVX2", ...
std::string VectorTarget();
// Those of this machine, the best first, in lower case: "avx2".
const std::vector<std::string>& VectorTargets();
// Uses this one of VectorTargets(), and none above it, from now on. Not while
// kernels run.
void LimitVectorTarget(std::string_view name);

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_KERNELS_H_
