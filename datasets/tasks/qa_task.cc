// The task "qa": any question with a short answer, for models that were trained
// on such text. The prompt is
//
//   Question: <question>
//   Answer:
//
// Answers are found in responses, and compared, by datasets/answers; a
// multiple-choice question is answered by the letter or the text of an option
// (choice_answer.h).
#include <cctype>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "datasets/answers/grade.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/tasks/choice_answer.h"
#include "datasets/tasks/gold_answers.h"
#include "datasets/tasks/task_registry.h"

namespace espalier {
namespace {

class QaTask : public Task {
 public:
  std::string_view name() const override { return "qa"; }

  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    bool blank = true;
    for (const char c : problem.question) {
      blank &= std::isspace(static_cast<unsigned char>(c)) != 0;
    }
    if (blank) {
      return absl::InvalidArgumentError(
          absl::StrCat("problem \"", problem.id,
                       "\": expected a question, found only white space"));
    }
    return absl::StrCat("Question: ", problem.question, "\nAnswer:");
  }

  const StepFormat& format() const override { return format_; }

  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    const auto found = FindFinalAnswer(response);
    if (!found) return std::nullopt;
    return CanonicalAnswer(*found);
  }

  bool SameAnswer(std::string_view answer,
                  std::string_view gold) const override {
    return SameAnswerText(answer, gold);
  }

  // What the grader calls equal whichever of the two is gold.
  bool OneVote(std::string_view a, std::string_view b) const override {
    constexpr size_t kLongest = 400;
    return a.size() <= kLongest && b.size() <= kLongest &&
           SameAnswerText(a, b) && SameAnswerText(b, a);
  }

 private:
  const StepFormat format_;
};

class QaVerifier : public Verifier {
 public:
  std::string_view name() const override { return "qa"; }
  bool intrinsic() const override { return false; }
  bool CanCheck(const Reference& reference) const override {
    // An option may say "N/A" or "-".
    return ChoiceOptions(reference).empty() ? HasGold(reference)
                                            : !reference.answer.empty();
  }

  Verdict Check(const Problem&, const Reference& reference,
                std::string_view response) const override {
    const std::vector<std::string> options = ChoiceOptions(reference);
    if (!options.empty()) {
      return CheckChoice(options, reference.answer, response);
    }
    const std::optional<std::string> answer = FindFinalAnswer(response);
    if (!answer) return {false, "no answer in the response"};
    const std::vector<std::string> golds = GoldAnswers(reference);
    GradeVerdict verdict = GradeAgainstAny(golds, response);
    if (verdict.equal) return {true, std::move(verdict.reason)};
    return {false,
            absl::StrCat("expected ", GoldText(golds), ", found ", *answer,
                         ": ", verdict.reason),
            verdict.undecided};
  }

  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem&, const Reference&, std::string_view) const override {
    return absl::UnimplementedError(
        "steps of free text cannot be judged exactly; use a set with exact "
        "steps (stories, countdown, game24, sudoku, proof)");
  }
};

const Task& TheQaTask() {
  static const QaTask task;
  return task;
}

const Verifier& TheQaVerifier() {
  static const QaVerifier verifier;
  return verifier;
}

const TaskRegistration kRegistration(TheQaTask(), TheQaVerifier());

}  // namespace
}  // namespace espalier
