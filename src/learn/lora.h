// LoRA (Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models"):
// the linear layers of the blocks are frozen and learn a low-rank difference,
//
//   W = W0 + s B A,   s = alpha / rank,
//
//        in                in                     in
//     +------+          +------+         rank +--------+   A: uniform in
//     |      |          |      |       +----+ |   A    |      +-1/sqrt(in)
//     |  W   | out  =   |  W0  |  + s  |    | +--------+
//     |      |          |      |       | B  | out          B: 0 at first
//     +------+          +------+       +----+
//
// with A initialised as in PEFT. Everything else is frozen, except the reward
// head when a reward model is trained: the head is trained directly.
//
// The net computes with W, and its backward pass gives dL/dW, of which
//
//   dL/dB = s dL/dW A^T,   dL/dA = s B^T dL/dW
//
// are exact. So a step costs as much as a step of full training, plus a little
// for these products. What is small is the optimiser's state, its file, and the
// learned weights: the base is a separate folder that no training changes. Use
// it when many trainings share a base or data is scarce: full training fits the
// data more closely, which is not always better with little data.
//
//   ESP_ASSIGN_OR_RETURN(auto adapter,
//                        LoraAdapter::Create(*net, {.rank = 8}, {.seed = 1}));
//   Trainer trainer(*net, options, adapter.get());
//   ... trainer.Step(batch) ...
//   ESP_RETURN_IF_ERROR(ExportAdapter(*adapter, "models/base", "adapter"));
//
// Externally synchronised.
#ifndef ESPALIER_SRC_LEARN_LORA_H_
#define ESPALIER_SRC_LEARN_LORA_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/differentiable/llama_net.h"
#include "src/learn/trainable.h"

namespace espalier {

struct LoraOptions {
  int rank = 0;                 // 0: no adapter, all weights are trained
  std::optional<double> alpha;  // unset: twice the rank
  // Any of q, k, v, o, gate, up, down; empty: all of them.
  std::vector<std::string> targets;

  double Alpha() const { return alpha.value_or(2.0 * rank); }
  // The targets in the order of the list above, without duplicates.
  std::vector<std::string> Targets() const;
};

// Refuses options that are invalid for every net; the message names the option
// of `espalier train`.
absl::Status CheckLora(const LoraOptions& options);

struct LoraStart {
  uint64_t seed = 1;         // of A's initial values
  bool reward_head = false;  // trains the net's reward head as well
};

class LoraAdapter : public Trainable {
 public:
  // For a net with its current weights, which must outlive the adapter.
  // InvalidArgument for a rank larger than a side of a targeted matrix.
  static absl::StatusOr<std::unique_ptr<LoraAdapter>> Create(
      net::LlamaNet& net, const LoraOptions& options, const LoraStart& start);

  // A and B of each target under the target's name, with "lora_A." and
  // "lora_B." before its "weight"; then the reward head's, if it is trained.
  absl::Span<const net::NetParameter> parameters() const override {
    return parameters_;
  }
  at::Tensor values() const override { return values_; }
  at::Tensor Gradient(const at::Tensor& grads, Executor& executor) override;
  void Apply(Executor& executor) override;
  std::string Description() const override;

  const LoraOptions& options() const { return options_; }
  bool trains_reward_head() const { return !copies_.empty(); }

 private:
  // One matrix: views of the net's weights, the values and their gradient.
  struct Factors {
    size_t offset = 0;  // of the matrix in the net
    at::Tensor base;    // W0 [out, in], a copy
    at::Tensor weight;  // W [out, in], in the net
    at::Tensor a, da;   // [rank, in]
    at::Tensor b, db;   // [out, rank]
  };
  // A parameter that is trained directly.
  struct Copy {
    size_t offset = 0;
    at::Tensor weight;  // in the net
    at::Tensor value, dvalue;
  };

  LoraAdapter(net::LlamaNet& net, const LoraOptions& options)
      : net_(net), options_(options) {}
  void Lay(const LoraStart& start);
  void Add(std::string name, std::vector<int64_t> shape, bool decay);

  net::LlamaNet& net_;
  const LoraOptions options_;
  uint64_t base_hash_ = 0;  // of the net's original weights
  std::vector<net::NetParameter> parameters_;
  std::vector<Factors> factors_;
  std::vector<Copy> copies_;
  size_t size_ = 0;
  at::Tensor values_;    // [size], fp32
  at::Tensor gradient_;  // [1, size], fp32
};

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_LORA_H_
