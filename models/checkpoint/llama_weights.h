// All tensors of a LlamaForCausalLM checkpoint as fp32.
//
//   ESP_ASSIGN_OR_RETURN(TrunkConfig config, ReadLlamaConfig(folder));
//   ESP_ASSIGN_OR_RETURN(LlamaWeights w, LoadLlamaWeights(folder, config));
//
// Tensors have Hugging Face's names and shapes [outputs, inputs], row-major.
// Missing, extra and misshapen tensors are errors that name file and tensor.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_LLAMA_WEIGHTS_H_
#define ESPALIER_MODELS_CHECKPOINT_LLAMA_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

// d = hidden_size, f = intermediate_size, h = head_dim.
struct LlamaLayerWeights {
  std::vector<float> input_norm;  // [d]
  std::vector<float> query;       // [heads * h, d]
  std::vector<float> key;         // [kv_heads * h, d]
  std::vector<float> value;       // [kv_heads * h, d]
  std::vector<float> output;      // [d, heads * h]
  std::vector<float> post_norm;   // [d]
  std::vector<float> gate;        // [f, d]
  std::vector<float> up;          // [f, d]
  std::vector<float> down;        // [d, f]
};

struct LlamaWeights {
  std::vector<float> embedding;  // [vocab_size, d]
  std::vector<LlamaLayerWeights> layers;
  std::vector<float> final_norm;     // [d]
  std::vector<float> lm_head;        // [vocab_size, d]; empty if tied
  std::vector<float> reward_weight;  // [2, d]: step, path; empty if no head
  std::vector<float> reward_bias;    // [2]
};

// One tensor of a checkpoint and its place in LlamaWeights.
struct LlamaTensor {
  std::string name;  // "model.layers.0.mlp.up_proj.weight"
  std::vector<int64_t> shape;
  std::vector<float>* values = nullptr;
};

// The tensors of a checkpoint of `config`, in the order of the network;
// `values` point into `weights`, whose layers are resized to fit.
std::vector<LlamaTensor> LlamaTensors(const TrunkConfig& config,
                                      LlamaWeights& weights);

// Reads FOLDER/model.safetensors (BF16, F16 or F32).
absl::StatusOr<LlamaWeights> LoadLlamaWeights(const std::string& folder,
                                              const TrunkConfig& config);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_LLAMA_WEIGHTS_H_
