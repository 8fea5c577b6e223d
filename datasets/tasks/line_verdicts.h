// What verifiers of tasks with judged lines share: a judge is fed the lines of
// a response, one Next(line) each, and says whether it has `ended()`.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_LINE_VERDICTS_H_
#define ESPALIER_DATASETS_TASKS_LINE_VERDICTS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "datasets/tasks/response_lines.h"
#include "espalier/verifier.h"
#include "src/base/text.h"

namespace espalier {

// Right if every line is and the last one is an answer, "= ...".
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

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_LINE_VERDICTS_H_
