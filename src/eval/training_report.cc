#include "src/eval/training_report.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "nlohmann/json.hpp"
#include "src/eval/metrics_file.h"
#include "src/eval/text_plot.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

bool IsThere(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}
bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// Adds the trainings of one metrics file; `name` is prepended to the names of
// their stages.
absl::Status AddMetrics(const std::string& path, const std::string& name,
                        TrainingReport& report) {
  ESP_ASSIGN_OR_RETURN(RecordedMetrics file, ReadMetricsFile(path));
  for (MetricsStage& stage : file.stages) {
    const char* between = name.empty() || stage.name.empty() ? "" : " ";
    report.trainings.push_back(
        {absl::StrCat(name, between, stage.name), std::move(stage.series)});
  }
  report.notes.insert(report.notes.end(), file.notes.begin(), file.notes.end());
  return absl::OkStatus();
}

absl::Status AddRounds(TrainingReport& report) {
  ESP_ASSIGN_OR_RETURN(report.rounds, ReadRounds(report.path));
  for (const int round : FindRounds(report.path)) {
    for (const char* kind : {"reward", "policy"}) {
      const std::string path = absl::StrCat(report.path, "/round", round, "-",
                                            kind, ".work/metrics.jsonl");
      if (!IsThere(path)) continue;
      const absl::Status status =
          AddMetrics(path, absl::StrCat("round", round, " ", kind), report);
      // A training that has done no step yet must not hide the others.
      if (absl::IsOutOfRange(status)) {
        report.notes.emplace_back(status.message());
      } else {
        ESP_RETURN_IF_ERROR(status);
      }
    }
    if (std::none_of(report.rounds.begin(), report.rounds.end(),
                     [&](const RoundFigures& r) { return r.round == round; })) {
      report.notes.push_back(
          absl::StrCat("round ", round, " has not ended yet"));
    }
  }
  return absl::OkStatus();
}

absl::Status NoMetrics(const std::string& path) {
  if (IsFolder(path + ".work")) {
    return absl::NotFoundError(
        absl::StrCat(path, ": has no metrics; they are in ", path, ".work"));
  }
  return absl::NotFoundError(absl::StrCat(
      path,
      ": has no metrics; expected the work folder of espalier train (--work, "
      "by default --out with .work added; metrics.jsonl is in it) or of "
      "espalier self-train (round1.json, round1-policy.work)"));
}

std::string FiguresText(const SeriesFigures& f) {
  return absl::StrFormat(
      "first %s, last %s, min %s at step %d, max %s at step %d",
      ShortNumber(f.first), ShortNumber(f.last), ShortNumber(f.min), f.min_step,
      ShortNumber(f.max), f.max_step);
}

}  // namespace

absl::StatusOr<TrainingReport> ReadTrainingReport(const std::string& path) {
  TrainingReport report{.path = path};
  while (report.path.size() > 1 && report.path.back() == '/') {
    report.path.pop_back();
  }
  if (!IsFolder(report.path)) {
    ESP_RETURN_IF_ERROR(AddMetrics(report.path, "", report));
    return report;
  }
  if (IsThere(report.path + "/metrics.jsonl")) {
    ESP_RETURN_IF_ERROR(AddMetrics(report.path + "/metrics.jsonl", "", report));
    return report;
  }
  report.self_training = true;
  ESP_RETURN_IF_ERROR(AddRounds(report));
  if (report.rounds.empty() && report.trainings.empty()) {
    return NoMetrics(report.path);
  }
  return report;
}

absl::Status ChooseMetrics(const std::vector<std::string>& names,
                           std::vector<TrainingReport>& reports) {
  std::vector<std::string> known;
  for (const TrainingReport& report : reports) {
    for (const TrainingCurves& training : report.trainings) {
      for (const Series& s : training.series) {
        if (std::find(known.begin(), known.end(), s.name) == known.end()) {
          known.push_back(s.name);
        }
      }
    }
  }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(UnknownName("metric", name, known));
    }
  }
  const auto wanted = [&](const Series& s) {
    if (!names.empty()) {
      return std::find(names.begin(), names.end(), s.name) != names.end();
    }
    const auto figures = FiguresOf(s);
    return IsLoss(s.name) ||
           (IsUsualMetric(s.name) && figures && figures->min < figures->max);
  };
  for (TrainingReport& report : reports) {
    for (TrainingCurves& training : report.trainings) {
      std::erase_if(training.series,
                    [&](const Series& s) { return !wanted(s); });
    }
  }
  return absl::OkStatus();
}

std::string TrainingReportText(const TrainingReport& report, int width,
                               bool losses_only) {
  std::string text = absl::StrCat("== ", report.path, "\n");
  for (const std::string& note : report.notes) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  absl::StrAppend(&text, RoundTable(report.rounds));
  for (const TrainingCurves& training : report.trainings) {
    for (const Series& s : training.series) {
      if (losses_only && !IsLoss(s.name)) continue;
      const auto figures = FiguresOf(s);
      absl::StrAppend(&text, "\n", training.name,
                      training.name.empty() ? "" : ": ", s.name, "  ",
                      figures ? FiguresText(*figures) : "no value is a number",
                      "\n", TextPlot(s, {.width = width}));
    }
  }
  return text;
}

nlohmann::json TrainingReportJson(const TrainingReport& report) {
  nlohmann::json trainings = nlohmann::json::array();
  for (const TrainingCurves& training : report.trainings) {
    nlohmann::json series = nlohmann::json::array();
    for (const Series& s : training.series) {
      nlohmann::json one = {
          {"name", s.name}, {"steps", s.steps}, {"values", s.values}};
      if (const auto f = FiguresOf(s)) {
        one.update({{"first", f->first},
                    {"last", f->last},
                    {"min", f->min},
                    {"min_step", f->min_step},
                    {"max", f->max},
                    {"max_step", f->max_step}});
      }
      series.push_back(std::move(one));
    }
    trainings.push_back({{"name", training.name}, {"series", series}});
  }
  return {{"path", report.path},
          {"kind", report.self_training ? "self-training" : "training"},
          {"rounds", RoundsJson(report.rounds)},
          {"trainings", trainings},
          {"notes", report.notes}};
}

}  // namespace espalier
