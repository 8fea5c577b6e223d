// Reports on trainings, read from their work folders.
//
//   ESP_ASSIGN_OR_RETURN(TrainingReport report,
//                        ReadTrainingReport("better.work"));
//   std::vector<TrainingReport> reports = {std::move(report)};
//   ESP_RETURN_IF_ERROR(ChooseMetrics({"loss"}, reports));
//   std::printf("%s", TrainingReportText(reports[0], 80).c_str());
//
// A path is a metrics.jsonl, a folder that has one (a training's, or one of the
// shipped models'), or a self-training's work folder with roundN.json and, in
// roundN-policy.work and roundN-reward.work, one metrics.jsonl each. Files are
// only read, so the training may still be running. Stateless functions:
// thread-safe.
#ifndef ESPALIER_SRC_EVAL_TRAINING_REPORT_H_
#define ESPALIER_SRC_EVAL_TRAINING_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "src/eval/round_summaries.h"
#include "src/eval/series.h"

namespace espalier {

struct TrainingCurves {
  std::string name;  // "" for a single training, "grow", "round2 policy"
  std::vector<Series> series;
};

struct TrainingReport {
  std::string path;  // as given
  bool self_training = false;
  std::vector<RoundFigures> rounds;  // of a self-training
  std::vector<TrainingCurves> trainings;
  std::vector<std::string> notes;  // what was left out, and where
};

// NotFound if nothing is at `path` or it has no metrics; errors of
// ReadMetricsFile and ReadRounds.
absl::StatusOr<TrainingReport> ReadTrainingReport(const std::string& path);

// Keeps only the metrics of these names in the reports; without names, the
// losses and those of the usual metrics that vary. InvalidArgument for a name
// that no report has, with the closest one.
absl::Status ChooseMetrics(const std::vector<std::string>& names,
                           std::vector<TrainingReport>& reports);

// The table of rounds, then each curve as figures and a plot `width` columns
// wide. `losses_only` leaves out the plots of other curves, of which a
// self-training has many.
std::string TrainingReportText(const TrainingReport& report, int width,
                               bool losses_only = false);
// The same as JSON; NaN values are null.
nlohmann::json TrainingReportJson(const TrainingReport& report);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_TRAINING_REPORT_H_
