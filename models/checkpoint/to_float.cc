#include "models/checkpoint/to_float.h"

#include <cstdint>
#include <cstring>

#include "base/bfloat16.h"
#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/checkpoint/to_float.cc"
#include "hwy/foreach_target.h"
// The targets' code below is compiled once per instruction set.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using D32 = hn::Rebind<uint32_t, D>;
using D16 = hn::Rebind<uint16_t, D>;

HWY_INLINE hn::Vec<D> WidenBf16(hn::Vec<D32> bits) {
  return hn::BitCast(D(), hn::ShiftLeft<16>(bits));
}

// Like Fp16ToFloat: computes all three cases and selects one.
HWY_INLINE hn::Vec<D> WidenFp16(hn::Vec<D32> bits) {
  const D df;
  const D32 d32;
  const hn::Rebind<int32_t, D> di;
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d32, 0x8000u)));
  const auto magnitude = hn::And(bits, hn::Set(d32, 0x7FFFu));
  const auto rebase = hn::Set(d32, 0x38000000u);  // adds 112 to the exponent
  const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), rebase);
  const auto special = hn::Add(normal, rebase);  // infinity and NaN
  const auto small =
      hn::BitCast(d32, hn::Mul(hn::ConvertTo(df, hn::BitCast(di, magnitude)),
                               hn::Set(df, 0x1p-24f)));
  const auto signed_magnitude = hn::BitCast(di, magnitude);
  const auto is_small =
      hn::RebindMask(d32, hn::Lt(signed_magnitude, hn::Set(di, 0x0400)));
  const auto is_special =
      hn::RebindMask(d32, hn::Gt(signed_magnitude, hn::Set(di, 0x7BFF)));
  const auto finite = hn::IfThenElse(is_small, small, normal);
  return hn::BitCast(df,
                     hn::Or(sign, hn::IfThenElse(is_special, special, finite)));
}

// Converts whole vectors; returns the number of elements.
template <bool kBf16>
HWY_INLINE size_t Widen(const std::byte* in, size_t n, float* out) {
  const size_t lanes = hn::Lanes(D());
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    // Via an array: checkpoint data may be unaligned.
    HWY_ALIGN uint16_t halves[hn::MaxLanes(D16())];
    std::memcpy(halves, in + 2 * i, 2 * lanes);
    const auto bits = hn::PromoteTo(D32(), hn::Load(D16(), halves));
    hn::StoreU(kBf16 ? WidenBf16(bits) : WidenFp16(bits), D(), out + i);
  }
  return i;
}

size_t Bf16(const std::byte* in, size_t n, float* out) {
  return Widen<true>(in, n, out);
}
size_t Fp16(const std::byte* in, size_t n, float* out) {
  return Widen<false>(in, n, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(Bf16);
HWY_EXPORT(Fp16);

bool IsFloat(DType dtype) {
  return dtype == DType::kBF16 || dtype == DType::kF16 || dtype == DType::kF32;
}

void ToFloats(DType dtype, const std::byte* in, size_t n, float* out) {
  ESP_CHECK(IsFloat(dtype));
  if (n == 0) return;
  if (dtype == DType::kF32) {
    std::memcpy(out, in, n * sizeof(float));
    return;
  }
  const bool bf16 = dtype == DType::kBF16;
  size_t i = bf16 ? HWY_DYNAMIC_DISPATCH(Bf16)(in, n, out)
                  : HWY_DYNAMIC_DISPATCH(Fp16)(in, n, out);
  for (; i < n; ++i) {
    uint16_t bits;
    std::memcpy(&bits, in + 2 * i, sizeof(bits));
    out[i] = bf16 ? Bf16ToFloat(bits) : Fp16ToFloat(bits);
  }
}

}  // namespace espalier
#endif  // HWY_ONCE
