#include "src/eval/judges.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace espalier {

absl::StatusOr<std::vector<StepScores>> ConstantReward::Score(
    const Problem&, absl::Span<const std::string> responses) {
  return std::vector<StepScores>(responses.size(), {0.5f, 0.5f});
}

OracleReward::OracleReward(const Verifier& verifier,
                           absl::Span<const GradedProblem> problems)
    : verifier_(verifier) {
  for (const GradedProblem& graded : problems) {
    references_[graded.problem.id] = &graded.reference;
  }
}

absl::StatusOr<std::vector<StepScores>> OracleReward::Score(
    const Problem& problem, absl::Span<const std::string> responses) {
  const auto it = references_.find(problem.id);
  if (it == references_.end()) {
    return absl::NotFoundError(
        absl::StrCat("problem ", problem.id, " has no reference"));
  }
  std::vector<StepScores> scores;
  for (const std::string& response : responses) {
    ESP_ASSIGN_OR_RETURN(const std::vector<StepVerdict> verdicts,
                         verifier_.CheckSteps(problem, *it->second, response));
    // A step without a verdict (an empty line, the end token) leaves a right
    // prefix right.
    StepScores score{1, 1};
    if (!verdicts.empty()) {
      score = {verdicts.back().step_ok ? 1.0f : 0.0f,
               verdicts.back().path_ok ? 1.0f : 0.0f};
    }
    scores.push_back(score);
  }
  return scores;
}

}  // namespace espalier
