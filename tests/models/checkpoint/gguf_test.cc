#include "models/checkpoint/gguf.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "base/bfloat16.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/models/testing/gguf_builder.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Put(const std::string& bytes) {
  const std::string path = TempFolder() + "/x.gguf";
  WriteFast(path, bytes);
  return path;
}

void ExpectRefused(const std::string& bytes, const std::string& what) {
  const std::string path = Put(bytes);
  const auto file = GgufFile::Open(path);
  ASSERT_FALSE(file.ok()) << what;
  EXPECT_THAT(std::string(file.status().message()),
              testing::AllOf(HasSubstr(path), HasSubstr(what)));
}

// Keys of every type and two tensors.
GgufBuilder Sample() {
  GgufBuilder builder;
  builder.Text("general.name", "tiny")
      .Whole("a.u32", 7)
      .Float("a.f32", 0.5f)
      .Flag("a.flag", true)
      .Raw("a.u64", 10, Little<uint64_t>(1ull << 63))
      .Raw("a.i8", 1, Little<int8_t>(-3))
      .Raw("a.f64", 12, Little<double>(2.25))
      .Texts("a.texts", {"x", "", "yz"})
      .Wholes("a.wholes", {3, -1})
      .Floats32("m", {3, 2}, {1, 2, 3, 4, 5, 6})
      .Tensor("q", {32, 1}, 8, std::string(34, '\1'));
  return builder;
}

TEST(GgufTest, KeysOfEveryKindAreRead) {
  for (const uint32_t version : {2u, 3u}) {
    GgufBuilder builder = Sample();
    builder.version = version;
    const auto file = GgufFile::Open(Put(builder.Bytes()));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->Find("general.name")->Text(), "tiny");
    EXPECT_EQ(file->Find("a.u32")->Whole(), 7);
    EXPECT_EQ(file->Find("a.u32")->Number(), 7.0);
    EXPECT_EQ(file->Find("a.u32")->Text(), std::nullopt);
    EXPECT_EQ(file->Find("a.u32")->Flag(), std::nullopt);
    EXPECT_EQ(file->Find("a.f32")->Number(), 0.5);
    EXPECT_EQ(file->Find("a.f32")->Whole(), std::nullopt);
    EXPECT_EQ(file->Find("a.flag")->Flag(), true);
    EXPECT_EQ(file->Find("a.u64")->Whole(), std::nullopt);  // beyond int64
    EXPECT_EQ(file->Find("a.i8")->Whole(), -3);
    EXPECT_EQ(file->Find("a.f64")->Number(), 2.25);
    const GgufValue* texts = file->Find("a.texts");
    EXPECT_TRUE(texts->is_array());
    EXPECT_EQ(texts->size(), 3u);
    EXPECT_EQ(texts->Text(2), "yz");
    EXPECT_EQ(texts->Text(3), std::nullopt);
    EXPECT_EQ(file->Find("a.wholes")->Whole(1), -1);
    EXPECT_EQ(file->Find("absent"), nullptr);
  }
}

TEST(GgufTest, TensorsAreFoundWhereTheHeaderSays) {
  for (const uint64_t alignment : {32u, 64u, 8u}) {
    GgufBuilder builder;
    builder.alignment = alignment;
    builder.Whole("general.alignment", static_cast<uint32_t>(alignment))
        .Floats32("m", {3, 2}, {1, 2, 3, 4, 5, 6})
        .Tensor("q", {32, 1}, 8, std::string(34, '\1'));
    const auto file = GgufFile::Open(Put(builder.Bytes()));
    ASSERT_TRUE(file.ok()) << file.status();
    const GgufTensor* m = file->FindTensor("m");
    ASSERT_NE(m, nullptr);
    EXPECT_EQ(m->columns(), 3);
    EXPECT_EQ(m->rows(), 2);
    std::vector<float> values(6);
    ReadGgufBlocks(m->type, file->data(*m).data(), 6, values.data());
    EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
    const GgufTensor* q = file->FindTensor("q");
    ASSERT_EQ(file->data(*q).size(), 34u);
    EXPECT_EQ(file->data(*q)[33], std::byte{1});
    file->file().Release(file->data(*m));
    ReadGgufBlocks(m->type, file->data(*m).data(), 6, values.data());
    EXPECT_EQ(values[5], 6);
  }
}

