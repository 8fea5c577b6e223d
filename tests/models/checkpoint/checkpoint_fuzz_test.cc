// Random damage to downloaded files: safetensors headers, config.json, the
// index of shards. Reading must return a model or an error that names the
// place; the sanitizers check the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/random.h"
#include "models/checkpoint/shard_set.h"
#include "models/checkpoint/tensor_source.h"
#include "models/checkpoint/trunk_config_json.h"
#include "nlohmann/json.hpp"
#include "tests/base/one_thread.h"
#include "tests/models/testing/hf_layout.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using testing::HasSubstr;

// Numbers and words that break parsers.
constexpr const char* kPieces[] = {"0",
                                   "-1",
                                   "1e400",
                                   "0.5",
                                   "18446744073709551615",
                                   "18446744073709551616",
                                   "9223372036854775807",
                                   "4294967296",
                                   "null",
                                   "true",
                                   "{}",
                                   "[]",
                                   "\"\"",
                                   "\"BF16\"",
                                   "{\"a\":[[]]}",
                                   "\\u0000",
                                   "\xff",
                                   ",",
                                   "\"",
                                   "[[[[[[[[[[[[[[[[[[[["};

size_t Below(RandomStream& random, size_t n) {
  return n == 0 ? 0 : random.Below(static_cast<uint32_t>(n));
}

// One to four edits: bytes changed, cut, duplicated, or inserted from kPieces;
// half of the pieces replace a number.
std::string Damage(std::string text, RandomStream& random) {
  const int edits = random.Range(1, 4);
  for (int i = 0; i < edits; ++i) {
    const size_t at = Below(random, text.size());
    const size_t length = 1 + Below(random, 12);
    switch (random.Below(5)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(Below(random, text.size()), 4 * length));
        break;
      case 3:
        text.insert(at, kPieces[random.Below(std::size(kPieces))]);
        break;
      default: {
        const size_t from = text.find_first_of("0123456789", at);
        if (from == std::string::npos) break;
        const size_t to = text.find_first_not_of("0123456789.e-", from);
        text.replace(from, to == std::string::npos ? to : to - from,
                     kPieces[random.Below(std::size(kPieces))]);
      }
    }
  }
  return text;
}

// Without WriteFileAtomic's flush to disk, too slow for thousands of files.
// Removes the file first, as some file systems also flush on truncation.
void Put(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

RandomStream Stream(uint64_t seed) {
  return RandomStream(StreamKey(seed, 0, 0, Purpose::kTest));
}

// Damages headers; in half of the files their lengths are adjusted to match.
void FuzzHeaders(int runs, uint64_t seed) {
  RandomStream random = Stream(seed);
  const std::string folder = TempFolder();
  ASSERT_TRUE(WriteRandomCheckpoint(folder, TinyConfig(), 1).ok());
  const std::string path = folder + "/model.safetensors";
  const std::string bytes = *ReadFile(path);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  const std::string header = bytes.substr(8, length);
  const std::string data = bytes.substr(8 + length);
  int opened = 0;
  for (int i = 0; i < runs; ++i) {
    const std::string damaged = Damage(header, random);
    uint64_t n = random.Below(2) == 0 ? length : damaged.size();
    if (random.Below(16) == 0) n = random.Next64() >> random.Below(64);
    std::string file(sizeof(n), '\0');
    std::memcpy(file.data(), &n, sizeof(n));
    Put(path, file + damaged + data.substr(0, Below(random, 2 * data.size())));
    const auto read = SafetensorsFile::Open(path);
    if (!read.ok()) {
      EXPECT_THAT(std::string(read.status().message()), HasSubstr(path));
      continue;
    }
    ++opened;
    size_t sum = 0;
    for (const auto& [name, info] : read->tensors()) {
      for (const std::byte b : read->data(name)) sum += static_cast<size_t>(b);
    }
    EXPECT_GT(sum, 0u);
  }
  EXPECT_LT(opened, runs);
}

void FuzzConfigs(int runs, uint64_t seed) {
  RandomStream random = Stream(seed);
  const std::string folder = TempFolder();
  ASSERT_TRUE(WriteRandomCheckpoint(folder, TinyConfig(), 1).ok());
  std::vector<std::string> texts;
  for (const NamedConfig& named : EveryNetwork()) {
    texts.push_back(HfConfigJson(named.config).dump());
  }
  int parsed = 0;
  for (int i = 0; i < runs; ++i) {
    const std::string& text = texts[Below(random, texts.size())];
    const std::string damaged = Damage(text, random);
    const auto config = ParseTrunkConfig(damaged, "some/config.json");
    if (!config.ok()) {
      EXPECT_THAT(std::string(config.status().message()),
                  HasSubstr("some/config.json"));
      continue;
    }
    ++parsed;
    for (int part = 0; part < kTensorRoles; ++part) {
      const TensorShape shape = ShapeOf(*config, static_cast<TensorRole>(part));
      EXPECT_GE(shape.rows, 0);
      EXPECT_GE(shape.columns, 1);
    }
    // With the tensors of another network: an error unless nothing changed.
    Put(folder + "/config.json", damaged);
    const auto source = TensorSource::Open(folder);
    if (!source.ok()) {
      EXPECT_THAT(std::string(source.status().message()), HasSubstr(folder));
    }
  }
  EXPECT_GT(parsed, runs / 100);
}

void FuzzIndexes(int runs, uint64_t seed) {
  RandomStream random = Stream(seed);
  const std::string folder = TempFolder();
  ASSERT_TRUE(
      WriteRandomCheckpoint(folder, TinyConfig(), 1, DType::kBF16, 2).ok());
  const std::string path = folder + "/model.safetensors.index.json";
  const std::string text = *ReadFile(path);
  int refused = 0;
  for (int i = 0; i < runs; ++i) {
    Put(path, Damage(text, random));
    const auto set = ShardSet::Open(folder);
    if (set.ok()) continue;
    ++refused;
    EXPECT_THAT(std::string(set.status().message()), HasSubstr(folder));
  }
  EXPECT_GT(refused, runs / 4);
}

TEST(CheckpointFuzzTest, DamagedHeadersAreRefused) {
  ESP_ONE_THREAD();
  FuzzHeaders(3000, 1);
}
TEST(CheckpointFuzzTest, DamagedConfigsAreRefused) { FuzzConfigs(5000, 2); }
TEST(CheckpointFuzzTest, DamagedIndexesAreRefused) { FuzzIndexes(2000, 3); }

// Hundreds of times as many cases.
TEST(CheckpointFuzzTest, LongRunsOfDamagedHeaders) { FuzzHeaders(600'000, 4); }
TEST(CheckpointFuzzTest, LongRunsOfDamagedConfigs) {
  FuzzConfigs(1'000'000, 5);
}
TEST(CheckpointFuzzTest, LongRunsOfDamagedIndexes) { FuzzIndexes(400'000, 6); }

}  // namespace
}  // namespace espalier
