// The layout that Hugging Face's classes write for a network: config.json and
// the names and shapes of its tensors, taken from those classes and not from
// the code that reads them.
//
//   WriteFileAtomic(folder + "/config.json", HfConfigJson(config).dump());
//   for (const HfTensor& tensor : HfTensors(config)) Draw(tensor);
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_TESTS_MODELS_TESTING_HF_LAYOUT_H_
#define ESPALIER_TESTS_MODELS_TESTING_HF_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/checkpoint/trunk_config.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// The config.json of `config`. With scaled RoPE positions reach context_length
// = original_context * factor, as with Hugging Face's dynamic and yarn scaling;
// with linear and llama3 scaling max_position_embeddings is the whole length.
nlohmann::json HfConfigJson(const TrunkConfig& config);

struct HfTensor {
  enum class Kind : uint8_t {
    kNorm,
    kOffsetNorm,  // the weight less 1
    kEmbedding,
    kMatrix,
    kBias
  };
  std::string name;
  std::vector<int64_t> shape;
  Kind kind = Kind::kMatrix;
  int64_t inputs = 0;  // of a matrix: the contracted extent
};

// In network order. GPT-2's matrices are [inputs, outputs], with query, key and
// value side by side in c_attn.
std::vector<HfTensor> HfTensors(const TrunkConfig& config);

struct NamedConfig {
  std::string name;  // only letters and digits
  TrunkConfig config;
};

// A small network of every supported kind: each architecture; grouped-query,
// multi-query and multi-head attention; tied and untied embeddings; biases;
// windows; every RoPE scaling; every head. No size is a multiple of anything
// convenient; windows and original contexts are short enough that 100 tokens go
// far beyond them.
std::vector<NamedConfig> EveryNetwork();

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TESTING_HF_LAYOUT_H_
