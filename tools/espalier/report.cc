// espalier report: plots the metrics of trainings.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "src/eval/training_page.h"
#include "src/eval/training_report.h"
#include "tools/espalier/command.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

struct ReportFlags {
  std::vector<std::string> paths;
  std::vector<std::string> metrics;
  std::string html_file;
  JsonOutput json;
};

// Columns of the terminal, at most 100; 80 without a terminal.
int PlotWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return 80;
  }
  return std::min<int>(size.ws_col, 100);
}

absl::Status RunReport(const ReportFlags& flags) {
  if (!flags.html_file.empty()) {
    ESP_RETURN_IF_ERROR(CheckOutputFile(flags.html_file, flags.json.force));
  }
  if (flags.html_file == "-" && flags.json.where == "-") {
    return UsageError(absl::InvalidArgumentError(
        "--html - and --json would both write to standard output; name a file "
        "for one of them"));
  }
  std::vector<TrainingReport> reports;
  for (const std::string& path : flags.paths) {
    std::error_code error;
    const bool there = std::filesystem::exists(path, error);
    if (error) return FileError("open", path, error.value());
    if (!there) {
      return absl::NotFoundError(absl::StrCat(
          path,
          ": no such folder or file; expected the work folder of a training or "
          "self-training run (--out with .work appended), or a metrics.jsonl"));
    }
    ESP_ASSIGN_OR_RETURN(TrainingReport report, ReadTrainingReport(path));
    reports.push_back(std::move(report));
  }
  ESP_RETURN_IF_ERROR(ChooseMetrics(flags.metrics, reports));
  if (!flags.html_file.empty()) {
    ESP_RETURN_IF_ERROR(WriteOutput(flags.html_file, TrainingPage(reports)));
  }
  if (flags.json.wanted()) {
    ESP_RETURN_IF_ERROR(flags.json.TakeStdout());
    nlohmann::json json = nlohmann::json::array();
    for (const TrainingReport& report : reports) {
      json.push_back(TrainingReportJson(report));
    }
    std::printf("%s\n", JsonText({{"reports", json}}).c_str());
  } else if (flags.html_file == "-") {
    return absl::OkStatus();
  } else if (!flags.html_file.empty()) {
    std::printf("%s: written\n", Printable(flags.html_file).c_str());
  } else {
    const int width = PlotWidth();
    for (const TrainingReport& report : reports) {
      const bool losses_only = report.self_training && flags.metrics.empty();
      std::printf(
          "%s%s", &report == reports.data() ? "" : "\n",
          Printable(TrainingReportText(report, width, losses_only)).c_str());
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddReport(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<ReportFlags>();
  app.add_option("path", flags->paths,
                 "Work folder of a training or self-training run (--out with "
                 ".work appended, or --work), or a metrics.jsonl")
      ->required();
  app.add_option("--metric", flags->metrics,
                 "Metric to plot; may be repeated. Default: all losses, plus "
                 "any of these that change: entropy, kl, clip_rate, right, "
                 "grad_norm, learning_rate, tokens_per_second, and a reward "
                 "level's auc, first_error_f1, brier and ece; for "
                 "self-training, only losses")
      ->allow_extra_args(false);
  app.add_option(
      "--html", flags->html_file,
      "Write one HTML page instead, with the curves of all paths overlaid");
  AddJsonOutput(app, flags->json, "series and rounds");
  run = [flags] { return RunReport(*flags); };
}

}  // namespace espalier