TEST(GgufTest, ATruncatedFileIsNamedAtEveryLength) {
  const std::string whole = Sample().Bytes();
  ASSERT_TRUE(GgufFile::Open(Put(whole)).ok());
  const std::string path = Put(whole);
  // The last tensor's padding may be missing.
  for (size_t n = 0; n + 30 < whole.size(); ++n) {
    WriteFast(path, whole.substr(0, n));
    const auto file = GgufFile::Open(path);
    ASSERT_FALSE(file.ok()) << n;
    EXPECT_THAT(std::string(file.status().message()), HasSubstr(path));
  }
}

TEST(GgufTest, OtherFilesAreRefused) {
  ExpectRefused("", "expected a GGUF file");
  ExpectRefused("GGU", "expected a GGUF file");
  ExpectRefused("{\"a\": 1}", "expected a GGUF file");
  GgufBuilder old = Sample();
  old.version = 1;
  ExpectRefused(old.Bytes(), "version 2 or 3, found 1");
  old.version = 3u << 24;
  ExpectRefused(old.Bytes(), "big-endian");
  EXPECT_EQ(GgufFile::Open(TempFolder() + "/none.gguf").status().code(),
            absl::StatusCode::kNotFound);
  const std::string folder = TempFolder();
  EXPECT_THAT(std::string(GgufFile::Open(folder).status().message()),
              HasSubstr("a folder"));
}

TEST(GgufTest, HostileCountsAreRefusedBeforeAnythingIsAllocated) {
  constexpr uint64_t kMany = std::numeric_limits<uint64_t>::max();
  const std::string head = "GGUF" + Little<uint32_t>(3);
  ExpectRefused(head + Little(kMany) + Little<uint64_t>(0), "tensor number 0");
  ExpectRefused(head + Little<uint64_t>(0) + Little(kMany), "key number 0");
  for (const uint64_t size : {kMany, kMany / 2, uint64_t{1} << 40}) {
    for (const uint32_t element : {0u, 6u, 8u, 12u}) {
      GgufBuilder array;
      array.Raw("k", 9, Little(element) + Little(size));
      ExpectRefused(array.Bytes(), "key k");
    }
    GgufBuilder text;
    text.Raw("k", 8, Little(size));
    ExpectRefused(text.Bytes(), "key k");
  }
}

TEST(GgufTest, DamagedKeysAreRefused) {
  GgufBuilder twice;
  twice.Whole("k", 1).Whole("k", 2);
  ExpectRefused(twice.Bytes(), "key k appears twice");
  GgufBuilder unknown;
  unknown.Raw("k", 13, "");
  ExpectRefused(unknown.Bytes(), "key k: expected a number");
  GgufBuilder nested;
  nested.Raw("k", 9, Little<uint32_t>(9) + Little<uint64_t>(1));
  ExpectRefused(nested.Bytes(), "an array of arrays");
  GgufBuilder name;
  name.Whole(std::string(70000, 'k'), 1);
  ExpectRefused(name.Bytes(), "at most 65535 bytes");
  for (const uint32_t alignment : {0u, 48u, 1u << 20}) {
    GgufBuilder builder;
    builder.Whole("general.alignment", alignment);
    ExpectRefused(builder.Bytes(), "power of two");
  }
}

