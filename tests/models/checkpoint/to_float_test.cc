#include "models/checkpoint/to_float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace espalier {
namespace {

// All 16-bit patterns, at an odd address.
std::vector<std::byte> Patterns() {
  std::vector<std::byte> bytes(1 + 2 * 65536);
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    std::memcpy(bytes.data() + 1 + 2 * i, &bits, sizeof(bits));
  }
  return bytes;
}

// IEEE 754 binary16, by definition.
double Half(uint32_t bits) {
  const double sign = bits >> 15 ? -1 : 1;
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(ToFloatTest, EveryHalfIsExact) {
  const std::vector<std::byte> bytes = Patterns();
  std::vector<float> out(65536);
  ToFloats(DType::kF16, bytes.data() + 1, out.size(), out.data());
  for (uint32_t i = 0; i < 65536; ++i) {
    const double expected = Half(i);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(out[i])) << i;
    } else {
      ASSERT_EQ(out[i], expected) << i;
      ASSERT_EQ(std::signbit(out[i]), std::signbit(expected)) << i;
    }
  }
}

TEST(ToFloatTest, EveryBf16IsTheUpperHalfOfAFloat) {
  const std::vector<std::byte> bytes = Patterns();
  std::vector<float> out(65536);
  ToFloats(DType::kBF16, bytes.data() + 1, out.size(), out.data());
  for (uint32_t i = 0; i < 65536; ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), i << 16) << i;
  }
}

TEST(ToFloatTest, AnyCountIsConvertedAndNothingBehindIt) {
  const std::vector<std::byte> bytes = Patterns();
  for (const DType dtype : {DType::kBF16, DType::kF16, DType::kF32}) {
    for (size_t n = 0; n < 70; ++n) {
      std::vector<float> all(100), out(n + 1, -7.0f);
      ToFloats(dtype, bytes.data() + 1, all.size(), all.data());
      ToFloats(dtype, bytes.data() + 1, n, out.data());
      EXPECT_EQ(std::memcmp(all.data(), out.data(), 4 * n), 0) << n;
      EXPECT_EQ(out[n], -7.0f) << n;
    }
  }
}

}  // namespace
}  // namespace espalier
