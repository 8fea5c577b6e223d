#include "tests/models/testing/random_checkpoint.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/bfloat16.h"
#include "base/files.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/hf_layout.h"

namespace espalier {
namespace {

uint16_t Narrow(float value, DType dtype) {
  return dtype == DType::kBF16 ? FloatToBf16(value) : FloatToFp16(value);
}

float Rounded(float value, DType dtype) {
  if (dtype == DType::kF32) return value;
  const uint16_t bits = Narrow(value, dtype);
  return dtype == DType::kBF16 ? Bf16ToFloat(bits) : Fp16ToFloat(bits);
}

std::vector<std::byte> Encode(const std::vector<float>& values, DType dtype) {
  std::vector<std::byte> bytes(values.size() *
                               static_cast<size_t>(DTypeBytes(dtype)));
  if (dtype == DType::kF32) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t bits = Narrow(values[i], dtype);
    std::memcpy(bytes.data() + 2 * i, &bits, sizeof(bits));
  }
  return bytes;
}

// Mean and standard deviation of a tensor's values.
std::pair<double, double> Distribution(const HfTensor& tensor) {
  switch (tensor.kind) {
    case HfTensor::Kind::kNorm:
      return {1, 0.1};
    case HfTensor::Kind::kOffsetNorm:
      return {0, 0.1};
    case HfTensor::Kind::kEmbedding:
      return {0, 0.5};
    case HfTensor::Kind::kBias:
      return {0, 0.1};
    case HfTensor::Kind::kMatrix:
      return {0, 1 / std::sqrt(static_cast<double>(tensor.inputs))};
  }
  return {0, 1};
}

absl::Status WriteShards(const std::string& folder,
                         const std::vector<NamedTensor>& tensors, int shards) {
  nlohmann::json index;
  int64_t total = 0;
  for (int s = 0; s < shards; ++s) {
    const std::string name =
        absl::StrFormat("model-%05d-of-%05d.safetensors", s + 1, shards);
    std::vector<NamedTensor> part;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (i * static_cast<size_t>(shards) / tensors.size() !=
          static_cast<size_t>(s)) {
        continue;
      }
      part.push_back(tensors[i]);
      index["weight_map"][tensors[i].name] = name;
      total += static_cast<int64_t>(tensors[i].data.size());
    }
    ESP_RETURN_IF_ERROR(
        WriteSafetensors(folder + "/" + name, part, {{"format", "pt"}}));
  }
  index["metadata"]["total_size"] = total;
  return WriteFileAtomic(folder + "/model.safetensors.index.json",
                         index.dump(2));
}

}  // namespace

TrunkConfig TinyConfig() {
  TrunkConfig config;
  config.vocab_size = 67;
  config.hidden_size = 40;
  config.intermediate_size = 54;
  config.layers = 2;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 10;
  config.context_length = 512;
  config.reward_head = true;
  config.head = HeadKind::kReward;
  config.head_labels = 2;
  config.head_bias = true;
  config.end_token = 1;
  return config;
}

std::vector<RandomTensor> RandomTensors(const TrunkConfig& config,
                                        uint64_t seed, DType dtype) {
  std::vector<RandomTensor> out;
  uint64_t index = 0;
  for (const HfTensor& tensor : HfTensors(config)) {
    RandomStream random(StreamKey(seed, 0, index++, Purpose::kTest));
    const auto [mean, deviation] = Distribution(tensor);
    size_t count = 1;
    for (const int64_t extent : tensor.shape) {
      count *= static_cast<size_t>(extent);
    }
    out.push_back({tensor.name, tensor.shape, std::vector<float>(count)});
    for (float& value : out.back().values) {
      value = Rounded(static_cast<float>(mean + deviation * random.Normal()),
                      dtype);
    }
  }
  return out;
}

absl::Status WriteTensors(const std::string& folder, const TrunkConfig& config,
                          const std::vector<RandomTensor>& tensors, DType dtype,
                          int shards) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return FileError("create", folder, error.value());
  ESP_RETURN_IF_ERROR(
      WriteFileAtomic(folder + "/config.json", HfConfigJson(config).dump(2)));
  std::vector<NamedTensor> named;
  std::vector<std::vector<std::byte>> bytes;
  bytes.reserve(tensors.size());
  for (const RandomTensor& tensor : tensors) {
    bytes.push_back(Encode(tensor.values, dtype));
    named.push_back({tensor.name, dtype, tensor.shape, bytes.back()});
  }
  if (shards > 1) return WriteShards(folder, named, shards);
  return WriteSafetensors(folder + "/model.safetensors", named,
                          {{"format", "pt"}});
}

absl::Status WriteRandomCheckpoint(const std::string& folder,
                                   const TrunkConfig& config, uint64_t seed,
                                   DType dtype, int shards) {
  return WriteTensors(folder, config, RandomTensors(config, seed, dtype), dtype,
                      shards);
}

LlamaWeights RandomWeights(const TrunkConfig& config, uint64_t seed,
                           DType dtype) {
  std::map<std::string, std::vector<float>> drawn;
  for (RandomTensor& tensor : RandomTensors(config, seed, dtype)) {
    drawn[tensor.name] = std::move(tensor.values);
  }
  LlamaWeights weights;
  for (const LlamaTensor& tensor : LlamaTensors(config, weights)) {
    *tensor.values = std::move(drawn.at(tensor.name));
  }
  return weights;
}

absl::Status WriteCheckpoint(const std::string& folder,
                             const TrunkConfig& config, LlamaWeights& weights,
                             DType dtype) {
  std::vector<RandomTensor> tensors;
  for (const LlamaTensor& tensor : LlamaTensors(config, weights)) {
    tensors.push_back({tensor.name, tensor.shape, *tensor.values});
  }
  return WriteTensors(folder, config, tensors, dtype);
}

std::string TempFolder() {
  static std::atomic<int> count{0};  // folders created so far
  const std::string folder =
      absl::StrCat(testing::TempDir(), "/checkpoint_", count.fetch_add(1));
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace espalier
