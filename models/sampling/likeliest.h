// The likeliest tokens of a distribution, without sorting all of it: weights
// are counted by their leading bits, and only the group in which a limit falls
// is put in order.
#ifndef ESPALIER_MODELS_SAMPLING_LIKELIEST_H_
#define ESPALIER_MODELS_SAMPLING_LIKELIEST_H_

#include <cstdint>
#include <limits>

#include "absl/types/span.h"

namespace espalier {

// Keeps what is heavier than `weight`, and of equals ids up to `id`.
struct WeightCut {
  float weight = 0;
  int32_t id = std::numeric_limits<int32_t>::max();
  bool Keeps(float w, int32_t i) const {
    return w > weight || (w == weight && i <= id);
  }
};

// Where to cut so that the `top_k` largest stay (0: all), and of these the
// fewest largest whose sum reaches `top_p` of theirs. Of equals the lower id
// counts as larger. Weights are in [0, 1], one of them is 1.
WeightCut CutToLikeliest(absl::Span<const float> weights, int top_k,
                         double top_p);

}  // namespace espalier

#endif  // ESPALIER_MODELS_SAMPLING_LIKELIEST_H_
