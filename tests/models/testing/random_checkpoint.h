// Small random Hugging Face folders for tests: any architecture, any shape.
//
//   const std::string folder = TempFolder();
//   ESP_CHECK_OK(WriteRandomCheckpoint(folder, TinyConfig(), /*seed=*/1));
//   auto trunk = Trunk::Load(folder);
//
// hf_layout.h has the list of all kinds of networks, EveryNetwork().
#ifndef ESPALIER_TESTS_MODELS_TESTING_RANDOM_CHECKPOINT_H_
#define ESPALIER_TESTS_MODELS_TESTING_RANDOM_CHECKPOINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "models/checkpoint/llama_weights.h"
#include "models/checkpoint/safetensors.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

// A Llama with two layers and four heads over two KV heads; no size is a
// multiple of anything convenient.
TrunkConfig TinyConfig();

// A tensor as named, shaped and stored by Hugging Face.
struct RandomTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;
};

// All tensors of a network, drawn from `seed`: norms near 1, matrices scaled so
// that activations stay of order 1 and logits differ, biases of order 0.1. Each
// value is exact in `dtype`.
std::vector<RandomTensor> RandomTensors(const TrunkConfig& config,
                                        uint64_t seed,
                                        DType dtype = DType::kBF16);

// Creates `folder` with config.json and model.safetensors, or with `shards`
// files and their index if `shards` > 1.
absl::Status WriteTensors(const std::string& folder, const TrunkConfig& config,
                          const std::vector<RandomTensor>& tensors,
                          DType dtype = DType::kBF16, int shards = 1);
absl::Status WriteRandomCheckpoint(const std::string& folder,
                                   const TrunkConfig& config, uint64_t seed,
                                   DType dtype = DType::kBF16, int shards = 1);

// The same for a Llama that training supports, as LlamaWeights.
LlamaWeights RandomWeights(const TrunkConfig& config, uint64_t seed,
                           DType dtype = DType::kBF16);
absl::Status WriteCheckpoint(const std::string& folder,
                             const TrunkConfig& config, LlamaWeights& weights,
                             DType dtype = DType::kBF16);

// A new empty folder under the test's temporary folder.
std::string TempFolder();

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TESTING_RANDOM_CHECKPOINT_H_
