#include "datasets/tasks/python_task.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "datasets/tasks/task_registry.h"
#include "src/base/text.h"

namespace espalier {
namespace {

PythonCheck& TheCheck() {
  static PythonCheck check;
  return check;
}

std::string WithoutEnd(std::string_view text) {
  return std::string(absl::StripTrailingAsciiWhitespace(AbslView(text)));
}

class PythonTaskImpl : public Task {
 public:
  std::string_view name() const override { return "python"; }

  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    if (WithoutEnd(problem.question).empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("problem \"", problem.id,
                       "\": expected a question, found only white space"));
    }
    const bool ended = problem.question.ends_with('\n');
    return absl::StrCat(problem.question, ended ? "" : "\n");
  }

  const StepFormat& format() const override { return format_; }

  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    std::string program = WithoutEnd(response);
    if (program.empty()) return std::nullopt;
    return program;
  }

  bool SameAnswer(std::string_view answer,
                  std::string_view gold) const override {
    return WithoutEnd(answer) == WithoutEnd(gold);
  }

 private:
  // The longest published solution has some hundred lines.
  const StepFormat format_{.max_step_tokens = 256, .max_steps = 128};
};

class PythonVerifierImpl : public Verifier {
 public:
  std::string_view name() const override { return "python"; }
  bool intrinsic() const override { return false; }

  Verdict Check(const Problem& problem, const Reference& reference,
                std::string_view response) const override {
    if (!TheCheck()) {
      return {false, "no program was run: nothing that runs them is connected"};
    }
    return TheCheck()(problem, reference, response);
  }

  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem&, const Reference&, std::string_view) const override {
    return absl::UnimplementedError(
        "lines of a program cannot be judged one by one; take a set with exact "
        "steps (stories, countdown, game24, sudoku, proof)");
  }
};

const TaskRegistration kRegistration(PythonTask(), PythonVerifier());

}  // namespace

const Task& PythonTask() {
  static const PythonTaskImpl task;
  return task;
}

const Verifier& PythonVerifier() {
  static const PythonVerifierImpl verifier;
  return verifier;
}

void ConnectPythonCheck(PythonCheck check) { TheCheck() = std::move(check); }

}  // namespace espalier
