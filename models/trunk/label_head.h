// Linear heads on hidden rows: Espalier's reward head and classifiers. They
// have few labels, so they are computed on the host, summed in double
// precision, whatever computed the rows.
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
  // out[n, labels] of rows [n, hidden_size]; needs labels.
  void Apply(const float* hidden, int n, float* out) const;
  // Logistic functions of a reward head's two labels.
  void Rewards(const float* hidden, int n, StepScores* scores) const;

  int labels = 0;             // 0: the network has no such head
  std::vector<float> weight;  // [labels, hidden_size]
  std::vector<float> bias;    // [labels], or empty
};

LabelHead ReadLabelHead(const TensorSource& source);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TRUNK_LABEL_HEAD_H_
