#include "search/bandit/model_arms.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace espalier {

ModelArms::ModelArms(int models, ModelChoice choice)
    : models_(models), choice_(choice) {
  ESP_CHECK(models >= 1 && static_cast<size_t>(models) <= kModelRoles.size());
}

double ModelArms::UpperBound(const RewardStats& arm) const {
  if (arm.count == 0) return std::numeric_limits<double>::infinity();
  double total = 0;
  for (const RewardStats& each : seen()) total += each.count;
  return arm.mean + std::sqrt(2 * std::log(total) / arm.count);
}

int ModelArms::Choose(
    absl::FunctionRef<double(const RewardStats&)> draw) const {
  if (models_ == 1) return 0;
  int best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (int k = 0; k < models_; ++k) {
    const RewardStats& arm = seen_[static_cast<size_t>(k)];
    const double worth =
        choice_ == ModelChoice::kUcb ? UpperBound(arm) : draw(arm);
    if (worth > highest) {
      highest = worth;
      best = k;
    }
  }
  return best;
}

}  // namespace espalier
