#include "datasets/tasks/proof_task.h"

#include "base/status_macros.h"
#include "datasets/tasks/line_verdicts.h"
#include "datasets/tasks/proof_rules.h"
#include "datasets/tasks/response_lines.h"
#include "datasets/tasks/task_registry.h"

namespace espalier {
namespace {

class ProofTaskImpl : public Task {
 public:
  std::string_view name() const override { return "proof"; }

  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    ESP_ASSIGN_OR_RETURN(const ProofPuzzle puzzle,
                         ParseProof(problem.question));
    return FormatProof(puzzle);
  }

  const StepFormat& format() const override { return format_; }

  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    return LastAnswerText(response);
  }

  bool SameAnswer(std::string_view answer,
                  std::string_view gold) const override {
    const auto literal = ParseLiteral(answer);
    return literal && literal == ParseLiteral(gold);
  }

 private:
  // A line is a literal and a number; generated proofs have at most ten lines.
  const StepFormat format_{
      .max_step_tokens = 16, .max_steps = 32, .final_prefixes = {"= "}};
};

const TaskRegistration kRegistration(ProofTask(), ProofVerifier());

}  // namespace

const Task& ProofTask() {
  static const ProofTaskImpl task;
  return task;
}

const Verifier& ProofVerifier() {
  static const LinesVerifier<ProofJudge, ParseProof> verifier("proof");
  return verifier;
}

}  // namespace espalier
