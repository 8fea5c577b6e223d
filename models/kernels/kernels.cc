#include "models/kernels/kernels.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "base/bfloat16.h"
#include "base/check.h"
#include "models/kernels/int4.h"
#include "models/kernels/thread_checks.h"

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

HWY_INLINE V LoadWeights(const int8_t* p) {
  const hn::Rebind<int8_t, D> d8;
  const hn::Rebind<int32_t, D> d32;
  return hn::ConvertTo(D(), hn::PromoteTo(d32, hn::LoadU(d8, p)));
}

// R rows times one panel.
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
ESP_RANGES_TOLD void MatMulPanels(const float* x, size_t ldx, int rows,
                                  const T* packed, int n, int k, float* y,
                                  size_t ldy) {
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

ESP_RANGES_TOLD void MatMulInt8(const float* x, size_t ldx, int rows,
                                const int8_t* packed, int n, int k,
                                const float* scales, float* y, size_t ldy) {
  MatMulPanels(x, ldx, rows, packed, n, k, y, ldy);
  const D d;
  const size_t lanes = LaneCount();
  for (int r = 0; r < rows; ++r) {
    float* out = y + static_cast<size_t>(r) * ldy;
    for (size_t c = 0; c < static_cast<size_t>(PadToPanel(n)); c += lanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, out + c), hn::LoadU(d, scales + c)), d,
                 out + c);
    }
  }
}

// Sums use one accumulator per lane; the remaining elements are added one by
// one at the end.
template <class Map>
HWY_INLINE float SumOver(int n, const Map& map) {
  const D d;
  const size_t lanes = LaneCount();
  const size_t count = static_cast<size_t>(n);
  V a = hn::Zero(d), b = a;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::Add(a, map.Vector(i));
    b = hn::Add(b, map.Vector(i + lanes));
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
  for (; i < count; ++i) sum += map.One(i);
  return sum;
}

struct Values {
  const float* x;
  V Vector(size_t i) const { return hn::LoadU(D(), x + i); }
  float One(size_t i) const { return x[i]; }
};

struct Squares {
  const float* x;
  float mean;
  V Vector(size_t i) const {
    const V v = hn::Sub(hn::LoadU(D(), x + i), hn::Set(D(), mean));
    return hn::Mul(v, v);
  }
  float One(size_t i) const { return (x[i] - mean) * (x[i] - mean); }
};

void RmsNormImpl(const float* x, const float* weight, int n, float eps,
                 float* y) {
  const float sum = SumOver(n, Squares{x, 0});
  const float scale = 1.0f / std::sqrt(sum / static_cast<float>(n) + eps);
  for (int i = 0; i < n; ++i) y[i] = x[i] * scale * weight[i];
}

void LayerNormImpl(const float* x, const float* weight, const float* bias,
                   int n, float eps, float* y) {
  const float count = static_cast<float>(n);
  const float mean = SumOver(n, Values{x}) / count;
  const float variance = SumOver(n, Squares{x, mean}) / count;
  const float scale = 1.0f / std::sqrt(variance + eps);
  for (int i = 0; i < n; ++i) {
    y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
  }
}

HWY_INLINE V Sigmoid(V x) {
  const V one = hn::Set(D(), 1.0f);
  return hn::Div(one, hn::Add(one, hn::Exp(D(), hn::Neg(x))));
}

// x / (1 + exp(-x)); tanh(u) = 2 sigmoid(2 u) - 1 makes GELU's tanh form
// x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3).
template <Activation kAct>
HWY_INLINE V ActivateVector(V x) {
  const D d;
  if constexpr (kAct == Activation::kSilu) return hn::Mul(x, Sigmoid(x));
  const V cubic = hn::Mul(hn::Mul(x, x), hn::Mul(x, hn::Set(d, 0.044715f)));
  const V u = hn::Mul(hn::Add(x, cubic), hn::Set(d, 1.5957691216f));
  return hn::Mul(x, Sigmoid(u));
}

float ActivateOne(Activation act, float x) {
  if (act == Activation::kSilu) return x / (1.0f + std::exp(-x));
  if (act == Activation::kGelu) {
    return 0.5f * x * (1.0f + std::erf(x * 0.70710678f));
  }
  const float u = 1.5957691216f * (x + 0.044715f * x * x * x);
  return x / (1.0f + std::exp(-u));
}

template <Activation kAct>
void ActivateAll(float* HWY_RESTRICT x, const float* HWY_RESTRICT up, int n) {
  const D d;
  const size_t lanes = LaneCount();
  const size_t count = static_cast<size_t>(n);
  size_t i = 0;
  if constexpr (kAct != Activation::kGelu) {
    for (; i + lanes <= count; i += lanes) {
      V v = ActivateVector<kAct>(hn::LoadU(d, x + i));
      if (up != nullptr) v = hn::Mul(v, hn::LoadU(d, up + i));
      hn::StoreU(v, d, x + i);
    }
  }
  for (; i < count; ++i) {
    x[i] = ActivateOne(kAct, x[i]) * (up == nullptr ? 1.0f : up[i]);
  }
}

