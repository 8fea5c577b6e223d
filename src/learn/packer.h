// What the trainer learns from, and how sequences share micro-batches.
#ifndef ESPALIER_SRC_LEARN_PACKER_H_
#define ESPALIER_SRC_LEARN_PACKER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "models/differentiable/llama_net.h"

namespace espalier {

// One text with its targets. The three arrays are as long as `tokens`.
struct TrainSequence {
  std::vector<int32_t> tokens;
  // Weight of predicting token i from the tokens before it; 0 = no loss. The
  // first token has no prefix: its weight is not used.
  std::vector<float> lm_weight;
  // Targets in [0, 1] for the reward head's outputs at token i; NaN = none.
  std::vector<float> step_label;
  std::vector<float> path_label;
};

// A stream and its targets in the loss kernels' layout.
struct MicroBatch {
  net::PackedStream stream;
  std::vector<int32_t> next;  // [size], the token that row i predicts
  std::vector<float> weight;  // [size]
  std::vector<float> step;    // [size]
  std::vector<float> path;    // [size]

  void Add(const TrainSequence& sequence);
};

// Spreads whole sequences over micro-batches of about `tokens` tokens each,
// their number a multiple of `lanes` where there are enough sequences: the
// longest first, each into the emptiest batch. Depends on the lengths and
// their order alone.
std::vector<MicroBatch> Pack(absl::Span<const TrainSequence> sequences,
                             int tokens, int lanes);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_PACKER_H_
