// Measures what step-level search depends on: how often a sampled next step is
// right, how often at least one of several is, and how well the reward model
// tells right from wrong ones.
//
// The report reads the trees of a beam of one path: at every prefix that is
// right so far, `branch` next steps were sampled and scored. All figures are
// over those samples, hence over the policy's own first errors.
#ifndef ESPALIER_SRC_EVAL_STEP_REPORT_H_
#define ESPALIER_SRC_EVAL_STEP_REPORT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/problem.h"
#include "espalier/task.h"
#include "espalier/verifier.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

class Engine;

struct StepReportOptions {
  int branch = 4;
  double temperature = 1;
  uint64_t seed = 0;
  size_t examples = 0;  // wrong samples to keep as text
  const std::atomic<bool>* stop = nullptr;
  std::function<void(int64_t done)> progress;  // problems done
};

struct StepReport {
  int64_t problems = 0;
  int64_t prefixes = 0;      // right so far, with `branch` samples
  int64_t samples = 0;       // at those prefixes
  int64_t right = 0;         // samples that keep the prefix right
  int64_t any_right = 0;     // prefixes with at least one right sample
  int64_t chosen_right = 0;  // prefixes whose best-scored sample is right
  int64_t agreed_right = 0;  // prefixes whose most frequent sample is right
  // Area under the ROC curve of right against wrong samples, by the path head,
  // the step head, and how often the sample was drawn.
  double path_auc = 0;
  double step_auc = 0;
  double frequency_auc = 0;
  // Wrong samples as text, in the order found, at most `options.examples`.
  std::vector<std::string> examples;
};

// `verifier` must judge steps. Deterministic for a seed.
absl::StatusOr<StepReport> MakeStepReport(
    Engine& engine, absl::Span<const GradedProblem> problems, const Task& task,
    const Verifier& verifier, const StepReportOptions& options);

std::string StepReportText(const StepReport& report, int branch);
nlohmann::json StepReportJson(const StepReport& report);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_STEP_REPORT_H_