void ActivateImpl(Activation act, float* x, const float* up, int n) {
  switch (act) {
    case Activation::kSilu:
      return ActivateAll<Activation::kSilu>(x, up, n);
    case Activation::kGeluTanh:
      return ActivateAll<Activation::kGeluTanh>(x, up, n);
    case Activation::kGelu:
      return ActivateAll<Activation::kGelu>(x, up, n);
  }
}

void AddImpl(float* HWY_RESTRICT x, const float* HWY_RESTRICT y, int n) {
  for (int i = 0; i < n; ++i) x[i] += y[i];
}

void RotateImpl(float* HWY_RESTRICT x, const float* HWY_RESTRICT cos,
                const float* HWY_RESTRICT sin, int half) {
  for (int i = 0; i < half; ++i) {
    const float a = x[i], b = x[i + half];
    x[i] = a * cos[i] - b * sin[i];
    x[i + half] = b * cos[i] + a * sin[i];
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
// `values`, whose rows are `stride` floats apart. Rows go to interleaved sums
// in turn, because a single sum would wait for each addition.
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

// Adds the block's keys and values [first, count) to `run` and `out`.
ESP_RANGES_TOLD void AttendBlock(const float* HWY_RESTRICT query,
                                 const float* HWY_RESTRICT keys,
                                 const float* HWY_RESTRICT values, int first,
                                 int count, int head_dim, float cap,
                                 Running& run, float* HWY_RESTRICT out) {
  const size_t lanes = LaneCount();
  const size_t dims = static_cast<size_t>(head_dim);
  alignas(64) float scores[kPanel];
  BlockScores(query, keys, head_dim, scores);
  if (cap > 0) {
    const D d;
    for (size_t i = 0; i < kPanel; i += lanes) {
      const V ratio = hn::Div(hn::Load(d, scores + i), hn::Set(d, cap));
      hn::Store(hn::Mul(hn::Tanh(d, ratio), hn::Set(d, cap)), d, scores + i);
    }
  }
  // Its exp is 0; -inf is not safe in every Exp.
  std::fill(scores, scores + first, -1e30f);
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

// Block by block, so that the heads share what is in the L1 cache.
ESP_RANGES_TOLD void AttendImpl(const float* query, int heads,
                                const float* const* keys,
                                const float* const* values, int first,
                                int position, int head_dim, float cap,
                                float* HWY_RESTRICT out) {
  const size_t dims = static_cast<size_t>(head_dim);
  Running run[kAttendHeads];
  std::fill(out, out + static_cast<size_t>(heads) * dims, 0.0f);
  const int blocks = position / kPanel + 1;
  for (int b = first / kPanel; b < blocks; ++b) {
    const int count = std::min(kPanel, position - b * kPanel + 1);
    const int from = std::max(0, first - b * kPanel);
    for (int h = 0; h < heads; ++h) {
      const size_t at = static_cast<size_t>(h) * dims;
      AttendBlock(query + at, keys[b], values[b], from, count, head_dim, cap,
                  run[h], out + at);
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
HWY_EXPORT(MatMulInt8);
HWY_EXPORT(RmsNormImpl);
HWY_EXPORT(LayerNormImpl);
HWY_EXPORT(ActivateImpl);
HWY_EXPORT(AddImpl);
HWY_EXPORT(RotateImpl);
HWY_EXPORT(AttendImpl);
HWY_EXPORT(TargetName);

namespace {

// Index of element (row, i) in a packed matrix.
size_t PackedAt(int row, int i, int k) {
  return (static_cast<size_t>(row / kPanel) * static_cast<size_t>(k) +
          static_cast<size_t>(i)) *
             kPanel +
         static_cast<size_t>(row % kPanel);
}

}  // namespace

PackedMatrix::PackedMatrix(int n, int k, WeightKind kind, ReadRows read)
    : n_(n), k_(k) {
  const size_t padded = static_cast<size_t>(PadToPanel(n));
  const size_t size = padded * static_cast<size_t>(k);
  if (kind == WeightKind::kFp32) fp32_.resize(size);
  if (kind == WeightKind::kBf16) bf16_.resize(size);
  const bool scaled = kind == WeightKind::kInt8 || kind == WeightKind::kInt4;
  if (scaled) {
    int8_.resize(size);
    scales_.resize(padded);
  }
  std::vector<float> values(static_cast<size_t>(k));
  Int4Row small;
  for (int row = 0; row < n; ++row) {
    read(row, 1, values.data());
    float inverse = 0;
    if (kind == WeightKind::kInt8) {
      float highest = 0;
      for (const float v : values) highest = std::max(highest, std::fabs(v));
      scales_[static_cast<size_t>(row)] = highest / 127;
      if (highest > 0) inverse = 127 / highest;
    } else if (kind == WeightKind::kInt4) {
      QuantizeInt4(values.data(), k, small);
      scales_[static_cast<size_t>(row)] = small.scale;
    }
    for (int i = 0; i < k; ++i) {
      const float value = values[static_cast<size_t>(i)];
      const size_t at = PackedAt(row, i, k);
      switch (kind) {
        case WeightKind::kFp32:
          fp32_[at] = value;
          break;
        case WeightKind::kBf16:
          bf16_[at] = FloatToBf16(value);
          break;
        case WeightKind::kInt8:
          int8_[at] = static_cast<int8_t>(std::lrintf(value * inverse));
          break;
        case WeightKind::kInt4:
          int8_[at] =
              static_cast<int8_t>(small.product(static_cast<size_t>(i)));
          break;
      }
    }
  }
}

int64_t PackedMatrix::bytes() const {
  return static_cast<int64_t>(4 * fp32_.size() + 2 * bf16_.size() +
                              int8_.size() + 4 * scales_.size());
}

void PackedMatrix::Row(int row, float* out) const {
  for (int i = 0; i < k_; ++i) {
    const size_t at = PackedAt(row, i, k_);
    if (!fp32_.empty()) out[i] = fp32_[at];
    if (!bf16_.empty()) out[i] = Bf16ToFloat(bf16_[at]);
    if (!int8_.empty()) {
      out[i] =
          static_cast<float>(int8_[at]) * scales_[static_cast<size_t>(row)];
    }
  }
}

void MatMul(const float* x, size_t ldx, int rows, const PackedMatrix& w,
            int column, int columns, float* y, size_t ldy) {
  ESP_DCHECK(column % kPanel == 0);
  ESP_DCHECK(ldy >= static_cast<size_t>(PadToPanel(columns)));
  const size_t from = static_cast<size_t>(column) * static_cast<size_t>(w.k());
  // Weights are never written again.
  for (int r = 0; r < rows; ++r) {
    TellReads(x + static_cast<size_t>(r) * ldx, static_cast<size_t>(w.k()));
    TellWrites(y + static_cast<size_t>(r) * ldy,
               static_cast<size_t>(PadToPanel(columns)));
  }
  if (!w.bf16().empty()) {
    HWY_DYNAMIC_DISPATCH(MatMulBf16)
    (x, ldx, rows, w.bf16().data() + from, columns, w.k(), y, ldy);
  } else if (!w.fp32().empty()) {
    HWY_DYNAMIC_DISPATCH(MatMulFp32)
    (x, ldx, rows, w.fp32().data() + from, columns, w.k(), y, ldy);
  } else {
    HWY_DYNAMIC_DISPATCH(MatMulInt8)
    (x, ldx, rows, w.int8().data() + from, columns, w.k(), w.scales() + column,
     y, ldy);
  }
}

void RmsNorm(const float* x, const float* weight, int n, float eps, float* y) {
  HWY_DYNAMIC_DISPATCH(RmsNormImpl)(x, weight, n, eps, y);
}

void LayerNorm(const float* x, const float* weight, const float* bias, int n,
               float eps, float* y) {
  HWY_DYNAMIC_DISPATCH(LayerNormImpl)(x, weight, bias, n, eps, y);
}

void Activate(Activation act, float* x, int n) {
  HWY_DYNAMIC_DISPATCH(ActivateImpl)(act, x, nullptr, n);
}

void ActivateMul(Activation act, float* x, const float* up, int n) {
  HWY_DYNAMIC_DISPATCH(ActivateImpl)(act, x, up, n);
}

void AddTo(float* x, const float* y, int n) {
  HWY_DYNAMIC_DISPATCH(AddImpl)(x, y, n);
}

void Rotate(float* x, const float* cos, const float* sin, int half) {
  HWY_DYNAMIC_DISPATCH(RotateImpl)(x, cos, sin, half);
}

void Attend(const float* query, int heads, const float* const* keys,
            const float* const* values, int first, int position, int head_dim,
            float* out, float cap) {
  const size_t dims = static_cast<size_t>(head_dim);
  for (int b = first / kPanel; b <= position / kPanel; ++b) {
    const int count = std::min(kPanel, position - b * kPanel + 1);
    TellReads(keys[b], kPanel * dims);
    TellReads(values[b], static_cast<size_t>(count) * dims);
  }
  TellReads(query, static_cast<size_t>(heads) * dims);
  TellWrites(out, static_cast<size_t>(heads) * dims);
  while (heads > 0) {
    const int now = std::min(heads, kAttendHeads);
    HWY_DYNAMIC_DISPATCH(AttendImpl)
    (query, now, keys, values, first, position, head_dim, cap, out);
    query += now * head_dim;
    out += now * head_dim;
    heads -= now;
  }
}

std::string VectorTarget() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

const std::vector<std::string>& VectorTargets() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
      out.push_back(absl::AsciiStrToLower(hwy::TargetName(target)));
    }
    return out;
  }();
  return names;
}

void LimitVectorTarget(std::string_view name) {
  int64_t above = 0;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (absl::AsciiStrToLower(hwy::TargetName(target)) == name) break;
    above |= target;
  }
  VectorTargets();  // all of them, also from now on
  hwy::DisableTargets(above);
}

}  // namespace espalier
#endif  // HWY_ONCE
