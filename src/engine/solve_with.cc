// A search whose questions a policy, a reward model and a verifier answer.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "espalier/policy.h"
#include "src/engine/auto_method.h"

namespace espalier {
namespace {

// What answers a search's questions about one problem.
struct Answerers {
  Policy& policy;
  RewardModel* reward;
  const Verifier* verifier;
  const Problem& problem;
  const Task& task;
  const std::string prompt;
};

absl::Status AnswerSamples(const Answerers& who,
                           const std::vector<SearchQuestion>& questions,
                           AskTell& search) {
  std::vector<PolicyRequest> requests;
  for (const SearchQuestion& question : questions) {
    requests.push_back({.prompt = who.prompt,
                        .response = question.responses[0],
                        .format = &who.task.format(),
                        .sample = question.sample});
  }
  ESP_ASSIGN_OR_RETURN(auto samples, who.policy.Sample(requests));
  if (samples.size() != requests.size()) {
    return absl::InternalError(absl::StrCat("the policy answered ",
                                            samples.size(), " of ",
                                            requests.size(), " requests"));
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    ESP_RETURN_IF_ERROR(
        search.Tell(questions[i].id, {.samples = std::move(samples[i])}));
  }
  return absl::OkStatus();
}

absl::Status AnswerJudgement(const Answerers& who,
                             const SearchQuestion& question, AskTell& search) {
  if (question.kind == QuestionKind::kVerify) {
    if (who.verifier == nullptr) {
      return absl::FailedPreconditionError(
          "the method needs a verifier, found none");
    }
    const Verdict verdict =
        who.verifier->Check(who.problem, Reference{}, question.responses[0]);
    return search.Tell(question.id, {.correct = verdict.correct});
  }
  if (who.reward == nullptr) {
    return absl::FailedPreconditionError(
        "the method needs a reward model, found none; use majority or greedy");
  }
  ESP_ASSIGN_OR_RETURN(auto scores,
                       who.reward->Score(who.problem, question.responses));
  return search.Tell(question.id, {.scores = std::move(scores)});
}

absl::Status AnswerAll(const Answerers& who, double limit, AskTell& search) {
  const double begun = Clock::Real().Seconds();
  while (!search.done()) {
    if (limit > 0 && Clock::Real().Seconds() - begun >= limit) {
      search.Stop(absl::StrCat("time limit of ", limit, " s"));
      break;
    }
    std::vector<SearchQuestion> samples, judgements;
    for (SearchQuestion& question : search.Ask()) {
      (question.kind == QuestionKind::kSample ? samples : judgements)
          .push_back(std::move(question));
    }
    if (samples.empty() && judgements.empty()) {
      return absl::InternalError(
          "the search has not ended and has no open request");
    }
    if (!samples.empty()) {
      ESP_RETURN_IF_ERROR(AnswerSamples(who, samples, search));
    }
    for (const SearchQuestion& question : judgements) {
      ESP_RETURN_IF_ERROR(AnswerJudgement(who, question, search));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SearchResult> Solve(Policy& policy, RewardModel* reward,
                                   const Verifier* verifier,
                                   const Problem& problem, const Task& task,
                                   const SearchOptions& options) {
  if (verifier != nullptr && !verifier->intrinsic()) {
    return absl::InvalidArgumentError(
        absl::StrCat("verifier ", AbslView(verifier->name()),
                     " reads the reference answer; a search may use only "
                     "verifiers that read only the question"));
  }
  SearchOptions resolved = options;
  if (resolved.method == "auto") {
    resolved.method = AutoMethod(options.max_tokens, reward != nullptr);
  }
  ESP_ASSIGN_OR_RETURN(const auto search,
                       AskTell::Create(problem, task, resolved));
  ESP_ASSIGN_OR_RETURN(std::string prompt, task.Render(problem));
  const double begun = Clock::Real().Seconds();
  const Answerers who{policy,  reward, verifier,
                      problem, task,   std::move(prompt)};
  const absl::Status status = AnswerAll(who, options.max_seconds, *search);
  SearchResult result = search->Result();
  result.status.Update(status);
  result.seconds = Clock::Real().Seconds() - begun;
  return result;
}

}  // namespace

SearchResult SolveWith(Policy& policy, RewardModel* reward,
                       const Verifier* verifier, const Problem& problem,
                       const Task& task, const SearchOptions& options) {
  auto result = Solve(policy, reward, verifier, problem, task, options);
  if (!result.ok()) return {.status = result.status()};
  return *std::move(result);
}

}  // namespace espalier
