// One forward pass of a batch of segments, phase by phase.
//
//   step.Begin(net, path, rope, segments, pages, executor.threads());
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
#include "models/kernel_executor/network.h"
#include "models/kernel_executor/product_plan.h"
#include "models/trunk/rope.h"
#include "models/trunk/trunk.h"

namespace espalier {

class ForwardStep {
 public:
  // All arguments outlive the pass.
  void Begin(const Network& net, const KernelPath& path, const Rope& rope,
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
    kAttend,
    kPutAttended,
    kOutput,
    kPostNorm,
    kUp,
    kPutHidden,
    kDown
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
  void Norm(const std::vector<float>& weight, const std::vector<float>& bias,
            const Weights& next, int chunk);
  void Heads(const NetworkLayer& layer, int index, int chunk);
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
  void Final(int chunk);

  const Network* net_ = nullptr;
  const KernelPath* path_ = nullptr;
  const Rope* rope_ = nullptr;
  PageMemory* pages_ = nullptr;
  absl::Span<const Segment> segments_;

  std::vector<int> first_row_;  // one per segment
  // One per row.
  std::vector<int> positions_;
  std::vector<int32_t> tokens_;
  std::vector<const PageId*> page_tables_;
  std::vector<float> x_;  // [rows, d], the residual stream

  std::vector<std::byte> normed_, queries_, attended_, hidden_;  // operands
  size_t query_rows_ = 0;  // room per KV head, in queries
  // Used instead of operands if rows need a scale.
  std::vector<float> attended_rows_, hidden_rows_;
  bool by_rows_ = false;

  std::vector<Item> items_;
  ProductPlan heads_plan_, output_plan_, up_plan_, down_plan_;
  std::vector<Stage> stages_;  // per layer
  std::vector<int> chunks_;    // per phase
  std::atomic<int64_t> pages_read_{0};
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNEL_EXECUTOR_FORWARD_STEP_H_
