// Small random Llama folders for tests, of any shape.
//
//   const std::string folder = TempFolder();
//   ESP_CHECK_OK(WriteRandomCheckpoint(folder, TinyConfig(), /*seed=*/1));
//   auto trunk = Trunk::Load(folder);
#ifndef ESPALIER_TESTS_MODELS_TESTING_RANDOM_CHECKPOINT_H_
#define ESPALIER_TESTS_MODELS_TESTING_RANDOM_CHECKPOINT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "models/checkpoint/llama_weights.h"
#include "models/checkpoint/safetensors.h"
#include "models/cpu/trunk.h"

namespace espalier {

// Two layers, four heads over two KV heads, every size a multiple of nothing
// convenient.
TrunkConfig TinyConfig();

// Weights drawn from `seed`: norms near 1, matrices scaled so that activations
// stay of order 1 and logits differ. Each value is exact in `dtype`.
LlamaWeights RandomWeights(const TrunkConfig& config, uint64_t seed,
                           DType dtype = DType::kBF16);

// Creates `folder` with config.json and model.safetensors.
absl::Status WriteCheckpoint(const std::string& folder,
                             const TrunkConfig& config, LlamaWeights& weights,
                             DType dtype = DType::kBF16);
absl::Status WriteRandomCheckpoint(const std::string& folder,
                                   const TrunkConfig& config, uint64_t seed,
                                   DType dtype = DType::kBF16);

// A new empty folder under the test's temporary folder.
std::string TempFolder();

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TESTING_RANDOM_CHECKPOINT_H_
