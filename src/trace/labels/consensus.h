// The consensus filter: labels stay only where two judges agree.
//
// One judge is the Monte Carlo estimate, which calls a step right if the share
// of right ends below it is above a threshold; the other is the verifier, which
// calls it right if no error is left after it. Labels only from rollouts teach
// how promising a step is, not whether it is right; with what both call the
// same, a model learns to find errors from less data (Zhang et al. 2025, "The
// Lessons of Developing Process Reward Models in Mathematical Reasoning", whose
// second judge is a language model and whose threshold is 0).
//
// Stateless function: thread-safe.
#ifndef ESPALIER_SRC_TRACE_LABELS_CONSENSUS_H_
#define ESPALIER_SRC_TRACE_LABELS_CONSENSUS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "src/trace/labels/examples.h"
#include "src/trace/labels/level_targets.h"
#include "src/trace/labels/solution_labels.h"

namespace espalier {

// Of steps whose labels count.
struct ConsensusCounts {
  int64_t right = 0, right_kept = 0;  // right by outcomes; by both
  int64_t wrong = 0, wrong_kept = 0;  // wrong by outcomes; by both
};

// Takes the labels of all levels from the steps of `example` on which outcomes
// and `facts` disagree, or on which one of them says nothing: no end below, or
// no facts. `labels`: one entry per step. Adds to `counts`.
void KeepAgreed(const StepExample& example, absl::Span<const StepFact> facts,
                float threshold, std::vector<LevelLabels>& labels,
                ConsensusCounts& counts);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_CONSENSUS_H_
