// Responses with verdicts as training sequences.
//
// Every line of a response ends with a newline token, which carries the reward
// labels because the reward is read there. A line that is right given the lines
// above it is also imitated:
//
//   prompt tokens   a 23 \n       b 23+48=61 \n     ...   <|end|>
//   lm weight 0     1 .. 1        0 .. 0                  1
//   step label      . . . 1       . . . . .  0            .
#ifndef ESPALIER_SRC_LEARN_STEP_SEQUENCES_H_
#define ESPALIER_SRC_LEARN_STEP_SEQUENCES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/problem.h"
#include "espalier/task.h"
#include "espalier/verifier.h"
#include "models/tokenizer/tokenizer.h"
#include "src/learn/packer.h"

namespace espalier {

// A line of a response, without newline, and its labels.
struct JudgedLine {
  std::string text;
  StepVerdict verdict;
  bool imitate = true;  // the policy learns to write this line
};

// No state except references; thread-safe.
class StepSequences {
 public:
  // `end_token` < 0: the model has none. Both outlive the object.
  StepSequences(const Task& task, const Tokenizer& tokenizer,
                int32_t end_token);

  // `ended`: the response is finished; its end token is imitated if the last
  // line is.
  absl::StatusOr<TrainSequence> Make(const Problem& problem,
                                     const std::vector<JudgedLine>& lines,
                                     bool ended) const;

 private:
  const Task& task_;
  const Tokenizer& tokenizer_;
  const int32_t end_token_;
};

// A response split into lines and judged by `verifier`; nothing is imitated.
absl::StatusOr<std::vector<JudgedLine>> JudgeResponse(
    const GradedProblem& problem, const Verifier& verifier,
    const std::string& response);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_STEP_SEQUENCES_H_
