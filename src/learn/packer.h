// Training sequences, and how they are packed into micro-batches.
#ifndef ESPALIER_SRC_LEARN_PACKER_H_
#define ESPALIER_SRC_LEARN_PACKER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "espalier/scores.h"
#include "models/differentiable/llama_net.h"

namespace espalier {

// A column of values for each level of reward; empty: none.
struct LevelColumns {
  std::vector<float>& operator[](Level level) { return of[IndexOf(level)]; }
  const std::vector<float>& operator[](Level level) const {
    return of[IndexOf(level)];
  }
  std::array<std::vector<float>, kLevels> of;
};

// One text with its targets. The arrays are as long as `tokens`; label columns
// other than step and path may be empty.
struct TrainSequence {
  std::vector<int32_t> tokens;
  // Weight of predicting token i from the tokens before it; 0 = no loss. Unused
  // for the first token, which has no prefix.
  std::vector<float> lm_weight;
  // Targets in [0, 1] of the reward head's levels at token i; NaN = none.
  LevelColumns labels;

  // NaN where there is none.
  float Label(Level level, size_t token) const {
    const std::vector<float>& column = labels[level];
    return column.empty() ? StepScores::kNone : column[token];
  }
  // True if the token has a label of any level.
  bool Labelled(size_t token) const;
  // Appends tokens without labels; each counts with `weight`.
  void Append(absl::Span<const int32_t> more, float weight);
  // Labels the last token.
  void LabelLast(Level level, float label);
};

// A stream and its targets in the loss kernels' layout.
struct MicroBatch {
  net::PackedStream stream;
  std::vector<int32_t> next;  // [size], the token that row i predicts
  std::vector<float> weight;  // [size]
  LevelColumns labels;        // [size] each

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
