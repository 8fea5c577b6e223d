#include "models/kernels/kernels.h"

#include <algorithm>
#include <cmath>

#include "src/base/bfloat16.h"
#include "src/base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/kernels.cc"
#include "hwy/foreach_target.h"
// The targets' code below is compiled once per instruction set.
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// At most 16 lanes, so that a panel is a whole number of groups of 4 vectors.
HWY_INLINE size_t LaneCount() { return hn::Lanes(D()); }

HWY_INLINE V LoadWeights(const float* p) { return hn::LoadU(D(), p); }
HWY_INLINE V LoadWeights(const uint16_t* p) {
  const hn::Rebind<uint16_t, D> d16;
  const hn::Rebind<uint32_t, D> d32;
  return hn::BitCast(D(),
                     hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, p))));
}

// R rows by one panel.
template <int R, class T>
HWY_INLINE void RowsByPanel(const float* HWY_RESTRICT x, size_t ldx,
                            const T* HWY_RESTRICT panel, int k_count,
                            float* HWY_RESTRICT y, size_t ldy) {
  const size_t lanes = LaneCount();
  for (size_t c = 0; c < kPanel; c += 4 * lanes) {
    V sum[R][4];
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) {
      HWY_UNROLL(4)
      for (int j = 0; j < 4; ++j) sum[r][j] = hn::Zero(D());
    }
    const T* w = panel + c;
    for (int k = 0; k < k_count; ++k, w += kPanel) {
      const V w0 = LoadWeights(w);
      const V w1 = LoadWeights(w + lanes);
      const V w2 = LoadWeights(w + 2 * lanes);
      const V w3 = LoadWeights(w + 3 * lanes);
      HWY_UNROLL(8)
      for (int r = 0; r < R; ++r) {
        const V b = hn::Set(
            D(), x[static_cast<size_t>(r) * ldx + static_cast<size_t>(k)]);
        sum[r][0] = hn::MulAdd(b, w0, sum[r][0]);
        sum[r][1] = hn::MulAdd(b, w1, sum[r][1]);
        sum[r][2] = hn::MulAdd(b, w2, sum[r][2]);
        sum[r][3] = hn::MulAdd(b, w3, sum[r][3]);
      }
    }
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) {
      float* out = y + static_cast<size_t>(r) * ldy + c;
      HWY_UNROLL(4)
      for (size_t j = 0; j < 4; ++j) {
        hn::StoreU(sum[r][j], D(), out + j * lanes);
      }
    }
  }
}

// 6 rows x 4 vectors fill the 32 registers of AVX-512, 2 x 4 the 16 of AVX2.
constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 6 : 2;

template <class T>
void MatMulPanels(const float* x, size_t ldx, int rows, const T* packed, int n,
                  int k, float* y, size_t ldy) {
  const size_t panel_size = static_cast<size_t>(k) * kPanel;
  for (int p = 0; p * kPanel < n; ++p) {
    const T* panel = packed + static_cast<size_t>(p) * panel_size;
    float* out = y + static_cast<size_t>(p) * kPanel;
    int r = 0;
    for (; r + kRows <= rows; r += kRows) {
      RowsByPanel<kRows>(x + static_cast<size_t>(r) * ldx, ldx, panel, k,
                         out + static_cast<size_t>(r) * ldy, ldy);
    }
    for (; r + 2 <= rows; r += 2) {
      RowsByPanel<2>(x + static_cast<size_t>(r) * ldx, ldx, panel, k,
                     out + static_cast<size_t>(r) * ldy, ldy);
    }
    for (; r < rows; ++r) {
      RowsByPanel<1>(x + static_cast<size_t>(r) * ldx, ldx, panel, k,
                     out + static_cast<size_t>(r) * ldy, ldy);
    }
  }
}

void MatMulBf16(const float* x, size_t ldx, int rows, const uint16_t* packed,
                int n, int k, float* y, size_t ldy) {
  MatMulPanels(x, ldx, rows, packed, n, k, y, ldy);
}

void MatMulFp32(const float* x, size_t ldx, int rows, const float* packed,
                int n, int k, float* y, size_t ldy) {
  MatMulPanels(x, ldx, rows, packed, n, k, y, ldy);
}

void SiluMulImpl(float* HWY_RESTRICT gate, const float* HWY_RESTRICT up,
                 int n) {
  const D d;
  const size_t lanes = LaneCount();
  const size_t count = static_cast<size_t>(n);
  const V one = hn::Set(d, 1.0f);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V g = hn::LoadU(d, gate + i);
    const V s = hn::Div(g, hn::Add(one, hn::Exp(d, hn::Neg(g))));
    hn::StoreU(hn::Mul(s, hn::LoadU(d, up + i)), d, gate + i);
  }
  for (; i < count; ++i) {
    gate[i] = gate[i] / (1.0f + std::exp(-gate[i])) * up[i];
  }
}

