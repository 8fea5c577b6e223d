// The verdicts of a verifier that reads the question alone, as a reward: what
// methods that judge whole responses (best_of_n, weighted, ab_mcts_a, mctsr,
// vm_mcts, ...) learn of a program by the tests that its question shows.
//
//   ESP_ASSIGN_OR_RETURN(VerifierReward reward,
//                        VerifierReward::Create(*put.verifier));
//   RunHooks hooks{.reward = &reward};
//
// A response that the verifier accepts as it stands is worth 1, any other 0: an
// unfinished one too, so methods that judge single steps learn little of it.
//
// Thread-safe.
#ifndef ESPALIER_SRC_ENGINE_VERIFIER_REWARD_H_
#define ESPALIER_SRC_ENGINE_VERIFIER_REWARD_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/reward_model.h"
#include "espalier/verifier.h"

namespace espalier {

class VerifierReward : public RewardModel {
 public:
  // Of judge.ForSearch(); both outlive the reward. FailedPrecondition where
  // there is none, or where it is not ready.
  static absl::StatusOr<VerifierReward> Create(const Verifier& judge);

  std::string_view name() const override { return "verifier"; }
  bool reads_reference() const override { return false; }
  absl::StatusOr<std::vector<StepScores>> Score(
      const Problem& problem, absl::Span<const std::string> responses) override;

 private:
  explicit VerifierReward(const Verifier& verifier) : verifier_(&verifier) {}

  const Verifier* verifier_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_VERIFIER_REWARD_H_