TEST(GgufTest, DamagedTensorsAreRefused) {
  const auto entry = [](const std::vector<uint64_t>& extents, uint32_t type,
                        uint64_t begin) {
    GgufBuilder builder;
    builder.Entry("t", extents, type, begin).Data(std::string(64, 'x'));
    return builder.Bytes();
  };
  EXPECT_TRUE(GgufFile::Open(Put(entry({16}, 0, 0))).ok());
  ExpectRefused(entry({}, 0, 0), "1 to 4 extents, found 0");
  ExpectRefused(entry({1, 1, 1, 1, 1}, 0, 0), "found 5");
  ExpectRefused(entry({0}, 0, 0), "extents above 0");
  ExpectRefused(entry({1ull << 63}, 0, 0), "extents above 0");
  ExpectRefused(entry({1ull << 32, 1ull << 32}, 0, 0), "extents above 0");
  ExpectRefused(entry({16, 1ull << 57}, 0, 0), "extents above 0");
  ExpectRefused(entry({33}, 8, 0), "multiple of 32 as Q8_0");
  ExpectRefused(entry({17}, 0, 0), "truncated");
  ExpectRefused(entry({16}, 0, 64), "truncated");
  ExpectRefused(entry({16}, 0, ~uint64_t{31}), "truncated");
  ExpectRefused(entry({1}, 0, 8), "multiple of 32 bytes");
  ExpectRefused(entry({256}, 16, 0), "found IQ2_XXS, supported: F32");
  ExpectRefused(entry({32}, 99, 0), "found type 99");

  GgufBuilder twice;
  twice.Entry("t", {8}, 0, 0).Entry("t", {8}, 0, 32);
  ExpectRefused(twice.Data(std::string(64, 'x')).Bytes(), "appears twice");
  GgufBuilder overlap;
  overlap.Entry("a", {16}, 0, 0).Entry("b", {8}, 0, 32);
  ExpectRefused(overlap.Data(std::string(64, 'x')).Bytes(), "overlap");
}

TEST(GgufTest, DamagedBytesNeverDoMoreThanFail) {
  const std::string whole = Sample().Bytes();
  RandomStream random(StreamKey(11, 0, 0, Purpose::kTest));
  const std::string path = Put(whole);
  int opened = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    const int changes = random.Range(1, 4);
    for (int i = 0; i < changes; ++i) {
      const uint32_t at = random.Below(static_cast<uint32_t>(bytes.size()));
      // Small bytes damage counts and types, large ones lengths.
      bytes[at] = static_cast<char>(random.Below(2) == 0 ? random.Below(16)
                                                         : random.Next32());
    }
    WriteFast(path, bytes);
    const auto file = GgufFile::Open(path);
    if (!file.ok()) continue;
    ++opened;
    for (const auto& [name, tensor] : file->tensors()) {
      std::vector<float> values(
          static_cast<size_t>(tensor.rows() * tensor.columns()));
      ReadGgufBlocks(tensor.type, file->data(tensor).data(),
                     static_cast<int64_t>(values.size()), values.data());
    }
  }
  EXPECT_GT(opened, 0);
  EXPECT_LT(opened, 3000);
}

// The blocks by definition, one element at a time from bit positions.
uint32_t BitsAt(const std::string& bytes, size_t bit, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i) {
    const size_t b = bit + static_cast<size_t>(i);
    value |= (static_cast<uint8_t>(bytes[b / 8]) >> (b % 8) & 1u) << i;
  }
  return value;
}

