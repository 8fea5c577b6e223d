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

#include "espalier/scores.h"
#include "models/checkpoint/tensor_source.h"

namespace espalier {

struct LabelHead {
  // Writes out[n, labels] for rows [n, hidden_size]; requires labels.
  void Apply(const float* hidden, int n, float* out) const;
  // Applies the logistic function to a reward head's labels; requires
  // `outputs`.
  void Rewards(const float* hidden, int n, StepScores* scores) const;

  int labels = 0;                 // 0: no such head
  std::vector<float> weight;      // [labels, hidden_size]
  std::vector<float> bias;        // [labels], or empty
  std::vector<LevelSet> outputs;  // [labels] of a reward head, else empty
};

LabelHead ReadLabelHead(const TensorSource& source);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TRUNK_LABEL_HEAD_H_
