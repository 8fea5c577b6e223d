// The packed matrices and vectors of a checkpoint for one family of kernels.
//
// Immutable after Pack: thread-safe.
#ifndef ESPALIER_MODELS_KERNEL_EXECUTOR_NETWORK_H_
#define ESPALIER_MODELS_KERNEL_EXECUTOR_NETWORK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/executor.h"
#include "models/checkpoint/tensor_source.h"
#include "models/kernels/kernel_path.h"
#include "models/trunk/label_head.h"

namespace espalier {

// d hidden_size, h head_dim, f intermediate_size. Vectors that the architecture
// lacks are empty.
struct ExpertWeights {
  std::unique_ptr<Weights> up;    // as in NetworkLayer, gated
  std::unique_ptr<Weights> down;  // [d, f]
};

struct NetworkLayer {
  std::vector<float> input_norm, input_norm_bias;  // [d]
  std::vector<float> query_norm, key_norm;         // [h], or of all heads
  std::unique_ptr<Weights> qkv;  // [(heads + 2 kv_heads) h, d]
  std::vector<float> qkv_bias;
  // [d, heads PadHead(h)]: a head's columns in the layout of attention's
  // output.
  std::unique_ptr<Weights> output;
  std::vector<float> output_bias;                // [d]
  std::vector<float> attended_norm;              // [d]
  std::vector<float> post_norm, post_norm_bias;  // [d]
  // Gated: [2 PadToHalf(f), d], alternating half a column block of gates and
  // the same outputs of up. Otherwise [f, d].
  std::unique_ptr<Weights> up;
  std::vector<float> up_bias;     // ordered like the rows of `up`
  std::unique_ptr<Weights> down;  // [d, f]
  std::vector<float> down_bias;   // [d]
  // With experts, which have no `up` and `down` of the layer.
  std::unique_ptr<PackedMatrix> router;  // [experts, d], fp32
  std::vector<ExpertWeights> experts;
  std::vector<float> forwarded_norm;  // [d]
};

struct Network {
  // Packs on the executor's threads; null: only on the caller's. Several
  // threads read the source.
  static Network Pack(const TensorSource& source, const KernelPath& path,
                      WeightKind kind, Executor* executor = nullptr);

  TrunkConfig config;
  std::unique_ptr<Weights> embedding;  // [v, d]
  std::unique_ptr<Weights> lm_head;    // null: uses the embedding, or there is
                                       // none
  std::vector<float> positions;        // [context, d]
  std::vector<NetworkLayer> layers;
  std::vector<float> final_norm, final_norm_bias;  // [d]
  LabelHead head;
  int64_t bytes = 0;  // of all matrices
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNEL_EXECUTOR_NETWORK_H_
