// The task of the scripted backend's texts: lines, the last one "= 47".
// Stateless: thread-safe.
#ifndef ESPALIER_MODELS_FAKE_SCRIPT_TASK_H_
#define ESPALIER_MODELS_FAKE_SCRIPT_TASK_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "espalier/task.h"

namespace espalier {

class ScriptTask : public Task {
 public:
  std::string_view name() const override { return "script"; }
  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    return problem.question + "\n";
  }
  const StepFormat& format() const override { return format_; }
  // The text between "= " and the end of its line; none while the line is
  // incomplete.
  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    const size_t at = response.rfind("= ");
    if (at == std::string_view::npos) return std::nullopt;
    const size_t end = response.find('\n', at);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(response.substr(at + 2, end - at - 2));
  }
  bool SameAnswer(std::string_view a, std::string_view b) const override {
    return a == b;
  }

 private:
  const StepFormat format_{.max_step_tokens = 16, .final_prefixes = {"= "}};
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_FAKE_SCRIPT_TASK_H_
