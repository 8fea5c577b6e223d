#include "src/trace/labels/level_targets.h"

#include <algorithm>

#include "base/check.h"

namespace espalier {

std::vector<StepFact> FactsOf(const std::vector<StepVerdict>& verdicts) {
  std::vector<StepFact> facts;
  for (const StepVerdict& verdict : verdicts) {
    facts.push_back({.step_ok = verdict.step_ok, .state_ok = verdict.path_ok});
  }
  return facts;
}

float StepTarget(absl::Span<const StepFact> path, size_t i) {
  return path[i].step_ok ? 1 : 0;
}

float WindowTarget(absl::Span<const StepFact> path, size_t i, int steps) {
  if (path[i].state_ok) return 1;
  const size_t count = std::min(i + 1, static_cast<size_t>(steps));
  const auto window = path.subspan(i + 1 - count, count);
  return std::all_of(window.begin(), window.end(),
                     [](const StepFact& fact) { return fact.step_ok; })
             ? 1
             : 0;
}

float LevelTarget(Level level, absl::Span<const StepFact> path, size_t i) {
  if (level == Level::kStep) return StepTarget(path, i);
  ESP_CHECK(level >= Level::kWindow2);
  const size_t beyond = IndexOf(level) - IndexOf(Level::kWindow2);
  return WindowTarget(path, i, static_cast<int>(beyond) + 2);
}

}  // namespace espalier
