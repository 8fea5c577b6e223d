// The matrices and vectors of a checkpoint as tensors on a device. Matrices and
// embeddings have one dtype, fp32 or bf16; vectors are fp32.
//
//   const TorchNetwork net = TorchNetwork::Load(*source, device,
//   at::kBFloat16); at::Tensor y = at::linear(x, net.layers[3].qkv);
//
// Immutable after Load: thread-safe.
#ifndef ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_NETWORK_H_
#define ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_NETWORK_H_

#include <ATen/ATen.h>

#include <vector>

#include "models/checkpoint/tensor_source.h"
#include "models/trunk/label_head.h"

namespace espalier {

// d hidden_size, h head_dim, f intermediate_size. What the architecture lacks
// is undefined.
struct TorchLayer {
  at::Tensor input_norm, input_norm_bias;  // [d]
  at::Tensor query_norm, key_norm;         // [h], or of all heads
  at::Tensor qkv, qkv_bias;                // [(heads + 2 kv_heads) h, d]
  at::Tensor output, output_bias;          // [d, heads h]
  at::Tensor attended_norm;                // [d]
  at::Tensor post_norm, post_norm_bias;    // [d]
  // Gated: [2 f, d], the gates' rows first. Otherwise [f, d].
  at::Tensor up, up_bias;
  at::Tensor down, down_bias;  // [d, f]
  at::Tensor forwarded_norm;   // [d]
};

struct TorchNetwork {
  // Throws c10::Error if the device's memory is too small. The network must
  // have no experts.
  static TorchNetwork Load(const TensorSource& source, at::Device device,
                           at::ScalarType dtype);

  TrunkConfig config;
  at::Tensor embedding;  // [v, d]
  at::Tensor lm_head;    // [v, d], the embedding if tied
  at::Tensor positions;  // [context, d], fp32
  std::vector<TorchLayer> layers;
  at::Tensor final_norm, final_norm_bias;  // [d]
  LabelHead head;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_NETWORK_H_
