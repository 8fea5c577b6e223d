#include "models/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using testing::HasSubstr;

// A file with this header and `data_bytes` bytes of data.
std::string FileOf(const std::string& header, size_t data_bytes) {
  std::string file(8, '\0');
  const uint64_t n = header.size();
  std::memcpy(file.data(), &n, 8);
  return file + header + std::string(data_bytes, '\1');
}

std::string PutHeader(const std::string& bytes) {
  const std::string path = TempFolder() + "/t.safetensors";
  std::ofstream(path, std::ios::binary) << bytes;  // no flush to disk
  return path;
}

// Opens the bytes, expects an error that names the file and `what`.
void ExpectHeaderRefused(const std::string& bytes, const std::string& what) {
  const std::string path = PutHeader(bytes);
  const auto file = SafetensorsFile::Open(path);
  ASSERT_FALSE(file.ok()) << what;
  EXPECT_THAT(std::string(file.status().message()), HasSubstr(path));
  EXPECT_THAT(std::string(file.status().message()), HasSubstr(what));
}

std::string Entry(const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

TEST(SafetensorsTest, AHandWrittenFileIsRead) {
  std::string bytes = FileOf("{\"__metadata__\":{\"format\":\"pt\"},\"a\":" +
                                 Entry("BF16", "[2,1]", "[0,4]") +
                                 ",\"s\":" + Entry("F32", "[]", "[4,8]") + "}",
                             0);
  bytes += std::string("\x80\x3F\x00\xC0", 4);  // 1, -2
  bytes += std::string("\x00\x00\x00\x3F", 4);  // 0.5
  const auto file = SafetensorsFile::Open(PutHeader(bytes));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->metadata().at("format"), "pt");
  EXPECT_EQ(file->tensors().size(), 2u);
  EXPECT_THAT(file->tensors().at("a").shape, testing::ElementsAre(2, 1));
  EXPECT_THAT(*file->Floats("a"), testing::ElementsAre(1.0f, -2.0f));
  EXPECT_THAT(*file->Floats("s"), testing::ElementsAre(0.5f));
}

TEST(SafetensorsTest, WhatIsWrittenIsReadBack) {
  const std::vector<float> a = {1, 2.5f, -3e-20f, 4, 5, 6};
  const std::vector<uint16_t> b = {0x3F80, 0x4000};
  const NamedTensor tensors[] = {
      {"z.weight", DType::kF32, {2, 3}, std::as_bytes(std::span(a))},
      {"a.bias", DType::kBF16, {2}, std::as_bytes(std::span(b))},
      {"empty", DType::kI64, {0, 4}, {}}};
  const std::string path = TempFolder() + "/w.safetensors";
  ASSERT_TRUE(WriteSafetensors(path, tensors, {{"made", "by test"}}).ok());
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*file->Floats("z.weight"), a);
  EXPECT_THAT(*file->Floats("a.bias"), testing::ElementsAre(1.0f, 2.0f));
  EXPECT_EQ(file->data("empty").size(), 0u);
  EXPECT_EQ(file->metadata().at("made"), "by test");
  EXPECT_FALSE(file->Floats("empty").ok());  // I64 is not a float type
}

TEST(SafetensorsTest, ImpossibleTensorsAreNotWritten) {
  const std::vector<float> a = {1, 2};
  const auto bytes = std::as_bytes(std::span(a));
  const std::string path = TempFolder() + "/w.safetensors";
  const NamedTensor wrong[] = {{"a", DType::kF32, {3}, bytes}};
  EXPECT_THAT(std::string(WriteSafetensors(path, wrong).message()),
              HasSubstr("tensor a: expected 12 bytes for F32 [3], found 8"));
  const NamedTensor twice[] = {{"a", DType::kF32, {2}, bytes},
                               {"a", DType::kF32, {2}, bytes}};
  EXPECT_THAT(std::string(WriteSafetensors(path, twice).message()),
              HasSubstr("twice"));
  const NamedTensor reserved[] = {{"__metadata__", DType::kF32, {2}, bytes}};
  EXPECT_FALSE(WriteSafetensors(path, reserved).ok());
  EXPECT_FALSE(SafetensorsFile::Open(path).ok());
}

TEST(SafetensorsTest, AbsentFilesAndFoldersAreRefused) {
  const std::string folder = TempFolder();
  EXPECT_EQ(SafetensorsFile::Open(folder + "/none").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(SafetensorsFile::Open(folder).status().message()),
              HasSubstr("a folder"));
}

TEST(SafetensorsTest, ATruncatedFileIsNamedAtEveryLength) {
  const std::string whole =
      FileOf("{\"a\":" + Entry("F32", "[4]", "[0,16]") + "}", 16);
  ASSERT_TRUE(SafetensorsFile::Open(PutHeader(whole)).ok());
  for (size_t n = 0; n < whole.size(); ++n) {
    const auto file = SafetensorsFile::Open(PutHeader(whole.substr(0, n)));
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.status().code(), absl::StatusCode::kDataLoss)
        << n << ": " << file.status();
  }
  ExpectHeaderRefused(whole.substr(0, whole.size() - 1), "truncated");
  ExpectHeaderRefused(whole + "x", "after the last tensor");
}

