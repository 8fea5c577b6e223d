#include "search/sampling/confidence_filter.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "src/base/check.h"

namespace espalier {

float ConfidenceThreshold(std::vector<float> confidences, float eta) {
  ESP_CHECK(!confidences.empty());
  const double n = static_cast<double>(confidences.size());
  // Less a rounding error, so that 10 % of 30 are 3.
  const double kept = std::ceil(static_cast<double>(eta) / 100 * n - 1e-6);
  const size_t rank = static_cast<size_t>(std::clamp(kept, 1.0, n)) - 1;
  std::sort(confidences.begin(), confidences.end(), std::greater<float>());
  return confidences[rank];
}

}  // namespace espalier
