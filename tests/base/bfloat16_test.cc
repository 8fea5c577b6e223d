#include "base/bfloat16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace espalier {
namespace {

TEST(Bfloat16Test, KnownValuesConvertBothWays) {
  EXPECT_EQ(FloatToBf16(1.0f), 0x3F80);
  EXPECT_EQ(FloatToBf16(-2.0f), 0xC000);
  EXPECT_EQ(FloatToBf16(0.1f), 0x3DCD);
  EXPECT_EQ(FloatToBf16(-0.0f), 0x8000);
  EXPECT_EQ(Bf16ToFloat(0x3DCD), 0.10009765625f);
}

TEST(Bfloat16Test, TiesRoundToEven) {
  EXPECT_EQ(FloatToBf16(1.0f + 0x1p-8f), 0x3F80);
  EXPECT_EQ(FloatToBf16(1.0f + 3 * 0x1p-8f), 0x3F82);
  EXPECT_EQ(FloatToBf16(1.0f + 0x1.8p-8f), 0x3F81);
}

TEST(Bfloat16Test, InfinityAndNanStayWhatTheyAre) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(FloatToBf16(inf), 0x7F80);
  EXPECT_EQ(FloatToBf16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(Bf16ToFloat(FloatToBf16(std::nanf("")))));
  EXPECT_EQ(FloatToFp16(inf), 0x7C00);
  EXPECT_EQ(FloatToFp16(-1e9f), 0xFC00);
  EXPECT_TRUE(std::isnan(Fp16ToFloat(FloatToFp16(std::nanf("")))));
}

TEST(Bfloat16Test, EveryBf16SurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = Bf16ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(FloatToBf16(value), bits);
  }
}

// The value of an fp16 bit pattern, computed from its fields (IEEE 754).
double Fp16Value(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = bits & 0x3FF;
  const double magnitude = exponent == 0
                               ? std::ldexp(fraction, -24)
                               : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(Bfloat16Test, EveryFp16HasItsValueAndSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits >> 10 & 31) == 31) continue;
    const float value = Fp16ToFloat(static_cast<uint16_t>(bits));
    ASSERT_EQ(value, Fp16Value(bits)) << bits;
    ASSERT_EQ(FloatToFp16(value), bits);
  }
}

TEST(Bfloat16Test, Fp16RoundsToTheNearestAndTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const double low = Fp16Value(bits), high = Fp16Value(bits + 1);
    const float tie = static_cast<float>((low + high) / 2);
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(FloatToFp16(tie), even) << bits;
    ASSERT_EQ(FloatToFp16(std::nextafter(tie, 0.0f)), bits);
    ASSERT_EQ(FloatToFp16(std::nextafter(tie, 1e9f)), bits + 1);
  }
  EXPECT_EQ(FloatToFp16(65519.0f), 0x7BFF);
  EXPECT_EQ(FloatToFp16(65520.0f), 0x7C00);
}

}  // namespace
}  // namespace espalier
