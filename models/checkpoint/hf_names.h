// The tensor names of Hugging Face's classes for each part of a network.
//
//   const HfPlace place = PlaceOf(config, TensorRole::kKey, 3);
//   // "h.3.attn.c_attn.weight", [d, 3 d], turned, outputs from d on: GPT-2
//   // "model.layers.3.self_attn.qkv_proj.weight", outputs from q on: Phi-3
//   // "model.layers.3.self_attn.k_proj.weight", [kv_heads h, d]: most others
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_HF_NAMES_H_
#define ESPALIER_MODELS_CHECKPOINT_HF_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/checkpoint/tensor_source.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

struct HfPlace {
  std::string name;  // for GPT-2 without "transformer.", which some files have
  std::vector<int64_t> shape;
  bool turned = false;  // transposed: [inputs, outputs], GPT-2's Conv1D
  bool offset = false;  // stored less 1: Gemma's norms
  bool paired = false;  // rows are in the order of PairedRow
  int64_t outputs = 0;  // of the whole tensor
  int64_t first = 0;    // the part's first output in it
};

// The network must have `part`. Experts' parts are stored one tensor per
// expert; the place is that of `expert`.
HfPlace PlaceOf(const TrunkConfig& config, TensorRole part, int layer,
                int expert = 0);

// True for redundant tensors that exporters add: rotary frequencies, GPT-2's
// causal masks.
bool IsBuffer(const TrunkConfig& config, const std::string& name);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_HF_NAMES_H_
