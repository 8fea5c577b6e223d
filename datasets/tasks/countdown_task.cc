#include "datasets/tasks/countdown_task.h"

#include "base/status_macros.h"
#include "datasets/tasks/countdown_rules.h"
#include "datasets/tasks/line_verdicts.h"
#include "datasets/tasks/response_lines.h"
#include "datasets/tasks/task_registry.h"

namespace espalier {
namespace {

class CountdownTaskImpl : public Task {
 public:
  std::string_view name() const override { return "countdown"; }

  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    ESP_ASSIGN_OR_RETURN(const CountdownPuzzle puzzle,
                         ParseCountdown(problem.question));
    return FormatCountdown(puzzle) + "\n";
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
  // At most five moves for six numbers, then the answer; twice that leaves room
  // for a response that goes wrong. 96 bytes hold the longest allowed move on
  // four-digit numbers.
  const StepFormat format_{.max_step_tokens = 96,
                           .max_steps = 12,
                           .final_prefixes = {"= ", "give up"}};
};

const TaskRegistration kRegistration(CountdownTask(), CountdownVerifier());

}  // namespace

const Task& CountdownTask() {
  static const CountdownTaskImpl task;
  return task;
}

const Verifier& CountdownVerifier() {
  static const LinesVerifier<CountdownJudge, ParseCountdown> verifier(
      "countdown");
  return verifier;
}

}  // namespace espalier
