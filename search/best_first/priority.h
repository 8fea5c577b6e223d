// Which open step a best-first search expands next.
#ifndef ESPALIER_SEARCH_BEST_FIRST_PRIORITY_H_
#define ESPALIER_SEARCH_BEST_FIRST_PRIORITY_H_

#include <cmath>

namespace espalier {

// sum over the steps of (mean token log-prob of the step) / depth^alpha: 0 for
// the root, negative below it. alpha > 0 lets long paths compete with short
// ones (Xin et al. 2025, arXiv:2502.03438).
inline double PathPriority(double sum_of_means, int depth, double alpha) {
  return depth == 0 ? 0 : sum_of_means / std::pow(depth, alpha);
}

// g: cost of the path to a node; h: expected remaining cost (A*):
//   g = sum over the steps of (1 - step_score);
//   h = weight (1 - path_score) max(0, steps_left - depth), 0 at an end.
// steps_left is the number of steps expected at the root; 0: unknown, h = 0.
inline double StepCost(double step_score) { return 1 - step_score; }
inline double CostToGo(double path_score, int depth, bool terminal,
                       double weight, int steps_left) {
  if (terminal || depth >= steps_left) return 0;
  return weight * (1 - path_score) * (steps_left - depth);
}

}  // namespace espalier

#endif  // ESPALIER_SEARCH_BEST_FIRST_PRIORITY_H_
