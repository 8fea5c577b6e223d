// Reads metrics.jsonl, where a training writes a line a step:
//
//   {"step":1,"loss":2.31,"kl":0,"grad_norm":1.5,...}
//   {"stage":"grow","step":10,"held_out":false,"lm_loss":5.9,...}
//
// `step` is a whole number; every other number is a metric, and null stands
// for one that is not a number. `stage` parts a file into trainings that count
// their steps anew. Metrics of lines with held_out get names that begin with
// held_out_.
//
//   ESP_ASSIGN_OR_RETURN(RecordedMetrics metrics,
//                        ReadMetricsFile("better.work/metrics.jsonl"));
//   metrics.stages[0].series[0].name;  // "loss"
//
// A last line that a kill cut off is left out, with a note; so are steps that
// a killed call had done and a later one did again. Any other line that is not
// as above is an error that names file and line.
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_METRICS_FILE_H_
#define ESPALIER_SRC_EVAL_METRICS_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/eval/series.h"

namespace espalier {

struct MetricsStage {
  std::string name;  // "" where the lines name none
  // At least one, none empty: losses, what else trainings are known to
  // write, then the others by name.
  std::vector<Series> series;
};

struct RecordedMetrics {
  std::vector<MetricsStage> stages;  // in the file's order, at least one
  std::vector<std::string> notes;
};

// NotFound and others as ReadFile; OutOfRange for a file without a whole line,
// InvalidArgument for lines that cannot be read.
absl::StatusOr<RecordedMetrics> ReadMetricsFile(const std::string& path);

// Whether a report shows the metric without being asked to, and whether it
// does so even where all values are the same.
bool IsUsualMetric(const std::string& name);
bool IsLoss(const std::string& name);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_METRICS_FILE_H_
