#include "src/trace/labels/consensus.h"

#include "base/check.h"
#include "src/trace/labels/tree_labels.h"

namespace espalier {

void KeepAgreed(const StepExample& example, absl::Span<const StepFact> facts,
                float threshold, std::vector<LevelLabels>& labels,
                ConsensusCounts& counts) {
  ESP_CHECK(labels.size() == example.steps.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    if (!example.counts[i]) continue;
    const OutcomeCount ends{.correct = example.correct[i],
                            .finished = example.finished[i]};
    if (ends.finished == 0) {
      labels[i] = NoLabels();
      continue;
    }
    const bool right = ends.share() > threshold;
    const bool agreed = i < facts.size() && facts[i].state_ok == right;
    ++(right ? counts.right : counts.wrong);
    (right ? counts.right_kept : counts.wrong_kept) += agreed;
    if (!agreed) labels[i] = NoLabels();
  }
}

}  // namespace espalier
