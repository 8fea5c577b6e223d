// Reward models for ablations and bounds: a constant, and the exact labels.
#ifndef ESPALIER_SRC_EVAL_JUDGES_H_
#define ESPALIER_SRC_EVAL_JUDGES_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "espalier/reward_model.h"
#include "espalier/verifier.h"

namespace espalier {

// Scores every step 0.5. Thread-safe.
class ConstantReward : public RewardModel {
 public:
  std::string_view name() const override { return "constant"; }
  absl::StatusOr<std::vector<StepScores>> Score(
      const Problem& problem, absl::Span<const std::string> responses) override;
};

// Scores a step 1 or 0 by the verifier's verdict on it. An upper bound: it
// reads the references. Thread-safe.
class OracleReward : public RewardModel {
 public:
  // Both outlive the judge.
  OracleReward(const Verifier& verifier,
               absl::Span<const GradedProblem> problems);
  std::string_view name() const override { return "oracle"; }
  absl::StatusOr<std::vector<StepScores>> Score(
      const Problem& problem, absl::Span<const std::string> responses) override;

 private:
  const Verifier& verifier_;
  absl::flat_hash_map<std::string, const Reference*> references_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_JUDGES_H_
