#include "models/checkpoint/gguf_blocks.h"

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/bfloat16.h"
#include "models/checkpoint/to_float.h"

namespace espalier {
namespace {

struct TypeRow {
  uint32_t type;
  const char* name;
  GgufBlock block;
};
// Types without a block are listed only for their names in errors.
constexpr TypeRow kTypes[] = {
    {0, "F32", {1, 4}},       {1, "F16", {1, 2}},
    {2, "Q4_0", {32, 18}},    {3, "Q4_1", {32, 20}},
    {6, "Q5_0", {32, 22}},    {7, "Q5_1", {32, 24}},
    {8, "Q8_0", {32, 34}},    {9, "Q8_1", {}},
    {10, "Q2_K", {}},         {11, "Q3_K", {}},
    {12, "Q4_K", {256, 144}}, {13, "Q5_K", {256, 176}},
    {14, "Q6_K", {256, 210}}, {15, "Q8_K", {}},
    {16, "IQ2_XXS", {}},      {17, "IQ2_XS", {}},
    {18, "IQ3_XXS", {}},      {19, "IQ1_S", {}},
    {20, "IQ4_NL", {}},       {21, "IQ3_S", {}},
    {22, "IQ2_S", {}},        {23, "IQ4_XS", {}},
    {24, "I8", {}},           {25, "I16", {}},
    {26, "I32", {}},          {27, "I64", {}},
    {28, "F64", {}},          {29, "IQ1_M", {}},
    {30, "BF16", {1, 2}},     {34, "TQ1_0", {}},
    {35, "TQ2_0", {}},        {39, "MXFP4", {}},
};

uint16_t Load16(const std::byte* data) {
  uint16_t bits;
  std::memcpy(&bits, data, sizeof(bits));
  return bits;
}

uint32_t Load32(const std::byte* data) {
  uint32_t bits;
  std::memcpy(&bits, data, sizeof(bits));
  return bits;
}

void ReadQ8_0(const std::byte* block, float* out) {
  const float d = Fp16ToFloat(Load16(block));
  for (int i = 0; i < 32; ++i) {
    out[i] = d * static_cast<float>(static_cast<int8_t>(block[2 + i]));
  }
}

// 16 bytes of nibbles, numbered from 0, with the bits of `fifth` as fifth bits.
void Numbers(const std::byte* pairs, uint32_t fifth, int* out) {
  for (int i = 0; i < 16; ++i) {
    const int pair = static_cast<int>(pairs[i]);
    out[i] = (pair & 15) | static_cast<int>(fifth >> i & 1) << 4;
    out[i + 16] = pair >> 4 | static_cast<int>(fifth >> (i + 16) & 1) << 4;
  }
}

// d (q - middle)
template <bool kFive>
void ReadSymmetric(const std::byte* block, float* out) {
  const float d = Fp16ToFloat(Load16(block));
  int q[32];
  Numbers(block + (kFive ? 6 : 2), kFive ? Load32(block + 2) : 0, q);
  for (int i = 0; i < 32; ++i) {
    out[i] = d * static_cast<float>(q[i] - (kFive ? 16 : 8));
  }
}

// d q + m
template <bool kFive>
void ReadAffine(const std::byte* block, float* out) {
  const float d = Fp16ToFloat(Load16(block));
  const float m = Fp16ToFloat(Load16(block + 2));
  int q[32];
  Numbers(block + (kFive ? 8 : 4), kFive ? Load32(block + 4) : 0, q);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(q[i]) + m;
}

// Scale and minimum j = 0..7 of twelve bytes: those of 0..3 are the lower six
// bits of bytes j and j + 4; of 4..7 the lower four bits are the halves of byte
// j + 4, the upper two those of bytes j - 4 and j.
void ScaleAndMinimum(const std::byte* bytes, int j, int* scale, int* minimum) {
  const auto at = [&](int i) { return static_cast<int>(bytes[i]); };
  if (j < 4) {
    *scale = at(j) & 63;
    *minimum = at(j + 4) & 63;
  } else {
    *scale = (at(j + 4) & 15) | at(j - 4) >> 6 << 4;
    *minimum = at(j + 4) >> 4 | at(j) >> 6 << 4;
  }
}

template <bool kFive>
void ReadScaled(const std::byte* block, float* out) {
  const float d = Fp16ToFloat(Load16(block));
  const float e = Fp16ToFloat(Load16(block + 2));
  const std::byte* fifth = block + 16;
  const std::byte* pairs = block + (kFive ? 48 : 16);
  for (int j = 0; j < 8; ++j) {
    int scale = 0, minimum = 0;
    ScaleAndMinimum(block + 4, j, &scale, &minimum);
    const float step = d * static_cast<float>(scale);
    const float low = e * static_cast<float>(minimum);
    for (int l = 0; l < 32; ++l) {
      const int pair = static_cast<int>(pairs[32 * (j / 2) + l]);
      int q = j % 2 == 0 ? pair & 15 : pair >> 4;
      if (kFive) q |= (static_cast<int>(fifth[l]) >> j & 1) << 4;
      out[32 * j + l] = step * static_cast<float>(q) - low;
    }
  }
}

// Two halves of 128; in each, element 32 k + l, k = 0..3, has its low bits in
// byte 32 (k % 2) + l, upper nibble if k >= 2, and its high bits at bit 2 k of
// byte l.
void ReadQ6_K(const std::byte* block, float* out) {
  const float d = Fp16ToFloat(Load16(block + 208));
  for (int half = 0; half < 2; ++half) {
    const std::byte* low = block + 64 * half;
    const std::byte* high = block + 128 + 32 * half;
    const std::byte* scales = block + 192 + 8 * half;
    for (int i = 0; i < 128; ++i) {
      const int k = i / 32, l = i % 32;
      const int pair = static_cast<int>(low[32 * (k % 2) + l]);
      const int nibble = k < 2 ? pair & 15 : pair >> 4;
      const int top = static_cast<int>(high[l]) >> (2 * k) & 3;
      const auto scale =
          static_cast<float>(static_cast<int8_t>(scales[i / 16]));
      out[128 * half + i] =
          d * scale * static_cast<float>((nibble | top << 4) - 32);
    }
  }
}

}  // namespace

std::string GgufTensorTypeName(uint32_t type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.name;
  }
  return absl::StrCat("type ", type);
}