// Scores of 64 keys: s[j] = sum over dims, in order, of q[dim] * K^T[dim][j].
HWY_INLINE void BlockScores(const float* HWY_RESTRICT query,
                            const float* HWY_RESTRICT keys, int head_dim,
                            float* HWY_RESTRICT scores) {
  const D d;
  const size_t lanes = LaneCount();
  for (size_t c = 0; c < kPanel; c += 4 * lanes) {
    V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const float* k = keys + c;
    for (int dim = 0; dim < head_dim; ++dim, k += kPanel) {
      const V q = hn::Set(d, query[dim]);
      s0 = hn::MulAdd(q, hn::LoadU(d, k), s0);
      s1 = hn::MulAdd(q, hn::LoadU(d, k + lanes), s1);
      s2 = hn::MulAdd(q, hn::LoadU(d, k + 2 * lanes), s2);
      s3 = hn::MulAdd(q, hn::LoadU(d, k + 3 * lanes), s3);
    }
    hn::StoreU(s0, d, scores + c);
    hn::StoreU(s1, d, scores + c + lanes);
    hn::StoreU(s2, d, scores + c + 2 * lanes);
    hn::StoreU(s3, d, scores + c + 3 * lanes);
  }
}

// Replaces scores by exp(score - max) and returns their sum.
HWY_INLINE float BlockWeights(float* HWY_RESTRICT scores, float highest) {
  const D d;
  const size_t lanes = LaneCount();
  V sum = hn::Zero(d);
  const V m = hn::Set(d, highest);
  for (size_t c = 0; c < kPanel; c += lanes) {
    const V p = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + c), m));
    hn::StoreU(p, d, scores + c);
    sum = hn::Add(sum, p);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// The highest of 64 scores.
HWY_INLINE float BlockHighest(const float* HWY_RESTRICT scores) {
  const D d;
  const size_t lanes = LaneCount();
  V highest = hn::LoadU(d, scores);
  for (size_t c = lanes; c < kPanel; c += lanes) {
    highest = hn::Max(highest, hn::LoadU(d, scores + c));
  }
  return hn::GetLane(hn::MaxOfLanes(d, highest));
}

// out[0 .. N*lanes) = out * keep + sum over j < count of weights[j] * row j of
// `values`, whose rows are `stride` floats apart. The rows are dealt to
// interleaved sums, because one sum would wait for each of its additions.
template <int N>
HWY_INLINE void AddValues(const float* HWY_RESTRICT weights,
                          const float* HWY_RESTRICT values, int count,
                          size_t stride, float keep, float* HWY_RESTRICT out) {
  constexpr int kSums = 8 / N;
  const D d;
  const size_t lanes = LaneCount();
  V sum[kSums][N];
  for (int s = 0; s < kSums; ++s) {
    for (int i = 0; i < N; ++i) sum[s][i] = hn::Zero(d);
  }
  int j = 0;
  for (; j + kSums <= count; j += kSums) {
    HWY_UNROLL(8)
    for (int s = 0; s < kSums; ++s) {
      const V w = hn::Set(d, weights[j + s]);
      const float* row = values + static_cast<size_t>(j + s) * stride;
      HWY_UNROLL(8)
      for (int i = 0; i < N; ++i) {
        sum[s][i] = hn::MulAdd(
            w, hn::LoadU(d, row + static_cast<size_t>(i) * lanes), sum[s][i]);
      }
    }
  }
  for (; j < count; ++j) {
    const V w = hn::Set(d, weights[j]);
    const float* row = values + static_cast<size_t>(j) * stride;
    for (int i = 0; i < N; ++i) {
      sum[0][i] = hn::MulAdd(
          w, hn::LoadU(d, row + static_cast<size_t>(i) * lanes), sum[0][i]);
    }
  }
  const V scale = hn::Set(d, keep);
  for (int i = 0; i < N; ++i) {
    V all = sum[0][i];
    for (int s = 1; s < kSums; ++s) all = hn::Add(all, sum[s][i]);
    float* to = out + static_cast<size_t>(i) * lanes;
    hn::StoreU(hn::MulAdd(hn::LoadU(d, to), scale, all), d, to);
  }
}

// One query head's running softmax.
struct Running {
  float highest = -INFINITY;
  float total = 0;
};

// Takes the block's `count` keys and values into `run` and `out`.
void AttendBlock(const float* HWY_RESTRICT query,
                 const float* HWY_RESTRICT keys,
                 const float* HWY_RESTRICT values, int count, int head_dim,
                 Running& run, float* HWY_RESTRICT out) {
  const size_t lanes = LaneCount();
  const size_t dims = static_cast<size_t>(head_dim);
  alignas(64) float scores[kPanel];
  BlockScores(query, keys, head_dim, scores);
  // exp of it is 0; -inf would do as well, but not in every Exp.
  std::fill(scores + count, scores + kPanel, -1e30f);
  const float now = std::max(run.highest, BlockHighest(scores));
  const float keep = run.total == 0 ? 0.0f : std::exp(run.highest - now);
  run.highest = now;
  run.total = run.total * keep + BlockWeights(scores, now);
  size_t i = 0;
  for (; i + 4 * lanes <= dims; i += 4 * lanes) {
    AddValues<4>(scores, values + i, count, dims, keep, out + i);
  }
  for (; i + 2 * lanes <= dims; i += 2 * lanes) {
    AddValues<2>(scores, values + i, count, dims, keep, out + i);
  }
  for (; i + lanes <= dims; i += lanes) {
    AddValues<1>(scores, values + i, count, dims, keep, out + i);
  }
  for (; i < dims; ++i) {
    float o = out[i] * keep;
    for (int j = 0; j < count; ++j) {
      o += scores[j] * values[static_cast<size_t>(j) * dims + i];
    }
    out[i] = o;
  }
}

