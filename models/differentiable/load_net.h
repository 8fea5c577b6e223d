// Loads nets from Hugging Face folders (config.json and model.safetensors), to
// continue training. The reverse is ExportCheckpoint in src/learn.
//
//   ESP_ASSIGN_OR_RETURN(auto net, LoadNet("models/zoo/stories", {}));
//
// Stateless: thread-safe.
#ifndef ESPALIER_MODELS_DIFFERENTIABLE_LOAD_NET_H_
#define ESPALIER_MODELS_DIFFERENTIABLE_LOAD_NET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/differentiable/llama_net.h"

namespace espalier::net {

struct LoadNetOptions {
  Precision precision = Precision::kBf16;
  // Gives a net without a reward head a new one, drawn from `seed`.
  bool add_reward_head = false;
  // Of the reward head, if not empty: what it then gives. Outputs that share a
  // level with one of the checkpoint's begin with its weights, new ones are
  // drawn from `seed`; the checkpoint's others are left out.
  std::vector<LevelSet> reward_outputs = {};
  // Heads that the reward head then has; 0: as many as the checkpoint's. Of a
  // checkpoint with E heads, head k begins with the weights of head k modulo E.
  int reward_ensemble = 0;
  uint64_t seed = 1;
};

// Reads fp32, bf16 or fp16 tensors. An error names the file, the tensor, the
// shape expected and the shape found.
absl::StatusOr<std::unique_ptr<LlamaNet>> LoadNet(
    const std::string& folder, const LoadNetOptions& options);

}  // namespace espalier::net

#endif  // ESPALIER_MODELS_DIFFERENTIABLE_LOAD_NET_H_
