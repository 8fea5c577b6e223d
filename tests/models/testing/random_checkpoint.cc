#include "tests/models/testing/random_checkpoint.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/llama_config.h"
#include "src/base/bfloat16.h"
#include "src/base/files.h"
#include "src/base/random.h"
#include "src/base/status_macros.h"

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
  config.end_token = 1;
  return config;
}

LlamaWeights RandomWeights(const TrunkConfig& config, uint64_t seed,
                           DType dtype) {
  LlamaWeights weights;
  uint64_t index = 0;
  for (const LlamaTensor& tensor : LlamaTensors(config, weights)) {
    RandomStream random(StreamKey(seed, 0, index++, Purpose::kTest));
    size_t count = 1;
    for (const int64_t extent : tensor.shape) {
      count *= static_cast<size_t>(extent);
    }
    const bool norm = tensor.name.find("norm") != std::string::npos;
    const bool embedding = &weights.embedding == tensor.values;
    const double scale =
        norm        ? 0.1
        : embedding ? 0.5
                    : 1.0 / std::sqrt(static_cast<double>(tensor.shape.back()));
    tensor.values->resize(count);
    for (float& value : *tensor.values) {
      value = Rounded(
          static_cast<float>((norm ? 1.0 : 0.0) + scale * random.Normal()),
          dtype);
    }
  }
  return weights;
}

absl::Status WriteCheckpoint(const std::string& folder,
                             const TrunkConfig& config, LlamaWeights& weights,
                             DType dtype) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return FileError("create", folder, error.value());
  ESP_RETURN_IF_ERROR(
      WriteFileAtomic(folder + "/config.json", LlamaConfigJson(config)));
  std::vector<NamedTensor> tensors;
  std::vector<std::vector<std::byte>> bytes;
  const std::vector<LlamaTensor> list = LlamaTensors(config, weights);
  bytes.reserve(list.size());
  for (const LlamaTensor& tensor : list) {
    bytes.push_back(Encode(*tensor.values, dtype));
    tensors.push_back({tensor.name, dtype, tensor.shape, bytes.back()});
  }
  return WriteSafetensors(folder + "/model.safetensors", tensors,
                          {{"format", "pt"}});
}

absl::Status WriteRandomCheckpoint(const std::string& folder,
                                   const TrunkConfig& config, uint64_t seed,
                                   DType dtype) {
  LlamaWeights weights = RandomWeights(config, seed, dtype);
  return WriteCheckpoint(folder, config, weights, dtype);
}

std::string TempFolder() {
  static std::atomic<int> count{0};  // folders handed out; only grows
  const std::string folder =
      absl::StrCat(testing::TempDir(), "/checkpoint_", count.fetch_add(1));
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace espalier
