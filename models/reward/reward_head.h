// A reward model's head on hidden rows, and what its outputs mean.
//
//   ESP_ASSIGN_OR_RETURN(const RewardHead head,
//                        ReadRewardHead(format, folder, hidden_size));
//   const std::vector<double> out = head.Apply(hidden);
//   const double value = RewardValue(format, out);      // as published
//   const double score = SearchScore(format, value);    // in [0, 1]
//
// A head has few outputs, so it is computed on the host in double precision,
// whatever device computed the rows: x -> W x + b, or
// x -> W2 max(0, W1 x + b1) + b2.
//
// Immutable: thread-safe.
#ifndef ESPALIER_MODELS_REWARD_REWARD_HEAD_H_
#define ESPALIER_MODELS_REWARD_REWARD_HEAD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/reward/reward_folder.h"
#include "models/reward/reward_format.h"

namespace espalier {

struct RewardHead {
  struct Layer {
    int outputs = 0, inputs = 0;
    std::vector<float> weight;  // [outputs, inputs]
    std::vector<float> bias;    // [outputs], or empty
  };
  std::vector<Layer> layers;  // ReLU between two

  // [outputs of the last layer] for one row [inputs of the first].
  std::vector<double> Apply(absl::Span<const float> hidden) const;
};

// The head's tensors; no layers if the format reads log-probs. InvalidArgument
// as from CheckTensors, and for a head that is not for rows of `hidden_size`.
absl::StatusOr<RewardHead> ReadRewardHead(const RewardFormat& format,
                                          const RewardFolder& folder,
                                          int hidden_size);

// The published value of `outputs` [labels], and that of the path if the format
// has a path_label.
double RewardValue(const RewardFormat& format,
                   absl::Span<const double> outputs);
double PathValue(const RewardFormat& format, absl::Span<const double> outputs);

// A published value as a search reads it, in [0, 1] and in the same order: a
// probability as it is; (1 + value) / 2 for a signed one, so that p1 - p0 gives
// p1; the logistic function of a real one, which is the Bradley-Terry
// probability of winning against a response of value 0.
double SearchScore(const RewardFormat& format, double value);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REWARD_REWARD_HEAD_H_
