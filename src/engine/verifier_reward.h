// The verdicts of a verifier that reads only the question, as a reward. Gives
// methods that judge whole responses (best_of_n, weighted, ab_mcts_a, mctsr,
// vm_mcts, ...) the result of the tests that a programming question shows.
//
//   ESP_ASSIGN_OR_RETURN(VerifierReward reward,
//                        VerifierReward::Create(*put.verifier));
//   RunHooks hooks{.reward = &reward};
//
// The reward is 1 for a response that the verifier accepts as is, else 0. This
// includes unfinished responses, so methods that judge single steps gain
// little.
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
  // Uses judge.ForSearch(); both outlive the reward. FailedPrecondition if
  // there is none, or if it is not ready.
  static absl::StatusOr<VerifierReward> Create(const Verifier& judge);

  std::string_view name() const override { return "verifier"; }
  absl::StatusOr<std::vector<StepScores>> Score(
      const Problem& problem, absl::Span<const std::string> responses) override;

 private:
  explicit VerifierReward(const Verifier& verifier) : verifier_(&verifier) {}

  const Verifier* verifier_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_VERIFIER_REWARD_H_
