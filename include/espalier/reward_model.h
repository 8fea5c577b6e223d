// A reward model supplied by the embedding program: scores partial responses.
//
// The engine's own reward models are heads of in-process trunks and do not use
// this class; it is for rules, remote judges, ablations and bounds.
#ifndef ESPALIER_API_REWARD_MODEL_H_
#define ESPALIER_API_REWARD_MODEL_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/problem.h"
#include "espalier/scores.h"

namespace espalier {

class RewardModel {
 public:
  virtual ~RewardModel() = default;
  virtual std::string_view name() const = 0;
  // The levels that Score gives: a method that asks for others is refused. If
  // only one of step and path is given, it stands for both.
  virtual LevelSet levels() const { return kStepAndPath; }
  // Scores the last step of each response (text after the prompt). The search
  // fails if a score is not in [0, 1]. May be called from several threads.
  virtual absl::StatusOr<std::vector<StepScores>> Score(
      const Problem& problem, absl::Span<const std::string> responses) = 0;
};

}  // namespace espalier

#endif  // ESPALIER_API_REWARD_MODEL_H_
