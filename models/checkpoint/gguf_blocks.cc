#include "models/checkpoint/gguf_blocks.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/to_float.h"
#include "src/base/bfloat16.h"

namespace espalier {
namespace {

struct TypeRow {
  uint32_t type;
  const char* name;
  GgufBlock block;
};
// Types without a block are known by name alone, so that an error can say it.
constexpr TypeRow kTypes[] = {
    {0, "F32", {1, 4}},       {1, "F16", {1, 2}},   {2, "Q4_0", {32, 18}},
    {3, "Q4_1", {}},          {6, "Q5_0", {}},      {7, "Q5_1", {}},
    {8, "Q8_0", {32, 34}},    {9, "Q8_1", {}},      {10, "Q2_K", {}},
    {11, "Q3_K", {}},         {12, "Q4_K", {}},     {13, "Q5_K", {}},
    {14, "Q6_K", {256, 210}}, {15, "Q8_K", {}},     {16, "IQ2_XXS", {}},
    {17, "IQ2_XS", {}},       {18, "IQ3_XXS", {}},  {19, "IQ1_S", {}},
    {20, "IQ4_NL", {}},       {21, "IQ3_S", {}},    {22, "IQ2_S", {}},
    {23, "IQ4_XS", {}},       {24, "I8", {}},       {25, "I16", {}},
    {26, "I32", {}},          {27, "I64", {}},      {28, "F64", {}},
    {29, "IQ1_M", {}},        {30, "BF16", {1, 2}}, {34, "TQ1_0", {}},
    {35, "TQ2_0", {}},        {39, "MXFP4", {}},
};

uint16_t Load16(const std::byte* data) {
  uint16_t bits;
  std::memcpy(&bits, data, sizeof(bits));
  return bits;
}

void ReadQ8_0(const std::byte* block, float* out) {
  const float d = Fp16ToFloat(Load16(block));
  for (int i = 0; i < 32; ++i) {
    out[i] = d * static_cast<float>(static_cast<int8_t>(block[2 + i]));
  }
}

void ReadQ4_0(const std::byte* block, float* out) {
  const float d = Fp16ToFloat(Load16(block));
  for (int i = 0; i < 16; ++i) {
    const int pair = static_cast<int>(block[2 + i]);
    out[i] = d * static_cast<float>((pair & 15) - 8);
    out[i + 16] = d * static_cast<float>((pair >> 4) - 8);
  }
}

// Halves of 128; of each the element 32 k + l, k = 0..3, has its low bits in
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
      return each(32, 18, ReadQ4_0);
    case GgufTensorType::kQ6_K:
      return each(256, 210, ReadQ6_K);
  }
}

}  // namespace espalier
