// The targets of reward levels (espalier/scores.h) that are judged step by
// step: step and windows. Those of path and outcome come from the ends below a
// step (tree_labels.h).
//
//   std::vector<StepFact> facts = FactsOf(verdicts);
//   WindowTarget(facts, i, 2);   // did steps i - 1 and i leave an error?
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_TRACE_LABELS_LEVEL_TARGETS_H_
#define ESPALIER_SRC_TRACE_LABELS_LEVEL_TARGETS_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "espalier/scores.h"
#include "espalier/verifier.h"

namespace espalier {

// What is known of a step.
struct StepFact {
  bool step_ok = false;   // it follows from what stands before it
  bool state_ok = false;  // after it no error is left uncorrected
};

// A verifier's verdicts as facts. Of the shipped verifiers that of stories
// reads corrections; with the others every error stays uncorrected.
std::vector<StepFact> FactsOf(const std::vector<StepVerdict>& verdicts);

// 1 if step `i` follows from what stands before it, else 0: step_ok. With the
// window of one step this would be the same.
float StepTarget(absl::Span<const StepFact> path, size_t i);

// 1 if the last `steps` steps up to and including `i` (all where there are
// fewer) leave no error of their own: they made none, or none is left after
// them. Else 0. An older error counts only against a window that also made one:
// the two cannot be told apart.
float WindowTarget(absl::Span<const StepFact> path, size_t i, int steps);

// The target of `level`, which is step or a window.
float LevelTarget(Level level, absl::Span<const StepFact> path, size_t i);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_LEVEL_TARGETS_H_