// Block by block, so that the heads share what is in the nearest cache.
void AttendImpl(const float* query, int heads, const float* const* keys,
                const float* const* values, int position, int head_dim,
                float* HWY_RESTRICT out) {
  const size_t dims = static_cast<size_t>(head_dim);
  Running run[kAttendHeads];
  std::fill(out, out + static_cast<size_t>(heads) * dims, 0.0f);
  const int blocks = position / kPanel + 1;
  for (int b = 0; b < blocks; ++b) {
    const int count = std::min(kPanel, position - b * kPanel + 1);
    for (int h = 0; h < heads; ++h) {
      const size_t at = static_cast<size_t>(h) * dims;
      AttendBlock(query + at, keys[b], values[b], count, head_dim, run[h],
                  out + at);
    }
  }
  for (int h = 0; h < heads; ++h) {
    const float inverse = 1.0f / run[h].total;
    float* o = out + static_cast<size_t>(h) * dims;
    for (size_t i = 0; i < dims; ++i) o[i] *= inverse;
  }
}

std::string TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(MatMulBf16);
HWY_EXPORT(MatMulFp32);
HWY_EXPORT(SiluMulImpl);
HWY_EXPORT(AttendImpl);
HWY_EXPORT(TargetName);

PackedMatrix::PackedMatrix(absl::Span<const float> weights, int n, int k)
    : n_(n), k_(k) {
  ESP_CHECK(weights.size() == static_cast<size_t>(n) * static_cast<size_t>(k));
  const bool exact = std::all_of(weights.begin(), weights.end(), IsBf16Exact);
  const size_t size =
      static_cast<size_t>(PadToPanel(n)) * static_cast<size_t>(k);
  if (exact) {
    bf16_.resize(size, 0);
  } else {
    fp32_.resize(size, 0);
  }
  for (int row = 0; row < n; ++row) {
    for (int i = 0; i < k; ++i) {
      const float value =
          weights[static_cast<size_t>(row) * static_cast<size_t>(k) +
                  static_cast<size_t>(i)];
      const size_t to =
          (static_cast<size_t>(row / kPanel) * static_cast<size_t>(k) +
           static_cast<size_t>(i)) *
              kPanel +
          static_cast<size_t>(row % kPanel);
      if (exact) {
        bf16_[to] = FloatToBf16(value);
      } else {
        fp32_[to] = value;
      }
    }
  }
}

void MatMul(const float* x, size_t ldx, int rows, const PackedMatrix& w,
            float* y, size_t ldy) {
  ESP_DCHECK(ldy >= static_cast<size_t>(PadToPanel(w.n())));
  if (w.is_bf16()) {
    HWY_DYNAMIC_DISPATCH(MatMulBf16)
    (x, ldx, rows, w.bf16(), w.n(), w.k(), y, ldy);
  } else {
    HWY_DYNAMIC_DISPATCH(MatMulFp32)
    (x, ldx, rows, w.fp32(), w.n(), w.k(), y, ldy);
  }
}

void RmsNorm(const float* x, const float* weight, int n, float eps, float* y) {
  // Eight running sums in a fixed pattern, whatever the vector width.
  float sums[8] = {};
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int j = 0; j < 8; ++j) sums[j] += x[i + j] * x[i + j];
  }
  for (; i < n; ++i) sums[0] += x[i] * x[i];
  const float sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                    ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  const float scale = 1.0f / std::sqrt(sum / static_cast<float>(n) + eps);
  for (int j = 0; j < n; ++j) y[j] = x[j] * scale * weight[j];
}

void SiluMul(float* gate, const float* up, int n) {
  HWY_DYNAMIC_DISPATCH(SiluMulImpl)(gate, up, n);
}

void Attend(const float* query, int heads, const float* const* keys,
            const float* const* values, int position, int head_dim,
            float* out) {
  while (heads > 0) {
    const int now = std::min(heads, kAttendHeads);
    HWY_DYNAMIC_DISPATCH(AttendImpl)
    (query, now, keys, values, position, head_dim, out);
    query += now * head_dim;
    out += now * head_dim;
    heads -= now;
  }
}

std::string KernelPath() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

}  // namespace espalier
#endif  // HWY_ONCE
