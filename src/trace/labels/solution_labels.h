// The labels, by reward level, of a solution whose steps somebody has labelled
// (datasets/sets/labelled_steps.h).
//
//   level    a step's label
//   step     1 if the step is right or neutral, 0 if it is wrong
//   window w 0 if the step is wrong, 1 if the last w steps are right; none
//            where a right step follows a wrong one of its window, as nobody
//            said whether it corrects that one
//   path     1 before the first wrong step, 0 from there on
//   outcome  1 if the final answer is right, 0 if it is wrong
//
// A step that nobody has labelled has a label only where the table gives one
// without its own: path after the first wrong step, and outcome.
//
// The steps that a solution shares with the one before have no labels: they
// count once.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_TRACE_LABELS_SOLUTION_LABELS_H_
#define ESPALIER_SRC_TRACE_LABELS_SOLUTION_LABELS_H_

#include <array>
#include <vector>

#include "datasets/sets/labelled_steps.h"
#include "espalier/scores.h"

namespace espalier {

// By Level, in [0, 1]; NaN: none.
using LevelLabels = std::array<float, kLevels>;
LevelLabels NoLabels();

// One entry per step.
std::vector<LevelLabels> LabelsOfSolution(const LabelledSolution& solution);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_SOLUTION_LABELS_H_