float Element(GgufTensorType type, const std::string& block, size_t i) {
  const auto half = [&](size_t byte) {
    return Fp16ToFloat(static_cast<uint16_t>(BitsAt(block, 8 * byte, 16)));
  };
  const auto signed_byte = [&](size_t byte) {
    const int value = static_cast<int>(BitsAt(block, 8 * byte, 8));
    return value < 128 ? value : value - 256;
  };
  switch (type) {
    case GgufTensorType::kQ8_0:
      return half(0) * static_cast<float>(signed_byte(2 + i));
    case GgufTensorType::kQ4_0: {
      const size_t bit = 16 + 8 * (i % 16) + 4 * (i / 16);
      return half(0) * (static_cast<float>(BitsAt(block, bit, 4)) - 8.0f);
    }
    case GgufTensorType::kQ4_1:
      return half(0) * static_cast<float>(
                           BitsAt(block, 32 + 8 * (i % 16) + 4 * (i / 16), 4)) +
             half(2);
    case GgufTensorType::kQ5_0:
      return half(0) * (static_cast<float>(
                            BitsAt(block, 48 + 8 * (i % 16) + 4 * (i / 16), 4) |
                            BitsAt(block, 16 + i, 1) << 4) -
                        16.0f);
    case GgufTensorType::kQ5_1:
      return half(0) * static_cast<float>(
                           BitsAt(block, 64 + 8 * (i % 16) + 4 * (i / 16), 4) |
                           BitsAt(block, 32 + i, 1) << 4) +
             half(2);
    case GgufTensorType::kQ4_K:
    case GgufTensorType::kQ5_K: {
      const bool five = type == GgufTensorType::kQ5_K;
      const size_t j = i / 32, l = i % 32;
      // 6 bits each. For the first four, bytes 4..7 hold scales and 8..11
      // minima; for the last four the low bits are in 12..15 and the high bits
      // in 4..11.
      uint32_t scale, low;
      if (j < 4) {
        scale = BitsAt(block, 8 * (4 + j), 6);
        low = BitsAt(block, 8 * (8 + j), 6);
      } else {
        scale = BitsAt(block, 8 * (8 + j), 4) | BitsAt(block, 8 * j + 6, 2)
                                                    << 4;
        low = BitsAt(block, 8 * (8 + j) + 4, 4) |
              BitsAt(block, 8 * (4 + j) + 6, 2) << 4;
      }
      uint32_t q = BitsAt(
          block, 8 * ((five ? 48 : 16) + 32 * (j / 2) + l) + 4 * (j % 2), 4);
      if (five) q |= BitsAt(block, 8 * (16 + l) + j, 1) << 4;
      return half(0) * static_cast<float>(scale) * static_cast<float>(q) -
             half(2) * static_cast<float>(low);
    }
    case GgufTensorType::kQ6_K: {
      const size_t part = i / 128, k = i % 128 / 32, l = i % 32;
      const size_t low = 8 * (64 * part + 32 * (k % 2) + l) + 4 * (k / 2);
      const size_t high = 8 * (128 + 32 * part + l) + 2 * k;
      const auto q = static_cast<float>(BitsAt(block, low, 4) |
                                        BitsAt(block, high, 2) << 4);
      return half(208) * static_cast<float>(signed_byte(192 + i / 16)) *
             (q - 32.0f);
    }
    default:
      return 0;
  }
}

TEST(GgufTest, BlocksAreReadByTheirDefinition) {
  RandomStream random(StreamKey(3, 0, 0, Purpose::kTest));
  for (const GgufTensorType type :
       {GgufTensorType::kQ8_0, GgufTensorType::kQ4_0, GgufTensorType::kQ4_1,
        GgufTensorType::kQ5_0, GgufTensorType::kQ5_1, GgufTensorType::kQ4_K,
        GgufTensorType::kQ5_K, GgufTensorType::kQ6_K}) {
    const GgufBlock block = BlockOf(static_cast<uint32_t>(type));
    const auto bytes = static_cast<size_t>(block.bytes);
    const auto elements = static_cast<size_t>(block.elements);
    for (int round = 0; round < 50; ++round) {
      std::string data(3 * bytes, '\0');
      for (char& c : data) c = static_cast<char>(random.Next32());
      std::vector<float> values(3 * elements);
      ReadGgufBlocks(type, reinterpret_cast<const std::byte*>(data.data()),
                     static_cast<int64_t>(values.size()), values.data());
      for (size_t i = 0; i < values.size(); ++i) {
        const float expected = Element(
            type, data.substr(i / elements * bytes, bytes), i % elements);
        if (std::isnan(expected)) continue;  // not a valid scale
        ASSERT_EQ(values[i], expected) << i;
      }
    }
  }
}

TEST(GgufTest, HalvesWidenExactly) {
  const std::string data = Little<uint16_t>(0x3C01) + Little<uint16_t>(0xC000);
  const auto* bytes = reinterpret_cast<const std::byte*>(data.data());
  float values[2];
  ReadGgufBlocks(GgufTensorType::kF16, bytes, 2, values);
  EXPECT_THAT(values, ElementsAre(1 + 0x1p-10f, -2.0f));
  ReadGgufBlocks(GgufTensorType::kBF16, bytes, 2, values);
  EXPECT_THAT(values, ElementsAre(0x1.02p-7f, -2.0f));
}

}  // namespace
}  // namespace espalier
