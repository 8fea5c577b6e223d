// A reward model's scores of a step: of the step alone and of its path.
#ifndef ESPALIER_API_SCORES_H_
#define ESPALIER_API_SCORES_H_

#include <limits>

namespace espalier {

// Probabilities in [0, 1]; NaN for a score that the model does not give.
struct StepScores {
  // The last step is correct.
  float step = std::numeric_limits<float>::quiet_NaN();
  // All steps so far are correct.
  float path = std::numeric_limits<float>::quiet_NaN();
};

}  // namespace espalier

#endif  // ESPALIER_API_SCORES_H_