TEST(SafetensorsTest, DamagedHeadersAreRefused) {
  ExpectHeaderRefused(std::string(8, '\xFF') + "{}", "not a safetensors file");
  ExpectHeaderRefused(FileOf("", 0), "malformed JSON");
  ExpectHeaderRefused(FileOf("{\"a\"", 0), "malformed JSON");
  ExpectHeaderRefused(FileOf("[1]", 0), "[1]");
  ExpectHeaderRefused(FileOf(std::string(50000, '['), 0), "nesting");
  ExpectHeaderRefused(FileOf("{\"a\":3}", 0), "tensor a: expected an object");
  ExpectHeaderRefused(FileOf("{\"__metadata__\":{\"k\":1}}", 0),
                      "__metadata__.k");
  const std::string a = "\"a\":" + Entry("U8", "[1]", "[0,1]");
  ExpectHeaderRefused(FileOf("{" + a + "," + a + "}", 1),
                      "tensor a appears twice");
}

TEST(SafetensorsTest, DamagedEntriesAreRefused) {
  const auto one = [](const std::string& entry, size_t bytes) {
    return FileOf("{\"a\":" + entry + "}", bytes);
  };
  ExpectHeaderRefused(one("{\"dtype\":\"F32\",\"shape\":[1]}", 4),
                      "tensor a: has no \"data_offsets\"");
  ExpectHeaderRefused(one(Entry("F31", "[1]", "[0,4]"), 4), "\"F31\"");
  ExpectHeaderRefused(one(Entry("F32", "[-1]", "[0,4]"), 4), "[-1]");
  ExpectHeaderRefused(one(Entry("F32", "[1.5]", "[0,4]"), 4), "[1.5]");
  ExpectHeaderRefused(one(Entry("F32", "3", "[0,4]"), 4), "found 3");
  ExpectHeaderRefused(one(Entry("F32", "[2]", "[0,4]"), 4), "expected 8 bytes");
  ExpectHeaderRefused(one(Entry("F32", "[1]", "[4,0]"), 4), "[4,0]");
  ExpectHeaderRefused(one(Entry("F32", "[1]", "[0]"), 4), "data_offsets");
  ExpectHeaderRefused(one(Entry("F32", "[1]", "[0,1e3]"), 4), "data_offsets");
  ExpectHeaderRefused(one(Entry("U8", "[4294967296,4294967296]", "[0,0]"), 0),
                      "fewer than 2^64");
  ExpectHeaderRefused(one(Entry("U8", "[9223372036854775808]", "[0,0]"), 0),
                      "whole numbers");
  ExpectHeaderRefused(one(Entry("U8", "[1]",
                                "[18446744073709551614,"
                                "18446744073709551615]"),
                          1),
                      "a gap");
}

TEST(SafetensorsTest, OverlapsAndGapsAreRefused) {
  const auto two = [](const std::string& b, size_t bytes) {
    return FileOf("{\"a\":" + Entry("U8", "[4]", "[0,4]") +
                      ",\"b\":" + Entry("U8", "[4]", b) + "}",
                  bytes);
  };
  EXPECT_TRUE(SafetensorsFile::Open(PutHeader(two("[4,8]", 8))).ok());
  ExpectHeaderRefused(two("[3,7]", 7), "overlap");
  ExpectHeaderRefused(two("[0,4]", 4), "overlap");
  ExpectHeaderRefused(two("[5,9]", 9), "a gap");
}

TEST(SafetensorsTest, DamagedBytesNeverDoMoreThanFail) {
  const std::string whole =
      FileOf("{\"__metadata__\":{\"format\":\"pt\"},\"a\":" +
                 Entry("F32", "[2,2]", "[0,16]") +
                 ",\"b\":" + Entry("BF16", "[4]", "[16,24]") + "}",
             24);
  RandomStream random(StreamKey(7, 0, 0, Purpose::kTest));
  const std::string path = TempFolder() + "/f.safetensors";
  int opened = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    const int changes = random.Range(1, 4);
    for (int i = 0; i < changes; ++i) {
      bytes[random.Below(static_cast<uint32_t>(bytes.size() - 24))] =
          static_cast<char>(random.Next32());
    }
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << bytes;
    const auto file = SafetensorsFile::Open(path);
    if (!file.ok()) continue;
    ++opened;
    for (const auto& [name, info] : file->tensors()) {
      size_t sum = 0;
      for (const std::byte b : file->data(name)) sum += static_cast<size_t>(b);
      EXPECT_EQ(sum, info.end - info.begin) << name;
    }
  }
  EXPECT_GT(opened, 0);
  EXPECT_LT(opened, 2000);
}

TEST(SafetensorsTest, APublishedFileIsRead) {
  const char* data = std::getenv("ESPALIER_DATA");
  if (data == nullptr) GTEST_SKIP() << "set ESPALIER_DATA to the data folder";
  const auto file = SafetensorsFile::Open(
      std::string(data) + "/models/tiny-random-gpt2/model.safetensors");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_GT(file->tensors().size(), 10u);
}

}  // namespace
}  // namespace espalier
