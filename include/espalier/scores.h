// What a reward model says of a step, by level.
#ifndef ESPALIER_API_SCORES_H_
#define ESPALIER_API_SCORES_H_

#include <limits>

namespace espalier {

// Probabilities in [0, 1]; NaN for a level that the model does not judge.
struct StepScores {
  // The last step is right.
  float step = std::numeric_limits<float>::quiet_NaN();
  // All steps so far are right.
  float path = std::numeric_limits<float>::quiet_NaN();
};

}  // namespace espalier

#endif  // ESPALIER_API_SCORES_H_
