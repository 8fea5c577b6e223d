#include "search/parts/confidence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "search/parts/logprob.h"

namespace espalier {

float StepConfidence(const Step& step) {
  return static_cast<float>(std::exp(StepLogprob(step)));
}

float PathConfidence(const Tree& tree, NodeId end, ConfidenceOf of) {
  if (end == kRoot) return 1;
  if (of == ConfidenceOf::kTail) return StepConfidence(tree.step(end));
  if (of == ConfidenceOf::kMean) {
    return static_cast<float>(std::exp(MeanLogprob(tree, kRoot, end)));
  }
  std::vector<float> steps;
  for (const NodeId node : tree.Path(end)) {
    steps.push_back(StepConfidence(tree.step(node)));
  }
  std::sort(steps.begin(), steps.end());
  if (of == ConfidenceOf::kLowest) return steps.front();
  const size_t lowest = std::max<size_t>(1, steps.size() / 10);
  float sum = 0;
  for (size_t i = 0; i < lowest; ++i) sum += steps[i];
  return sum / static_cast<float>(lowest);
}

double Logit(double p, double cut) {
  const double inside = std::clamp(p, cut, 1 - cut);
  return std::log(inside / (1 - inside));
}

double Calibrate(double p, double slope, double offset) {
  return 1 / (1 + std::exp(-(slope * Logit(p) + offset)));
}

}  // namespace espalier
