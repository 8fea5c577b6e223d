// Training sequences, and how they are packed into micro-batches.
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
  // Weight of predicting token i from the tokens before it; 0 = no loss. Unused
  // for the first token, which has no prefix.
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

// Distributes whole sequences over micro-batches of about `tokens` tokens each:
// the longest first, each into the emptiest batch. The number of batches is a
// multiple of `partial_sums` if there are enough sequences. Depends only on the
// lengths and their order.
std::vector<MicroBatch> Pack(absl::Span<const TrainSequence> sequences,
                             int tokens, int partial_sums);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_PACKER_H_