GgufBlock BlockOf(uint32_t type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.block;
  }
  return {};
}

std::string ReadableGgufTypes() {
  std::vector<std::string> names;
  for (const TypeRow& row : kTypes) {
    if (row.block.elements > 0) names.emplace_back(row.name);
  }
  return absl::StrJoin(names, ", ");
}

void ReadGgufBlocks(GgufTensorType type, const std::byte* data, int64_t count,
                    float* out) {
  const auto each = [&](int elements, int bytes, auto read) {
    for (int64_t i = 0; i < count / elements; ++i) {
      read(data + i * bytes, out + i * elements);
    }
  };
  switch (type) {
    case GgufTensorType::kF32:
      return ToFloats(DType::kF32, data, static_cast<size_t>(count), out);
    case GgufTensorType::kF16:
      return ToFloats(DType::kF16, data, static_cast<size_t>(count), out);
    case GgufTensorType::kBF16:
      return ToFloats(DType::kBF16, data, static_cast<size_t>(count), out);
    case GgufTensorType::kQ8_0:
      return each(32, 34, ReadQ8_0);
    case GgufTensorType::kQ4_0:
      return each(32, 18, ReadSymmetric<false>);
    case GgufTensorType::kQ4_1:
      return each(32, 20, ReadAffine<false>);
    case GgufTensorType::kQ5_0:
      return each(32, 22, ReadSymmetric<true>);
    case GgufTensorType::kQ5_1:
      return each(32, 24, ReadAffine<true>);
    case GgufTensorType::kQ4_K:
      return each(256, 144, ReadScaled<false>);
    case GgufTensorType::kQ5_K:
      return each(256, 176, ReadScaled<true>);
    case GgufTensorType::kQ6_K:
      return each(256, 210, ReadQ6_K);
  }
}

}  // namespace espalier
