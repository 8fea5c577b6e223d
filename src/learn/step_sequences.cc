#include "src/learn/step_sequences.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace espalier {

StepSequences::StepSequences(const Task& task, const Tokenizer& tokenizer,
                             int32_t end_token)
    : task_(task), tokenizer_(tokenizer), end_token_(end_token) {}

absl::StatusOr<TrainSequence> StepSequences::Make(
    const Problem& problem, const std::vector<JudgedLine>& lines,
    bool ended) const {
  TrainSequence sequence;
  ESP_ASSIGN_OR_RETURN(const std::string prompt, task_.Render(problem));
  ESP_ASSIGN_OR_RETURN(std::vector<int32_t> tokens, tokenizer_.Encode(prompt));
  sequence.Append(tokens, 0);
  for (const JudgedLine& line : lines) {
    ESP_ASSIGN_OR_RETURN(
        tokens, tokenizer_.EncodeContinuation(absl::StrCat(line.text, "\n")));
    sequence.Append(tokens, line.imitate ? 1 : 0);
    sequence.LabelLast(Level::kStep, line.verdict.step_ok ? 1 : 0);
    sequence.LabelLast(Level::kPath, line.verdict.path_ok ? 1 : 0);
  }
  if (ended && end_token_ >= 0) {
    sequence.Append({end_token_},
                    !lines.empty() && lines.back().imitate ? 1 : 0);
  }
  return sequence;
}

absl::StatusOr<std::vector<JudgedLine>> JudgeResponse(
    const GradedProblem& problem, const Verifier& verifier,
    const std::string& response) {
  // Only complete lines are judged; one that a limit cut off is not.
  const size_t complete = response.rfind('\n');
  if (complete == std::string::npos) return std::vector<JudgedLine>();
  const std::string text = response.substr(0, complete + 1);
  ESP_ASSIGN_OR_RETURN(
      const std::vector<StepVerdict> verdicts,
      verifier.CheckSteps(problem.problem, problem.reference, text));
  std::vector<std::string> lines =
      absl::StrSplit(text.substr(0, complete), '\n');
  if (lines.size() != verdicts.size()) {
    return absl::InternalError(absl::StrCat("problem ", problem.problem.id,
                                            ": ", lines.size(), " lines and ",
                                            verdicts.size(), " verdicts"));
  }
  std::vector<JudgedLine> judged;
  for (size_t i = 0; i < lines.size(); ++i) {
    judged.push_back({std::move(lines[i]), verdicts[i], false});
  }
  return judged;
}

}  // namespace espalier
