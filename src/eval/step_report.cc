#include "src/eval/step_report.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "espalier/engine.h"
#include "nlohmann/json.hpp"
#include "src/eval/statistics.h"

namespace espalier {
namespace {

// The scores of all samples so far with their labels.
struct Scored {
  std::vector<std::pair<double, bool>> path, step, frequency;
};

// True if all steps of `response`, including the last, are right.
absl::StatusOr<bool> RightSoFar(const GradedProblem& graded,
                                const Verifier& verifier,
                                const std::string& response) {
  ESP_ASSIGN_OR_RETURN(
      const std::vector<StepVerdict> verdicts,
      verifier.CheckSteps(graded.problem, graded.reference, response));
  return verdicts.empty() || verdicts.back().path_ok;
}

// Counts the samples below `parent`, a node whose response is right so far.
absl::Status CountPrefix(const GradedProblem& graded, const Verifier& verifier,
                         const std::vector<TreeNode>& tree,
                         const std::vector<int>& children,
                         const std::string& response, size_t max_examples,
                         StepReport& report, Scored& scored) {
  const TreeNode* chosen = nullptr;
  const TreeNode* agreed = nullptr;
  bool any = false, chosen_ok = false, agreed_ok = false;
  ++report.prefixes;
  for (const int c : children) {
    const TreeNode& child = tree[static_cast<size_t>(c)];
    ESP_ASSIGN_OR_RETURN(const bool ok,
                         RightSoFar(graded, verifier, response + child.text));
    const auto draws = static_cast<int64_t>(child.draws);
    report.samples += draws;
    report.right += ok ? draws : 0;
    for (int64_t i = 0; i < draws; ++i) {
      scored.path.push_back({child.path_score, ok});
      scored.step.push_back({child.step_score, ok});
      scored.frequency.push_back({static_cast<double>(draws), ok});
    }
    any |= ok;
    if (chosen == nullptr || child.path_score > chosen->path_score) {
      chosen = &child;
      chosen_ok = ok;
    }
    if (agreed == nullptr || child.draws > agreed->draws) {
      agreed = &child;
      agreed_ok = ok;
    }
    if (!ok && report.examples.size() < max_examples) {
      std::string text = child.text;
      while (!text.empty() && text.back() == '\n') text.pop_back();
      report.examples.push_back(absl::StrFormat(
          "%s after \"%s\": %s (path %.2f step %.2f, %d draws)",
          graded.problem.id,
          response.substr(response.rfind('\n', response.size() < 2
                                                   ? 0
                                                   : response.size() - 2) +
                          1),
          text, child.path_score, child.step_score, draws));
    }
  }
  report.any_right += any;
  report.chosen_right += chosen_ok;
  report.agreed_right += agreed_ok;
  return absl::OkStatus();
}

absl::Status CountTree(const GradedProblem& graded, const Verifier& verifier,
                       const std::vector<TreeNode>& tree, size_t max_examples,
                       StepReport& report, Scored& scored) {
  std::vector<std::string> responses(tree.size());
  std::vector<std::vector<int>> children(tree.size());
  for (size_t i = 1; i < tree.size(); ++i) {
    const auto parent = static_cast<size_t>(tree[i].parent);
    responses[i] = responses[parent] + tree[i].text;
    children[parent].push_back(static_cast<int>(i));
  }
  for (size_t i = 0; i < tree.size(); ++i) {
    if (children[i].empty()) continue;
    ESP_ASSIGN_OR_RETURN(const bool ok,
                         RightSoFar(graded, verifier, responses[i]));
    if (!ok) continue;
    ESP_RETURN_IF_ERROR(CountPrefix(graded, verifier, tree, children[i],
                                    responses[i], max_examples, report,
                                    scored));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StepReport> MakeStepReport(
    Engine& engine, absl::Span<const GradedProblem> problems, const Task& task,
    const Verifier& verifier, const StepReportOptions& options) {
  std::vector<Problem> asked;
  for (const GradedProblem& graded : problems) asked.push_back(graded.problem);
  StepReport report;
  Scored scored;
  absl::Status failure;
  ESP_RETURN_IF_ERROR(engine.SolveAll(
      asked, task,
      {.method =
           absl::StrCat("guided:width=1:rounds=1:draft=false:accept=0:branch=",
                        options.branch, ":temperature=", options.temperature),
       .max_tokens = 1 << 20,
       .seed = options.seed,
       .keep_tree = true},
      {.stop = options.stop}, [&](size_t i, SearchResult result) {
        if (failure.ok()) failure = result.status;
        if (failure.ok()) {
          failure = CountTree(problems[i], verifier, result.tree,
                              options.examples, report, scored);
        }
        ++report.problems;
        if (options.progress) options.progress(report.problems);
      }));
  ESP_RETURN_IF_ERROR(failure);
  report.path_auc = AreaUnderCurve(scored.path);
  report.step_auc = AreaUnderCurve(scored.step);
  report.frequency_auc = AreaUnderCurve(scored.frequency);
  return report;
}

std::string StepReportText(const StepReport& report, int branch) {
  const auto share = [](int64_t k, int64_t n) {
    const Interval i = WilsonInterval(k, n);
    return absl::StrFormat(
        "%5.1f %%  [%.1f, %.1f]  of %d",
        n == 0 ? 0.0 : 100.0 * static_cast<double>(k) / static_cast<double>(n),
        100 * i.low, 100 * i.high, n);
  };
  return absl::StrFormat(
      "From prefixes that are right so far (%d problems):\n"
      "  a sampled next step is right            %s\n"
      "  one of %d is right                       %s\n"
      "  the one that scores highest is right    %s\n"
      "  the most frequent one is right          %s\n"
      "Right against wrong samples, area under the ROC curve:\n"
      "  path head %.3f   step head %.3f   frequency %.3f\n",
      report.problems, share(report.right, report.samples), branch,
      share(report.any_right, report.prefixes),
      share(report.chosen_right, report.prefixes),
      share(report.agreed_right, report.prefixes), report.path_auc,
      report.step_auc, report.frequency_auc);
}

nlohmann::json StepReportJson(const StepReport& report) {
  return {{"problems", report.problems},
          {"prefixes", report.prefixes},
          {"samples", report.samples},
          {"right", report.right},
          {"any_right", report.any_right},
          {"chosen_right", report.chosen_right},
          {"agreed_right", report.agreed_right},
          {"path_auc", report.path_auc},
          {"step_auc", report.step_auc},
          {"frequency_auc", report.frequency_auc},
          {"examples", report.examples}};
}

}  // namespace espalier
