// What a training changes: all weights of a net, or an adapter over frozen ones
// (src/learn/lora.h).
//
// A trainable has flat values that an optimiser updates. It maps the gradient
// by the net's weights to the gradient by its values, and updates the net's
// weights after the values have changed:
//
//   AllWeights all(*net);
//   const at::Tensor gradient = all.Gradient(grads, executor);
//   // ... change all.values() by gradient ...
//   all.Apply(executor);
//
// Externally synchronised; the same values with any number of threads.
#ifndef ESPALIER_SRC_LEARN_TRAINABLE_H_
#define ESPALIER_SRC_LEARN_TRAINABLE_H_

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "base/executor.h"
#include "models/differentiable/llama_net.h"

namespace espalier {

class Trainable {
 public:
  virtual ~Trainable() = default;

  // The values that the optimiser updates, [size], fp32, and the offset of each
  // parameter in them, a multiple of 16. Gaps between parameters stay 0.
  virtual at::Tensor values() const = 0;
  virtual absl::Span<const net::NetParameter> parameters() const = 0;

  // Takes gradients by the net's weights, [partial_sums, flat_size], and
  // returns gradients by the values, [n, size]; in both only the sum over the
  // first dimension matters. Valid until the next call and while `grads` is.
  virtual at::Tensor Gradient(const at::Tensor& grads, Executor& executor) = 0;

  // Updates the net's weights from the values.
  virtual void Apply(Executor& executor) = 0;

  // Describes what is trained, including everything that must agree before
  // saved values may be loaded: "all weights of a net of the shapes 1f2e3d4c".
  virtual std::string Description() const = 0;
};

// The values are the net's own weights. `net` must outlive it.
class AllWeights : public Trainable {
 public:
  explicit AllWeights(net::LlamaNet& net) : net_(net) {}
  at::Tensor values() const override { return net_.weights(); }
  absl::Span<const net::NetParameter> parameters() const override {
    return net_.parameters();
  }
  at::Tensor Gradient(const at::Tensor& grads, Executor&) override {
    return grads;
  }
  void Apply(Executor& executor) override;
  std::string Description() const override;

 private:
  net::LlamaNet& net_;
};

// Updates the packed forms of all matrices from the weights.
void RefreshMatrices(net::LlamaNet& net, Executor& executor);

// A hash of names and shapes.
uint64_t HashShapes(absl::Span<const net::NetParameter> parameters);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_TRAINABLE_H_
