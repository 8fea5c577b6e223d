// A transformer trunk with heads: token segments in, hidden rows out.
//
// Kernels sum each row in an order that depends only on that row, so its bits
// do not depend on the batch, the number of threads, shared pages, or on
// whether its tokens came one by one (decode) or in a chunk (prefill). This
// holds for the device "cpu"; LibTorch's results (models/torch_executor) are
// equal within rounding.
//
// Thread-compatible: one Forward at a time; it spreads its work over the
// executor's threads.
#ifndef ESPALIER_MODELS_TRUNK_TRUNK_H_
#define ESPALIER_MODELS_TRUNK_TRUNK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/executor.h"
#include "espalier/scores.h"
#include "models/checkpoint/trunk_config.h"
#include "models/pages/page_memory.h"

namespace espalier {

// Tokens at positions start .. start+tokens.size()-1 of one path. `pages[i]` is
// the path's page for positions 64*i ..; every page that new tokens fall into
// must belong to this segment only. Segments that share pages run fastest when
// adjacent.
struct Segment {
  absl::Span<const PageId> pages;
  int start = 0;
  absl::Span<const int32_t> tokens;
  // fp32 output of the final norm: [hidden_size] at the last token, or [tokens,
  // hidden_size] at all of them. Null: not needed.
  float* last_hidden = nullptr;
  float* all_hidden = nullptr;
};

enum class WeightChoice : uint8_t {
  kAuto,  // as stored: fp32 stays, everything else becomes bf16
  kFp32,
  kBf16,
  kInt8,
  kInt4,  // in groups of 64; embedding and output int8
};

struct TrunkOptions {
  // "cpu", "cuda", "cuda:1" or "torch-cpu" (load_trunk.h).
  std::string device = "cpu";
  WeightChoice weights = WeightChoice::kAuto;
  // What is loaded of the checkpoint.
  CheckpointPart part = CheckpointPart::kAll;
  // On the CPU, a kernel path by name (choose_kernels.h), "plain" being the
  // portable one with fp32 activations. Default: the fastest of the machine.
  std::string kernels;
  // Planned size of the KV cache, for the check that everything fits into
  // memory.
  int64_t kv_bytes = 0;
  // Its threads pack the weights; null: only the calling thread does.
  Executor* executor = nullptr;
};

class Trunk {
 public:
  // Loads a Hugging Face folder or a GGUF file. InvalidArgument for an unknown
  // device, FailedPrecondition for one that this program or machine lacks.
  static absl::StatusOr<std::unique_ptr<Trunk>> Load(
      const std::string& path, const TrunkOptions& options = {});
  virtual ~Trunk() = default;

  virtual const TrunkConfig& config() const = 0;
  // Empty page storage for this trunk.
  virtual std::unique_ptr<PageMemory> NewPages() const = 0;

  // Writes keys and values of all tokens into `pages`, which must come from
  // NewPages of this trunk, and the requested hidden rows.
  virtual void Forward(absl::Span<const Segment> segments, PageMemory& pages,
                       Executor& executor) = 0;
  // Writes logits[i*vocab_size ..] for hidden rows [n, hidden_size], both fp32.
  virtual void Logits(const float* hidden, int n, float* logits,
                      Executor& executor) = 0;
  // Outputs [n, head_labels] of config().head for hidden rows [n, hidden_size];
  // requires a head. The labels of Espalier's reward head are
  // config().reward_outputs.
  virtual void Head(const float* hidden, int n, float* out) = 0;
  // Reward head on hidden rows [n, hidden_size]; requires config().reward_head.
  virtual void Rewards(const float* hidden, int n, StepScores* scores) = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TRUNK_TRUNK_H_
