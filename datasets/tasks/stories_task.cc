#include "datasets/tasks/stories_task.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/tasks/gold_answers.h"
#include "datasets/tasks/response_lines.h"
#include "datasets/tasks/sentences.h"
#include "datasets/tasks/story_lines.h"
#include "datasets/tasks/task_registry.h"

namespace espalier {
namespace {

// Generated stories have whole numbers as answers, which are compared as they
// are written; those of a file are graded.
GradeVerdict GradeLine(const std::vector<std::string>& golds,
                       std::string_view answer) {
  const std::optional<std::string> number = CanonicalInteger(answer);
  for (const std::string& gold : golds) {
    const std::optional<std::string> expected = CanonicalInteger(gold);
    if (number && number == expected) return {.equal = true};
  }
  if (golds.size() == 1 && number && CanonicalInteger(golds[0])) return {};
  return GradeAgainstAny(golds, answer);
}

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
    return GradeLine({std::string(gold)}, answer).equal;
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
  bool CanCheck(const Reference& reference) const override {
    return HasGold(reference);
  }

  Verdict Check(const Problem&, const Reference& reference,
                std::string_view response) const override {
    const std::optional<std::string> answer = LastAnswerLine(response);
    if (!answer) return {false, "no line \"= N\" in the response"};
    const std::vector<std::string> golds = GoldAnswers(reference);
    const GradeVerdict verdict = GradeLine(golds, *answer);
    if (verdict.equal) return {true, ""};
    return {false,
            absl::StrCat("expected ", GoldText(golds), ", found ", *answer),
            verdict.undecided};
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
