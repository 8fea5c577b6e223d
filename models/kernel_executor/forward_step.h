// One forward pass of a batch of segments, phase by phase.
//
//   step.Begin(net, path, ropes, segments, pages, executor.threads());
//   executor.RunPhases(step.chunks(), [&](int phase, int chunk) {
//     step.Run(phase, chunk);
//   });
//
// Thread-compatible between passes; chunks of a phase may run concurrently.
#ifndef ESPALIER_MODELS_KERNEL_EXECUTOR_FORWARD_STEP_H_
#define ESPALIER_MODELS_KERNEL_EXECUTOR_FORWARD_STEP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "models/kernel_executor/expert_step.h"
#include "models/kernel_executor/network.h"
#include "models/kernel_executor/product_plan.h"
#include "models/trunk/rope.h"
#include "models/trunk/trunk.h"

namespace espalier {

class ForwardStep {
 public:
  // All arguments outlive the pass.
  void Begin(const Network& net, const KernelPath& path, const Ropes& ropes,
             absl::Span<const Segment> segments, PageMemory& pages,
             int threads);
  absl::Span<const int> chunks() const { return chunks_; }
  void Run(int phase, int chunk);
  // Pages (of one layer and KV head) that attention has read since
  // construction; a page that rows share counts once.
  int64_t pages_read() const {
    return pages_read_.load(std::memory_order_relaxed);
  }

 private:
  enum class Stage {
    kNorm,
    kHeads,
    kPlaceRows,  // qk_norm_rows only
    kAttend,
    kPutAttended,
    kOutput,
    kAddAttended,  // norms_after only
    kPostNorm,
    kUp,
    kPutHidden,
    kDown,
    kExperts,  // instead of kUp to kDown
    kMix,
    kAddForwarded,  // norms_after only
  };
  // Adjacent rows that one chunk of attention processes.
  struct Item {
    int row = 0;
    int rows = 0;
  };
  const TrunkConfig& config() const { return net_->config; }
  size_t d() const { return static_cast<size_t>(config().hidden_size); }
  int rows() const { return static_cast<int>(positions_.size()); }
  std::byte* Query(int row, int head);

  void GatherRows(absl::Span<const Segment> segments);
  void MakeItems();
  void PlanPhases(int threads);
  void Reserve();

  void Embed(int chunk);
  void OpenPages(const Segment& segment);
  void RunStage(const NetworkLayer& layer, int index, Stage stage, int chunk);
  // Writes the norm of residual row `row`.
  void NormRow(const std::vector<float>& weight, const std::vector<float>& bias,
               int row, float* to) const;
  void Norm(const std::vector<float>& weight, const std::vector<float>& bias,
            const Weights* next, const NetworkLayer& layer, int chunk);
  void Heads(const NetworkLayer& layer, int index, int chunk);
  void PlaceRows(const NetworkLayer& layer, int index, int chunk);
  void PlaceHead(const NetworkLayer& layer, int index, int row, int head,
                 float* x);
  void AttendItem(const NetworkLayer& layer, int index, int chunk);
  void PackRows(const Weights& w, const std::vector<float>& x, int chunk,
                std::vector<std::byte>& operand);
  void AddProduct(const Weights& w, const std::vector<std::byte>& operand,
                  const ProductPlan& plan, const std::vector<float>& bias,
                  int chunk);
  void Up(const NetworkLayer& layer, int chunk);
  void ActivateChunk(const ProductPlan::Chunk& at, float* y) const;
  void Mix(int chunk);
  void AddNormed(const std::vector<float>& weight, int chunk);
  // Adds y[columns] to the residual from column `column` of a row on, or puts
  // it aside for AddNormed.
  void AddBranch(int row, int column, int columns, const float* y);
  void Final(int chunk);

  const Network* net_ = nullptr;
  const KernelPath* path_ = nullptr;
  const Ropes* ropes_ = nullptr;
  PageMemory* pages_ = nullptr;
  absl::Span<const Segment> segments_;

  std::vector<int> first_row_;  // one per segment
  // One per row.
  std::vector<int> positions_;
  std::vector<int32_t> tokens_;
  std::vector<const PageId*> page_tables_;
  std::vector<float> x_;       // [rows, d], the residual stream
  std::vector<float> branch_;  // [rows, d], if norms_after
  std::vector<float> qkv_;     // [rows, (heads + 2 kv_heads) h], qk_norm_rows

  std::vector<std::byte> normed_, queries_, attended_, hidden_;  // operands
  size_t query_rows_ = 0;  // room per KV head, in queries
  // Used instead of operands if rows need a scale.
  std::vector<float> attended_rows_, hidden_rows_;
  bool by_rows_ = false;

  ExpertStep experts_;
  std::vector<Item> items_;
  ProductPlan heads_plan_, output_plan_, up_plan_, down_plan_;
  std::vector<Stage> stages_;  // per layer
  std::vector<int> chunks_;    // per phase
  std::atomic<int64_t> pages_read_{0};
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNEL_EXECUTOR_FORWARD_STEP_H_
