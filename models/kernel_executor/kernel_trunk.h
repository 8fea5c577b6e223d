// A trunk on this machine's CPU: a packed network and the buffers of a forward
// pass.
//
// Thread-compatible, like Trunk.
#ifndef ESPALIER_MODELS_KERNEL_EXECUTOR_KERNEL_TRUNK_H_
#define ESPALIER_MODELS_KERNEL_EXECUTOR_KERNEL_TRUNK_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "models/kernel_executor/forward_step.h"
#include "models/kernel_executor/network.h"
#include "models/trunk/rope.h"
#include "models/trunk/trunk.h"

namespace espalier {

class KernelTrunk : public Trunk {
 public:
  // `network` must have been packed for `path`.
  KernelTrunk(Network network, const KernelPath& path);

  const TrunkConfig& config() const override { return net_.config; }
  const Network& network() const { return net_; }
  // Bytes of keys and values that attention has read so far.
  int64_t kv_bytes_read(const PageMemory& pages) const {
    return step_.pages_read() * pages.page_bytes() /
           (net_.config.layers * net_.config.kv_heads);
  }
  std::unique_ptr<PageMemory> NewPages() const override;
  void Forward(absl::Span<const Segment> segments, PageMemory& pages,
               Executor& executor) override;
  void Logits(const float* hidden, int n, float* logits,
              Executor& executor) override;
  void Head(const float* hidden, int n, float* out) override;
  void Rewards(const float* hidden, int n, StepScores* scores) override;

 private:
  const Network net_;
  const KernelPath& path_;
  Ropes ropes_;
  ForwardStep step_;
  std::vector<std::byte> operand_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNEL_EXECUTOR_KERNEL_TRUNK_H_
