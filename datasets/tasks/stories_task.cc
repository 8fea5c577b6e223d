#include "datasets/tasks/stories_task.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "datasets/tasks/response_lines.h"
#include "datasets/tasks/sentences.h"
#include "datasets/tasks/story_lines.h"
#include "datasets/tasks/task_registry.h"

namespace espalier {
namespace {

class StoriesTaskImpl : public Task {
 public:
  std::string_view name() const override { return "stories"; }

  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    const std::vector<std::string> sentences = SplitSentences(problem.question);
    if (sentences.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("problem \"", problem.id,
                       "\": expected a question, found only white space"));
    }
    std::string prompt;
    for (size_t i = 0; i < sentences.size(); ++i) {
      const bool last = i + 1 == sentences.size();
      absl::StrAppend(&prompt, last ? "?" : SentenceTag(i), " ", sentences[i],
                      "\n");
    }
    return prompt;
  }

  const StepFormat& format() const override { return format_; }

  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    return LastAnswerLine(response);
  }

  bool SameAnswer(std::string_view answer,
                  std::string_view gold) const override {
    const std::optional<std::string> a = CanonicalInteger(answer);
    return a && a == CanonicalInteger(gold);
  }

 private:
  // A line is a tag and three numbers, which fit 24 tokens even at one byte per
  // token. The answer line ends a response.
  const StepFormat format_{.max_step_tokens = 24, .final_prefixes = {"= "}};
};

class StoriesVerifierImpl : public Verifier {
 public:
  std::string_view name() const override { return "stories"; }
  bool intrinsic() const override { return false; }

  Verdict Check(const Problem&, const Reference& reference,
                std::string_view response) const override {
    const std::optional<std::string> answer = LastAnswerLine(response);
    if (!answer) return {false, "no line \"= N\" in the response"};
    if (StoriesTask().SameAnswer(*answer, reference.answer)) return {true, ""};
    return {false,
            absl::StrCat("expected ", reference.answer, ", found ", *answer)};
  }

  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem& problem, const Reference& reference,
      std::string_view response) const override {
    if (reference.steps.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "problem \"", problem.id,
          "\": the steps of a story can be judged "
          "only against expected lines, and its reference has none"));
    }
    ESP_ASSIGN_OR_RETURN(StoryJudge judge, StoryJudge::Create(reference.steps));
    std::vector<StepVerdict> verdicts;
    for (const std::string_view line : ResponseSteps(response)) {
      verdicts.push_back(judge.Next(line));
    }
    return verdicts;
  }
};

const TaskRegistration kRegistration(StoriesTask(), StoriesVerifier());

}  // namespace

const Task& StoriesTask() {
  static const StoriesTaskImpl task;
  return task;
}

const Verifier& StoriesVerifier() {
  static const StoriesVerifierImpl verifier;
  return verifier;
}

}  // namespace espalier
