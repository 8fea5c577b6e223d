// Shared by verifiers of tasks with judged lines: a judge takes the lines of a
// response, one Next(line) each, and reports whether it has `ended()`.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_LINE_VERDICTS_H_
#define ESPALIER_DATASETS_TASKS_LINE_VERDICTS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/tasks/response_lines.h"
#include "espalier/verifier.h"

namespace espalier {

// Correct if every line is right and the last one is an answer, "= ...".
template <typename Judge>
Verdict CheckLines(Judge judge, std::string_view response) {
  bool answered = false;
  for (const std::string_view line : ResponseSteps(response)) {
    if (!judge.Next(line).step_ok) {
      return {false,
              absl::StrCat("line \"", AbslView(line), "\" breaks the rules")};
    }
    answered = line.starts_with("= ");
  }
  if (answered) return {true, ""};
  return {false, judge.ended() ? "gave up" : "no line \"= ...\""};
}

template <typename Judge>
std::vector<StepVerdict> JudgeLines(Judge judge, std::string_view response) {
  std::vector<StepVerdict> verdicts;
  for (const std::string_view line : ResponseSteps(response)) {
    verdicts.push_back(judge.Next(line));
  }
  return verdicts;
}

// Judges responses line by line from the question only, with a judge made from
// the puzzle that parse(question) returns as an absl::StatusOr.
//
//   const LinesVerifier<ProofJudge, ParseProof> verifier("proof");
template <class Judge, auto parse>
class LinesVerifier : public Verifier {
 public:
  explicit LinesVerifier(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }
  bool intrinsic() const override { return true; }

  Verdict Check(const Problem& problem, const Reference&,
                std::string_view response) const override {
    auto puzzle = parse(problem.question);
    if (!puzzle.ok()) return {false, std::string(puzzle.status().message())};
    return CheckLines(Judge(*std::move(puzzle)), response);
  }

  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem& problem, const Reference&,
      std::string_view response) const override {
    ESP_ASSIGN_OR_RETURN(auto puzzle, parse(problem.question));
    return JudgeLines(Judge(std::move(puzzle)), response);
  }

 private:
  std::string_view name_;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_LINE_VERDICTS_H_
