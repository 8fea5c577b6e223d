#include "src/engine/search_round.h"

#include "base/status_macros.h"
#include "src/engine/verifier_reward.h"

namespace espalier {

std::optional<Verdict> SearchRound::Check(size_t i,
                                          std::string_view response) const {
  const GradedProblem& graded = *problems_[i];
  if (!verifier_.CanCheck(graded.reference)) return std::nullopt;
  return verifier_.Check(graded.problem, graded.reference, response);
}

RunRecorder::Grade SearchRound::grade() const {
  return [this](size_t i, std::string_view r) -> std::optional<bool> {
    const std::optional<Verdict> verdict = Check(i, r);
    if (!verdict || verdict->undecided) return std::nullopt;
    return verdict->correct;
  };
}

absl::Status SearchRound::Run(
    uint64_t seed, SearchRecorder& recorder, const std::atomic<bool>* stop,
    const std::function<void(size_t, const SearchResult&)>& on_done) {
  std::vector<Problem> problems;
  problems.reserve(problems_.size());
  for (const GradedProblem* graded : problems_) {
    problems.push_back(graded->problem);
  }
  SearchOptions search = options_.search;
  search.seed = seed;
  std::optional<VerifierReward> reward;
  if (options_.verifier_reward) {
    ESP_ASSIGN_OR_RETURN(reward, VerifierReward::Create(verifier_));
  }
  const RunHooks hooks{
      .verifier = verifier_.ForSearch(),
      .reward = reward ? &*reward : nullptr,
      .stop = stop,
      .recorder = &recorder,
      .grade = [this](size_t i, std::string_view r) -> std::optional<bool> {
        const std::optional<Verdict> verdict = Check(i, r);
        if (!verdict) return std::nullopt;
        return verdict->correct;
      },
      .background_checks = verifier_.slow()};
  return engine_.SolveAll(problems, task_, search, hooks, on_done);
}

}  // namespace espalier
