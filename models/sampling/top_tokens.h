// The most likely tokens of a distribution, without a full sort: weights are
// bucketed by their leading bits, and only the bucket that contains a limit is
// sorted.
#ifndef ESPALIER_MODELS_SAMPLING_TOP_TOKENS_H_
#define ESPALIER_MODELS_SAMPLING_TOP_TOKENS_H_

#include <cstdint>
#include <limits>

#include "absl/types/span.h"

namespace espalier {

// Keeps weights above `weight` and, among equal ones, ids up to `id`.
struct WeightCut {
  float weight = 0;
  int32_t id = std::numeric_limits<int32_t>::max();
  bool Keeps(float w, int32_t i) const {
    return w > weight || (w == weight && i <= id);
  }
};

// The cut that keeps the `top_k` largest weights (0: all), and of these the
// fewest largest whose sum reaches `top_p` of theirs. Among equal weights the
// lower id counts as larger. Weights are in [0, 1], one of them is 1.
WeightCut CutToTopTokens(absl::Span<const float> weights, int top_k,
                         double top_p);

}  // namespace espalier

#endif  // ESPALIER_MODELS_SAMPLING_TOP_TOKENS_H_
