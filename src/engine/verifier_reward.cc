#include "src/engine/verifier_reward.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {

absl::StatusOr<VerifierReward> VerifierReward::Create(const Verifier& judge) {
  const Verifier* verifier = judge.ForSearch();
  if (verifier == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("--verifier-reward needs a verifier that reads only the "
                     "question, and task ",
                     AbslView(judge.name()),
                     " has none; omit it, or use countdown, game24, sudoku, "
                     "proof or programs"));
  }
  ESP_RETURN_IF_ERROR(verifier->Ready());
  return VerifierReward(*verifier);
}

absl::StatusOr<std::vector<StepScores>> VerifierReward::Score(
    const Problem& problem, absl::Span<const std::string> responses) {
  std::vector<StepScores> scores;
  for (const std::string& response : responses) {
    const bool accepted = verifier_->Check(problem, {}, response).correct;
    const float score = accepted ? 1 : 0;
    scores.push_back({score, score});
  }
  return scores;
}

}  // namespace espalier
