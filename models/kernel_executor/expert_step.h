// The feed-forward of layers with experts (Shazeer et al. 2017; the routing of
// Mixtral and Qwen3-MoE): each row goes to the experts with the largest router
// logits, and the results are added with the softmax of those logits as shares.
//
//   step.Begin(net, path, rows);
//   step.Route(layer, row, count, normed);   // some rows: one chunk
//   step.RunExpert(layer, e);                // one chunk per expert
//   step.Mix(row, count, out);               // some rows: one chunk
//
// RunExpert follows Route of all rows, and Mix RunExpert of all experts. A
// row's results are added in the order of the experts' numbers, so its bits do
// not depend on the other rows. Of equal logits the lower number goes first.
//
// Thread-compatible between passes; calls of one stage may run concurrently.
#ifndef ESPALIER_MODELS_KERNEL_EXECUTOR_EXPERT_STEP_H_
#define ESPALIER_MODELS_KERNEL_EXECUTOR_EXPERT_STEP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/kernel_executor/network.h"
#include "models/kernels/kernel_path.h"

namespace espalier {

class ExpertStep {
 public:
  // `net` has experts; arguments outlive the pass.
  void Begin(const Network& net, const KernelPath& path, int rows);
  // Chooses the experts of rows [row, row + count), whose normed inputs are
  // normed[count, d], and keeps the inputs.
  void Route(const NetworkLayer& layer, int row, int count,
             const float* normed);
  // Runs expert `e` on the rows that chose it.
  void RunExpert(const NetworkLayer& layer, int e);
  // Writes out[count, d]: the results of rows [row, row + count).
  void Mix(int row, int count, float* out) const;

 private:
  // A row's place in results_: row * chosen + its number among the chosen.
  using Slot = size_t;
  size_t d() const { return static_cast<size_t>(config().hidden_size); }
  size_t chosen() const { return static_cast<size_t>(config().chosen_experts); }
  const TrunkConfig& config() const { return net_->config; }
  void Choose(const float* logits, size_t row);
  void RunBlock(const ExpertWeights& expert, const Slot* slots, int count);

  const Network* net_ = nullptr;
  const KernelPath* path_ = nullptr;
  int rows_ = 0;
  std::vector<float> normed_;   // [rows, d]
  std::vector<int> experts_;    // [rows, chosen], ascending
  std::vector<float> shares_;   // [rows, chosen]
  std::vector<float> results_;  // [rows, chosen, d]
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNEL_EXECUTOR_EXPERT_STEP_H_
