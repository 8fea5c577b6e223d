// A Llama trunk with heads on the CPU: token segments in, hidden rows out.
//
// Rows are computed by kernels whose additions have one order that depends on
// the row alone, so a row's bits do not depend on the batch, the number of
// threads, or on whether its tokens came one by one (decode) or in a chunk
// (prefill).
//
// Thread-compatible: one Forward at a time; it spreads its segments over the
// executor's threads itself.
#ifndef ESPALIER_MODELS_CPU_TRUNK_H_
#define ESPALIER_MODELS_CPU_TRUNK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/pages/page_pool.h"
#include "models/schedule/backend.h"
#include "src/base/executor.h"

namespace espalier {

struct TrunkConfig {
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int layers = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int context_length = 0;
  float rms_norm_eps = 1e-6f;
  float rope_theta = 10000.0f;
  bool tied_embeddings = true;
  bool reward_head = false;  // tensors reward_head.weight [2, d], .bias [2]
  int32_t end_token = -1;    // eos_token_id, -1 if none
};

// Tokens at positions start .. start+tokens.size()-1 of one path. `pages[i]`
// is the path's page for positions 64*i ..; every page that the new tokens
// fall into is owned by this segment alone.
struct Segment {
  absl::Span<const PageId> pages;
  int start = 0;
  absl::Span<const int32_t> tokens;
  // [hidden_size] fp32: final-norm output at the last token. Null: not wanted.
  float* last_hidden = nullptr;
};

class Trunk {
 public:
  // Loads a Hugging Face folder: config.json and model.safetensors.
  static absl::StatusOr<std::unique_ptr<Trunk>> Load(const std::string& folder);
  virtual ~Trunk() = default;

  virtual const TrunkConfig& config() const = 0;

  // Writes keys and values of all tokens into `pool` and the last hidden rows.
  virtual void Forward(absl::Span<const Segment> segments, PagePool& pool,
                       Executor& executor) = 0;
  // logits[i*vocab_size ..] for hidden rows [n, hidden_size], both fp32.
  virtual void Logits(const float* hidden, int n, float* logits,
                      Executor& executor) = 0;
  // Reward head of hidden rows [n, hidden_size]; needs config().reward_head.
  virtual void Rewards(const float* hidden, int n, LevelScores* scores) = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_CPU_TRUNK_H_
