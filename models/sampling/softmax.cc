#include "models/sampling/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/sampling/softmax.cc"
#include "hwy/foreach_target.h"
// The targets' code below is compiled once per instruction set.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kWeightLanes>;
using V = hn::Vec<D>;

constexpr size_t kVectors = kWeightLanes / hn::MaxLanes(D());

// exp of x <= 0; 0 below -87. Sets `x` to the clamped argument.
HWY_INLINE V Exp(V given, V& x) {
  const D d;
  const hn::RebindToSigned<D> di;
  const V lowest = hn::Set(d, -87.0f);
  x = hn::Max(given, lowest);
  // Adding 1.5 x 2^23 leaves the nearest integer in the lowest bits.
  const V magic = hn::Set(d, 12582912.0f);
  const V shifted = hn::Add(hn::Mul(x, hn::Set(d, 1.44269504f)), magic);
  const V n = hn::Sub(shifted, magic);
  // 355/512 times n is exact; the remaining part is ln 2 - 355/512.
  V r = hn::Sub(x, hn::Mul(n, hn::Set(d, 0.693359375f)));
  r = hn::Sub(r, hn::Mul(n, hn::Set(d, -2.12194440e-4f)));
  const auto next = [&](V p, float c) HWY_ATTR {
    return hn::Add(hn::Mul(p, r), hn::Set(d, c));
  };
  V p = next(hn::Set(d, 1.0f / 5040), 1.0f / 720);
  p = next(p, 1.0f / 120);
  p = next(p, 1.0f / 24);
  p = next(p, 1.0f / 6);
  p = next(p, 0.5f);
  p = next(p, 1.0f);
  p = next(p, 1.0f);
  const auto bits =
      hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  return hn::IfThenElseZero(hn::Gt(given, lowest), hn::BitCast(d, bits));
}

// Sums 16 lanes in a fixed order and few steps.
HWY_INLINE double SumLanes(const V* lanes) {
  const D d;
  HWY_ALIGN float l[kWeightLanes];
  for (size_t v = 0; v < kVectors; ++v) {
    hn::StoreU(lanes[v], d, l + v * hn::Lanes(d));
  }
  double sums[kWeightLanes / 2];
  for (size_t i = 0; i < 8; ++i) {
    sums[i] = static_cast<double>(l[i]) + static_cast<double>(l[i + 8]);
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
         ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

template <bool kWeights, bool kSums, bool kPlain>
HWY_INLINE SoftmaxSums Pass(const float* HWY_RESTRICT logits, size_t n,
                            float highest, float temperature,
                            float* HWY_RESTRICT weights,
                            double* HWY_RESTRICT block_sums) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V top = hn::Set(d, highest);
  const V t =
      hn::Set(d, std::min(1 / temperature, std::numeric_limits<float>::max()));
  SoftmaxSums total;
  HWY_ALIGN float rest[kWeightLanes];
  for (size_t block = 0; block * kWeightBlock < n; ++block) {
    V sum[kVectors], exps[kVectors], weighted[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      sum[v] = exps[v] = weighted[v] = hn::Zero(d);
    }
    const size_t end = std::min(n, (block + 1) * kWeightBlock);
    for (size_t i = block * kWeightBlock; i < end; i += kWeightLanes) {
      const float* from = logits + i;
      if (i + kWeightLanes > n) {
        std::fill(rest, rest + kWeightLanes,
                  -std::numeric_limits<float>::infinity());
        std::copy(from, logits + n, rest);
        from = rest;
      }
      for (size_t v = 0; v < kVectors; ++v) {
        const V given = hn::Sub(hn::LoadU(d, from + v * lanes), top);
        V x, e = hn::Zero(d);
        if (kSums || kPlain) {
          e = Exp(given, x);
          if (kSums) {
            exps[v] = hn::Add(exps[v], e);
            weighted[v] = hn::Add(weighted[v], hn::Mul(e, x));
          }
        }
        if (kWeights) {
          if (!kPlain) e = Exp(hn::Mul(given, t), x);
          sum[v] = hn::Add(sum[v], e);
          hn::StoreU(e, d, weights + i + v * lanes);
        }
      }
    }
    if (kWeights) block_sums[block] = SumLanes(sum);
    if (kSums) {
      total.exps += SumLanes(exps);
      total.weighted += SumLanes(weighted);
    }
  }
  return total;
}

SoftmaxSums SumExpsImpl(const float* logits, size_t n, float highest) {
  return Pass<false, true, false>(logits, n, highest, 1, nullptr, nullptr);
}

SoftmaxSums ExpWeightsImpl(const float* logits, size_t n, float highest,
                           float temperature, bool sums, float* weights,
                           double* block_sums) {
  const auto pass =
      temperature == 1
          ? (sums ? &Pass<true, true, true> : &Pass<true, false, true>)
          : (sums ? &Pass<true, true, false> : &Pass<true, false, false>);
  return pass(logits, n, highest, temperature, weights, block_sums);
}

float HighestImpl(const float* HWY_RESTRICT logits, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V highest[4], odd[4];
  for (size_t v = 0; v < 4; ++v) {
    highest[v] = hn::Set(d, logits[0]);
    odd[v] = hn::Zero(d);
  }
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    for (size_t v = 0; v < 4; ++v) {
      const V x = hn::LoadU(d, logits + i + v * lanes);
      highest[v] = hn::Max(highest[v], x);
      odd[v] = hn::Add(odd[v], hn::Mul(x, hn::Zero(d)));  // NaN if not finite
    }
  }
  highest[0] =
      hn::Max(hn::Max(highest[0], highest[1]), hn::Max(highest[2], highest[3]));
  odd[0] = hn::Add(hn::Add(odd[0], odd[1]), hn::Add(odd[2], odd[3]));
  float top = hn::GetLane(hn::MaxOfLanes(d, highest[0]));
  float bad = hn::GetLane(hn::SumOfLanes(d, odd[0]));
  for (; i < n; ++i) {
    top = std::max(top, logits[i]);
    bad += logits[i] * 0.0f;
  }
  return bad == 0 ? top : bad;
}

// Index of the first of n logits that equals `value`, which must exist.
size_t FindImpl(const float* HWY_RESTRICT logits, size_t n, float value) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V wanted = hn::Set(d, value);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    if (!hn::AllFalse(d, hn::Eq(hn::LoadU(d, logits + i), wanted))) break;
  }
  while (logits[i] != value) ++i;
  return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(SumExpsImpl);
HWY_EXPORT(ExpWeightsImpl);
HWY_EXPORT(HighestImpl);
HWY_EXPORT(FindImpl);

float HighestLogit(const float* logits, size_t n, size_t* at) {
  const float highest = HWY_DYNAMIC_DISPATCH(HighestImpl)(logits, n);
  if (highest == highest) {
    *at = HWY_DYNAMIC_DISPATCH(FindImpl)(logits, n, highest);
  }
  return highest;
}

SoftmaxSums SumExps(const float* logits, size_t n, float highest) {
  return HWY_DYNAMIC_DISPATCH(SumExpsImpl)(logits, n, highest);
}

SoftmaxSums ExpWeights(const float* logits, size_t n, float highest,
                       float temperature, bool sums, float* weights,
                       double* block_sums) {
  return HWY_DYNAMIC_DISPATCH(ExpWeightsImpl)(logits, n, highest, temperature,
                                              sums, weights, block_sums);
}

}  // namespace espalier
#endif  // HWY_ONCE
