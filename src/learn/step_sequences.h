// Responses with verdicts as sequences to train on.
//
// Every line of a response ends with a token of its own (the newline); that
// token carries the reward labels, because the reward is asked there. A line
// that is right given the lines above it is also something to imitate:
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

// A line of a response, without newline, and what is known of it.
struct JudgedLine {
  std::string text;
  StepVerdict verdict;
  bool imitate = true;  // the policy learns to write this line
};

// Stateless but for what it refers to; thread-safe.
class StepSequences {
 public:
  // `end_token` < 0: the model has none. Both outlive the object.
  StepSequences(const Task& task, const Tokenizer& tokenizer,
                int32_t end_token);

  // `ended`: the response is finished, and its end is imitated if the last
  // line is.
  absl::StatusOr<TrainSequence> Make(const Problem& problem,
                                     const std::vector<JudgedLine>& lines,
                                     bool ended) const;

 private:
  const Task& task_;
  const Tokenizer& tokenizer_;
  const int32_t end_token_;
};

// A response cut into its lines and judged by `verifier`; nothing is imitated.
absl::StatusOr<std::vector<JudgedLine>> JudgeResponse(
    const GradedProblem& problem, const Verifier& verifier,
    const std::string& response);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_STEP_SEQUENCES_H_
