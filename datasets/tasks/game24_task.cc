#include "datasets/tasks/game24_task.h"

#include "base/status_macros.h"
#include "datasets/tasks/game24_rules.h"
#include "datasets/tasks/line_verdicts.h"
#include "datasets/tasks/response_lines.h"
#include "datasets/tasks/task_registry.h"

namespace espalier {
namespace {

class Game24TaskImpl : public Task {
 public:
  std::string_view name() const override { return "game24"; }

  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    ESP_ASSIGN_OR_RETURN(const std::vector<Fraction> numbers,
                         ParseGame24(problem.question));
    return FormatNumbers(numbers) + "\n";
  }

  const StepFormat& format() const override { return format_; }

  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    return LastAnswerText(response);
  }

  // Answers are the same if both make 24, by whatever expression.
  bool SameAnswer(std::string_view answer,
                  std::string_view gold) const override {
    std::vector<Fraction> unused;
    const auto value = EvaluateExpression(answer, &unused);
    return value && value == EvaluateExpression(gold, &unused);
  }

 private:
  // Three moves, then the answer; twice that leaves room for a response that
  // goes wrong. 96 bytes hold the longest line.
  const StepFormat format_{.max_step_tokens = 96,
                           .max_steps = 8,
                           .final_prefixes = {"= ", "give up"}};
};

const TaskRegistration kRegistration(Game24Task(), Game24Verifier());

}  // namespace

const Task& Game24Task() {
  static const Game24TaskImpl task;
  return task;
}

const Verifier& Game24Verifier() {
  static const LinesVerifier<Game24Judge, ParseGame24> verifier("game24");
  return verifier;
}

}  // namespace espalier
