#include "tools/espalier/labelled_report.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "src/engine/score_solutions.h"

namespace espalier {
namespace {

void Count(const LabelledSolution& solution, LabelledReport& report) {
  const bool whole = !solution.other;
  report.solutions += whole;
  report.others += !whole;
  for (size_t i = solution.shared; i < solution.labels.size(); ++i) {
    const StepLabel label = solution.labels[i];
    report.right += label == StepLabel::kRight;
    report.neutral += label == StepLabel::kNeutral;
    report.wrong += label == StepLabel::kWrong;
    report.unknown += label == StepLabel::kUnknown;
  }
  if (whole && solution.first_error >= 0) {
    ++report.with_error;
    report.first_errors += solution.first_error + 1;
  }
  if (solution.final_correct) {
    ++report.ends_told;
    report.ends_right += *solution.final_correct;
  }
}

// The steps up to the first wrong one; "" if that leaves no label.
absl::StatusOr<std::string> LineOf(const LabelledSolution& solution,
                                   const Task& task) {
  nlohmann::json steps = nlohmann::json::array();
  nlohmann::json labels = nlohmann::json::array();
  nlohmann::json values = nlohmann::json::array();
  for (size_t i = 0; i < solution.steps.size(); ++i) {
    const StepLabel label = solution.labels[i];
    if (label == StepLabel::kUnknown) break;
    const bool right = label != StepLabel::kWrong,
               counts = i >= solution.shared;
    steps.push_back(EndedStep(solution.steps[i], task.format().delimiter));
    labels.push_back(counts ? nlohmann::json(right) : nlohmann::json());
    values.push_back(counts ? nlohmann::json(right ? 1.0 : 0.0)
                            : nlohmann::json());
    if (!right) break;
  }
  if (steps.size() <= solution.shared) return std::string();
  ESP_ASSIGN_OR_RETURN(
      std::string prompt,
      task.Render({.id = solution.id, .question = solution.problem}));
  return JsonText({{"prompt", std::move(prompt)},
                   {"completions", std::move(steps)},
                   {"labels", std::move(labels)},
                   {"values", std::move(values)}}) +
         "\n";
}

std::string Names(const std::map<std::string, int64_t>& kinds) {
  return absl::StrJoin(kinds, ", ", [](std::string* out, const auto& kind) {
    absl::StrAppend(out, kind.first);
  });
}

// "kind prm800k" or "kinds prm800k (3) and processbench (2)".
std::string KindsText(const std::map<std::string, int64_t>& kinds) {
  if (kinds.size() < 2) return absl::StrCat("kind ", Names(kinds));
  std::string text = "kinds ";
  size_t i = 0;
  for (const auto& [name, count] : kinds) {
    absl::StrAppend(&text,
                    i == 0                  ? ""
                    : i + 1 == kinds.size() ? " and "
                                            : ", ",
                    name, " (", count, ")");
    ++i;
  }
  return text;
}

}  // namespace

absl::StatusOr<LabelledReport> ReadLabelled(StepSetReader& reader,
                                            const Task& task,
                                            std::string* lines) {
  LabelledReport report;
  while (true) {
    ESP_ASSIGN_OR_RETURN(const std::optional<LabelledSolution> solution,
                         reader.Next());
    if (!solution) break;
    Count(*solution, report);
    if (lines == nullptr) continue;
    ESP_ASSIGN_OR_RETURN(const std::string line, LineOf(*solution, task));
    lines->append(line);
  }
  report.file = reader.report().file;
  report.kinds = reader.kinds();
  return report;
}

std::string LabelledText(const LabelledReport& report) {
  std::string text = absl::StrFormat(
      "%s: %d solutions of %s%s\n"
      "  steps: %d right, %d neutral, %d wrong, %d without a label\n"
      "  solutions with a wrong step: %d",
      report.file, report.solutions, KindsText(report.kinds),
      report.others == 0
          ? ""
          : absl::StrCat(", ", report.others, " other completions of a step"),
      report.right, report.neutral, report.wrong, report.unknown,
      report.with_error);
  if (report.with_error > 0) {
    absl::StrAppendFormat(&text, ", the first is step %.1f on average",
                          static_cast<double>(report.first_errors) /
                              static_cast<double>(report.with_error));
  }
  absl::StrAppendFormat(
      &text, "\n  right final answers: %d of the %d that are labelled\n",
      report.ends_right, report.ends_told);
  return text;
}

nlohmann::json LabelledJson(const LabelledReport& report) {
  return {{"file", report.file},
          {"kind", Names(report.kinds)},
          {"kinds", report.kinds},
          {"solutions", report.solutions},
          {"others", report.others},
          {"right", report.right},
          {"neutral", report.neutral},
          {"wrong", report.wrong},
          {"unknown", report.unknown},
          {"with_error", report.with_error},
          {"first_errors", report.first_errors},
          {"ends_told", report.ends_told},
          {"ends_right", report.ends_right}};
}

}  // namespace espalier
