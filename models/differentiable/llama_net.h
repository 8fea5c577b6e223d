// A Llama in LibTorch for training: a trunk with a policy head (tied to the
// embedding or not) and a reward head on the final norm.
//
// The maths is Hugging Face's LlamaForCausalLM (RMSNorm, RoPE by rotated
// halves, SwiGLU, grouped keys and values, no biases) and parameters have its
// names, so a trained net is an ordinary checkpoint. Weights are fp32 in one
// flat tensor; each parameter is a view of it. Products are bf16 with fp32 sums
// if the machine has AMX and the precision allows it.
//
// A forward pass belongs to a Replica, which owns activations, scratch space
// and the gradient buffer; replicas of one net run concurrently on different
// threads. Blocks are autograd functions with hand-written backward passes that
// add weight gradients directly into the replica's flat buffer:
//
//   ESP_ASSIGN_OR_RETURN(auto net, LlamaNet::Create(config, seed));
//   at::Tensor grads = at::zeros({net->flat_size()});
//   Replica replica(*net, grads.data_ptr<float>());
//   at::Tensor hidden = replica.Hidden(stream);
//   LossSums sums;
//   at::Tensor loss = replica.Loss(hidden, targets, &sums);
//   loss.backward();              // grads holds the gradient of every weight
//
// LlamaNet is thread-compatible: replicas may run while nobody changes it. A
// Replica is externally synchronised.
#ifndef ESPALIER_MODELS_DIFFERENTIABLE_LLAMA_NET_H_
#define ESPALIER_MODELS_DIFFERENTIABLE_LLAMA_NET_H_

#include <ATen/ATen.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/differentiable/arena.h"
#include "models/differentiable/kernels.h"
#include "models/trunk/trunk.h"

namespace espalier::net {

// Sequences, or trees of sequences with shared prefixes, concatenated without
// padding. A tree's tokens are in depth-first order, so that a token's
// descendants are the range after it: token j is seen by the tokens i with j <=
// i < ends[j], and by no others. A sequence's tokens are seen up to its end.
struct PackedStream {
  std::vector<int32_t> tokens;
  std::vector<int32_t> positions;  // within its sequence: the depth in the tree
  std::vector<int32_t> ends;       // [size]
  std::vector<int32_t> starts = {0};  // [sequences or trees + 1]

  void Add(absl::Span<const int32_t> sequence);
  int size() const { return static_cast<int>(tokens.size()); }
  // Rows of activations: size() rounded up to a multiple of 32.
  int rows() const { return (size() + 31) / 32 * 32; }
};

struct NetParameter {
  std::string name;  // Hugging Face's, "model.layers.0.mlp.up_proj.weight"
  std::vector<int64_t> shape;
  size_t offset = 0;  // into the flat weights; a multiple of 16
  size_t size = 0;
  bool decay = false;  // apply weight decay: matrices, not norms and biases
  float init_std = 0;  // 0: starts at `init_value`
  float init_value = 0;
};

class LlamaNet {
 public:
  // Weights drawn from `seed`. InvalidArgument if a size is not a multiple of
  // 32, as the kernels require.
  static absl::StatusOr<std::unique_ptr<LlamaNet>> Create(
      const TrunkConfig& config, uint64_t seed,
      Precision precision = Precision::kBf16);

  const TrunkConfig& config() const { return config_; }
  const Kernels& kernels() const { return kernels_; }
  absl::Span<const NetParameter> parameters() const { return parameters_; }
  // Number of weights, without padding.
  size_t parameter_count() const;

  // All weights, [flat_size], fp32. Gaps between parameters stay 0. Call
  // Refresh after a change.
  at::Tensor weights() const { return weights_; }
  size_t flat_size() const { return weights_.numel(); }
  // A view of one parameter in its shape; NotFound names the nearest.
  absl::StatusOr<at::Tensor> Parameter(std::string_view name) const;

  // Updates the packed forms after a change of weights: all of them, or the
  // i-th of matrices() (independent of each other).
  void Refresh();
  int matrices() const { return static_cast<int>(matrices_.size()); }
  void RefreshMatrix(int i);

 private:
  friend class Replica;
  LlamaNet(const TrunkConfig& config, const Kernels& kernels)
      : config_(config), kernels_(kernels) {}
  void Lay();
  size_t Add(std::string name, std::vector<int64_t> shape, float init_std,
             float init_value, bool decay);
  Matrix AddMatrix(absl::Span<const std::string> names,
                   absl::Span<const int> rows, int k, float init_std);
  void Initialise(uint64_t seed);

  TrunkConfig config_;
  const Kernels& kernels_;
  Shape shape_;
  std::vector<NetParameter> parameters_;
  std::vector<Matrix> matrices_;
  std::vector<LayerWeights> layers_;
  HeadWeights head_;
  size_t flat_size_ = 0;
  size_t pack_size_ = 0;
  at::Tensor weights_;  // [flat_size], fp32
  at::Tensor packs_;    // [pack_size], 16 bits
  at::Tensor cos_;      // [context_length, head_dim / 2], fp32
  at::Tensor sin_;
};

// Valid until the replica's next pass.
struct PolicyView {
  int count = 0;
  const int32_t* targets = nullptr;  // [count], indices of the targets
  const float* logprobs = nullptr;   // [count], ln p of each
  const float* entropies = nullptr;  // [count], nats, of the row that predicts
};

class Replica {
 public:
  // Backward passes add gradients to `grads` [net.flat_size()]; it and `net`
  // must outlive the replica. Null: forward passes only.
  Replica(const LlamaNet& net, float* grads);
  ~Replica();
  // From now on gradients are added to `grads`.
  void set_grads(float* grads);
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // The residual stream before the final norm, [stream.rows(), hidden], fp32.
  // Rows from stream.size() on are 0. Tensors of earlier calls on this
  // replica become invalid; `stream` must live until the backward pass ends.
  at::Tensor Hidden(const PackedStream& stream);

  // The policy's output for the targets with nonzero weight. Call once per
  // pass.
  PolicyView Policy(const at::Tensor& hidden, const LossTargets& targets);

  // The fused loss: a scalar, and the unscaled sums of its parts. The targets'
  // arrays are read only during the call. After Policy, weights may differ from
  // those given there, for instance derivatives by its log-probs; targets that
  // had weight 0 do not count.
  at::Tensor Loss(const at::Tensor& hidden, const LossTargets& targets,
                  LossSums* sums);

  // Heads without gradients, fp32: [rows, vocab], and [rows, outputs] before
  // the sigmoid.
  at::Tensor Logits(const at::Tensor& hidden);
  at::Tensor Rewards(const at::Tensor& hidden);

  // One op of a pass, kept from forward to backward.
  struct Op;

 private:
  const LlamaNet& net_;
  KernelContext context_;
  Arena saved_;
  Arena scratch_;
  StreamView stream_;
  std::deque<Op> ops_;
  // [rows, hidden], alternately the gradient of an op's input.
  float* gradient_rows_[2] = {nullptr, nullptr};
  bool policy_done_ = false;  // set for the last op, the loss
  at::Tensor anchor_;         // the leaf that makes a pass require gradients
};

}  // namespace espalier::net

#endif  // ESPALIER_MODELS_DIFFERENTIABLE_LLAMA_NET_H_
