// A trunk over LibTorch's operations: the same engine on CUDA and, for tests,
// on the CPU.
//
// All rows of all segments go through the products as one matrix; keys and
// values are in pages on the device, and what rows share of their paths is read
// once for all of them (attention_plan.h). Products take weights, keys and
// values as stored, fp32 or bf16; norms, rotations, softmax, sums of results
// and the residual are fp32.
//
//   Trunk::Load(folder, {.device = "cuda:1"});
//
// Results equal those of the device "cpu" within rounding, not bit for bit: a
// library's product may sum in another order when the batch size changes, so a
// row's bits depend on the other rows, and a draw near a tie can differ. Use
// the device "cpu" for bitwise reproducible runs.
//
// Thread-compatible, like Trunk. If the device fails (out of memory), calls
// throw std::runtime_error, which programs report as their error.
#ifndef ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_TRUNK_H_
#define ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_TRUNK_H_

#include <ATen/ATen.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/torch_executor/index_upload.h"
#include "models/torch_executor/torch_attention.h"
#include "models/torch_executor/torch_network.h"
#include "models/trunk/rope.h"
#include "models/trunk/trunk.h"

namespace espalier {

class TorchTrunk : public Trunk {
 public:
  // Pages allocate `reserve_bytes` at once.
  TorchTrunk(TorchNetwork network, int64_t reserve_bytes);

  const TrunkConfig& config() const override { return net_.config; }
  std::unique_ptr<PageMemory> NewPages() const override;
  void Forward(absl::Span<const Segment> segments, PageMemory& pages,
               Executor& executor) override;
  void Logits(const float* hidden, int n, float* logits,
              Executor& executor) override;
  void Head(const float* hidden, int n, float* out) override;
  void Rewards(const float* hidden, int n, StepScores* scores) override;

 private:
  struct Angles {
    at::Tensor cos, sin;  // [positions known, rotary / 2], fp32
  };
  // A pass's row data on the device.
  struct Rows {
    at::Tensor positions;  // [rows]
    at::Tensor slots;      // [rows kv_heads], slots of a layer's keys
    std::map<const Rope*, Angles> angles;  // [rows, 1, rotary / 2]
  };
  void RunTrunk(absl::Span<const Segment> segments, TorchPages& pages);
  at::Tensor Embed(const at::Tensor& tokens, const Rows& rows) const;
  // x += Output(Attention(Norm(x))), and so on; x [rows, d], fp32.
  void Attend(int layer, const Rows& rows, TorchPages& pages,
              TorchAttention& attention, at::Tensor& x) const;
  void FeedForward(const TorchLayer& layer, at::Tensor& x) const;
  void WriteHidden(absl::Span<const Segment> segments,
                   const at::Tensor& hidden) const;

  // First `rotary` dimensions of y [rows, heads, head_dim].
  at::Tensor Rotated(const at::Tensor& y, const Angles& angles) const;
  // Norms y [rows, heads, head_dim] by head or by row.
  at::Tensor NormHeads(const at::Tensor& y, const at::Tensor& weight) const;
  // Adds a norm of y, if `weight` is defined, or y.
  void AddBranch(const at::Tensor& y, const at::Tensor& weight,
                 at::Tensor& x) const;
  // x itself if there is no weight.
  at::Tensor Norm(const at::Tensor& x, const at::Tensor& weight,
                  const at::Tensor& bias) const;
  // Returns fp32; x is fp32 or the dtype of products.
  at::Tensor Product(const at::Tensor& x, const at::Tensor& weight,
                     const at::Tensor& bias) const;
  at::Tensor Activate(const at::Tensor& x) const;
  // Uploads the angles of positions below `length`.
  void Reach(int length);

  const TorchNetwork net_;
  const at::Device device_;
  const at::ScalarType dtype_;
  const int64_t reserve_bytes_;
  Ropes ropes_;
  std::map<const Rope*, Angles> angles_;  // of each of ropes_ in use
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TORCH_EXECUTOR_TORCH_TRUNK_H_
