#include "search/labelling/rollout_pool.h"

#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace espalier {

void RolloutPool::AddState(NodeId state, double mc) {
  ESP_CHECK(mc >= 0 && mc <= 1);
  ESP_CHECK(states_.insert({state, {.mc = mc}}).second);
}

void RolloutPool::Add(const WrongRollout& rollout, int words) {
  const double mc = states_.at(rollout.state).mc;
  if (mc <= 0 || mc >= 1) return;
  if (!seen_.insert({rollout.state, rollout.end}).second) return;
  const double q = std::pow(options_.alpha, 1 - mc) *
                   std::pow(options_.beta, words / options_.length);
  entries_.push_back({rollout, q});
}

double RolloutPool::Priority(const Entry& entry) const {
  const auto n = static_cast<double>(states_.at(entry.rollout.state).taken);
  const double u =
      options_.c_puct * std::sqrt(static_cast<double>(taken_)) / (1 + n);
  return entry.q + u;
}

std::optional<WrongRollout> RolloutPool::Pop() {
  if (entries_.empty()) return std::nullopt;
  size_t best = 0;
  for (size_t i = 1; i < entries_.size(); ++i) {
    if (Priority(entries_[i]) > Priority(entries_[best])) best = i;
  }
  const WrongRollout rollout = entries_[best].rollout;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(best));
  ++states_.at(rollout.state).taken;
  ++taken_;
  return rollout;
}

}  // namespace espalier
