#include "datasets/tasks/sudoku_task.h"

#include "base/status_macros.h"
#include "datasets/tasks/line_verdicts.h"
#include "datasets/tasks/response_lines.h"
#include "datasets/tasks/sudoku_rules.h"
#include "datasets/tasks/task_registry.h"

namespace espalier {
namespace {

class SudokuTaskImpl : public Task {
 public:
  std::string_view name() const override { return "sudoku"; }

  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    ESP_ASSIGN_OR_RETURN(const Sudoku sudoku, ParseSudoku(problem.question));
    return FormatSudoku(sudoku);
  }

  const StepFormat& format() const override { return format_; }

  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    return LastAnswerLine(response);
  }

  bool SameAnswer(std::string_view answer,
                  std::string_view gold) const override {
    const auto a = ParseSudoku(answer);
    const auto b = ParseSudoku(gold);
    return a.ok() && b.ok() && *a == *b;
  }

 private:
  // The longest line is "= " and 81 digits at one token each; a grid has fewer
  // than 81 cells to fill.
  const StepFormat format_{
      .max_step_tokens = 96, .max_steps = 96, .final_prefixes = {"= "}};
};

const TaskRegistration kRegistration(SudokuTask(), SudokuVerifier());

}  // namespace

const Task& SudokuTask() {
  static const SudokuTaskImpl task;
  return task;
}

const Verifier& SudokuVerifier() {
  static const LinesVerifier<SudokuJudge, ParseSudoku> verifier("sudoku");
  return verifier;
}

}  // namespace espalier
