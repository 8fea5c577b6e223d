// 16-bit floats as stored in checkpoints, to and from fp32.
//
//   uint16_t w = FloatToBf16(0.1f);   // 0x3DCD
//   float back = Bf16ToFloat(w);      // 0.10009765625
//
// Widening is exact. Narrowing rounds to nearest, ties to even; overflow
// becomes infinity, and a NaN stays a (quiet) NaN. bf16 is the upper half of an
// IEEE 754 binary32; fp16 is IEEE 754 binary16.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_BASE_BFLOAT16_H_
#define ESPALIER_BASE_BFLOAT16_H_

#include <bit>
#include <cstdint>

namespace espalier {

inline float Bf16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

inline uint16_t FloatToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
    return static_cast<uint16_t>((bits >> 16) | 0x0040u);
  }
  // Half a unit of the last kept bit, minus one if that bit is already even.
  const uint32_t rounding = 0x7FFFu + ((bits >> 16) & 1u);
  return static_cast<uint16_t>((bits + rounding) >> 16);
}

inline float Fp16ToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7FFFu;
  if (magnitude >= 0x7C00u) {  // infinity and NaN
    return std::bit_cast<float>(sign | 0x7F800000u |
                                (magnitude & 0x3FFu) << 13);
  }
  if (magnitude < 0x0400u) {  // zero and subnormals: units of 2^-24
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}

inline uint16_t FloatToFp16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u;   // NaN
  if (magnitude >= 0x47800000u) return sign | 0x7C00u;  // 2^16 and above
  if (magnitude < 0x38800000u) {  // below 2^-14: a subnormal of fp16
    // Adding .5 leaves the value in units of 2^-24 in the low bits of the
    // sum, rounded by the fp32 addition: to nearest, ties to even.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign |
                                 (std::bit_cast<uint32_t>(sum) - 0x3F000000u));
  }
  const uint32_t rounding = 0xFFFu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign |
                               ((magnitude - 0x38000000u + rounding) >> 13));
}

}  // namespace espalier

#endif  // ESPALIER_BASE_BFLOAT16_H_
