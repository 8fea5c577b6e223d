// Linear heads on hidden rows: Espalier's reward head and classifiers. They
// have few labels, so they are computed on the host in double precision,
// whatever device computed the rows.
//
//   const LabelHead head = ReadLabelHead(*source);
//   head.Apply(hidden, n, out);
//
// Immutable: thread-safe.
#ifndef ESPALIER_MODELS_TRUNK_LABEL_HEAD_H_
#define ESPALIER_MODELS_TRUNK_LABEL_HEAD_H_

#include <vector>

#include "absl/types/span.h"
#include "espalier/scores.h"
#include "models/checkpoint/tensor_source.h"

namespace espalier {

struct LabelHead {
  // Writes out[n, labels] for rows [n, hidden_size]; requires labels.
  void Apply(const float* hidden, int n, float* out) const;
  // Applies the logistic function to a reward head's labels; requires
  // `outputs`. Of several heads: the mean and the standard deviation (over all
  // heads, divided by their number) of their probabilities, one head's score
  // and 0 of a single one.
  void Rewards(const float* hidden, int n, StepScores* scores) const;

  int labels = 0;             // 0: no such head
  std::vector<float> weight;  // [labels, hidden_size]
  std::vector<float> bias;    // [labels], or empty
  // Of a reward head, else empty: labels = heads * outputs, head by head.
  std::vector<LevelSet> outputs;
};

// The scores of `probabilities` [heads * outputs], head by head.
StepScores EnsembleScores(absl::Span<const LevelSet> outputs,
                          absl::Span<const float> probabilities);

LabelHead ReadLabelHead(const TensorSource& source);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TRUNK_LABEL_HEAD_H_
