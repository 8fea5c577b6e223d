// Reads metrics.jsonl, to which training writes one line per step:
//
//   {"step":1,"loss":2.31,"kl":0,"grad_norm":1.5,...}
//   {"stage":"grow","step":10,"held_out":false,"lm_loss":5.9,...}
//
// `step` is an integer; every other number is a metric, and null stands for
// NaN. `stage` splits a file into trainings that each count their steps from
// the start. Metrics of lines with held_out get names with the prefix
// held_out_.
//
//   ESP_ASSIGN_OR_RETURN(RecordedMetrics metrics,
//                        ReadMetricsFile("better.work/metrics.jsonl"));
//   metrics.stages[0].series[0].name;  // "loss"
//
// A last line that a kill cut off is skipped with a note, and so are steps of a
// killed call that a later one repeated. Any other line not in this format is
// an error that names file and line. Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_METRICS_FILE_H_
#define ESPALIER_SRC_EVAL_METRICS_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/eval/series.h"

namespace espalier {

struct MetricsStage {
  std::string name;  // "" if the lines name none
  // At least one, none empty: losses, then other metrics that trainings are
  // known to write, then the rest by name.
  std::vector<Series> series;
};

struct RecordedMetrics {
  std::vector<MetricsStage> stages;  // in the file's order, at least one
  std::vector<std::string> notes;
};

// NotFound and others as in ReadFile; OutOfRange for a file without a complete
// line, InvalidArgument for lines that cannot be parsed.
absl::StatusOr<RecordedMetrics> ReadMetricsFile(const std::string& path);

// IsUsualMetric: reports show the metric by default. IsLoss: they do so even if
// all values are equal.
bool IsUsualMetric(const std::string& name);
bool IsLoss(const std::string& name);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_METRICS_FILE_H_
