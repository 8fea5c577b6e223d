#include "src/trace/labels/solution_labels.h"

#include <algorithm>
#include <cstddef>

namespace espalier {
namespace {

bool Right(StepLabel label) {
  return label == StepLabel::kRight || label == StepLabel::kNeutral;
}

float WindowLabel(const std::vector<StepLabel>& labels, size_t i, int steps) {
  if (labels[i] == StepLabel::kWrong) return 0;
  const size_t count = std::min(i + 1, static_cast<size_t>(steps));
  const auto end = labels.begin() + static_cast<std::ptrdiff_t>(i) + 1;
  const bool all =
      std::all_of(end - static_cast<std::ptrdiff_t>(count), end, &Right);
  return all ? 1 : StepScores::kNone;
}

}  // namespace

LevelLabels NoLabels() {
  LevelLabels none;
  none.fill(StepScores::kNone);
  return none;
}

std::vector<LevelLabels> LabelsOfSolution(const LabelledSolution& solution) {
  std::vector<LevelLabels> out;
  bool known = true;  // whether all steps so far are right
  for (size_t i = 0; i < solution.labels.size(); ++i) {
    const StepLabel label = solution.labels[i];
    LevelLabels& of = out.emplace_back(NoLabels());
    const bool failed = solution.first_error >= 0 &&
                        static_cast<int>(i) >= solution.first_error;
    known &= label != StepLabel::kUnknown || failed;
    if (label != StepLabel::kUnknown) {
      of[IndexOf(Level::kStep)] = Right(label) ? 1 : 0;
    }
    if (known) of[IndexOf(Level::kPath)] = failed ? 0 : 1;
    if (solution.final_correct) {
      of[IndexOf(Level::kOutcome)] = *solution.final_correct ? 1 : 0;
    }
    for (int steps = 2; steps <= kMaxWindow; ++steps) {
      of[IndexOf(WindowLevel(steps))] = WindowLabel(solution.labels, i, steps);
    }
    if (i < solution.shared) of = NoLabels();
  }
  return out;
}

}  // namespace espalier
