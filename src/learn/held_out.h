// Problems on which a training is measured and not trained: what its reward
// model is worth by level, and when to stop.
//
//   TrainData held = TakeHeldOut(0.1, seed, data);
//   HeldOutWatch watch({.patience = 3}, std::move(held), "best.bin");
//   ...
//   ESP_ASSIGN_OR_RETURN(HeldOutFigures now, watch.Measure(objective,
//   trainer)); if (watch.Exhausted()) break;
//
// The state with the lowest loss is kept in a file. What a watch decides
// depends only on the losses, so a training that was killed and goes on from
// the losses it has recorded ends with the same state.
#ifndef ESPALIER_SRC_LEARN_HELD_OUT_H_
#define ESPALIER_SRC_LEARN_HELD_OUT_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/scores.h"
#include "nlohmann/json_fwd.hpp"
#include "src/learn/objective.h"
#include "src/learn/train_data.h"
#include "src/learn/trainer.h"

namespace espalier {

// Moves about `share` of the problems out of `data` (trace/labels/held_out.h,
// by problem_hashes). FailedPrecondition if there are none on one of the sides.
absl::StatusOr<TrainData> TakeHeldOut(double share, uint64_t seed,
                                      TrainData& data);

inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// How well the scores of a level agree with its labels; a label above .5 is
// right. NaN where labels of one kind are missing.
struct LevelQuality {
  Level level = Level::kPath;
  int64_t labels = 0;
  double auc = kUndefined;          // area under the ROC curve
  std::vector<double> auc_by_step;  // [i]: of the labels of i-th steps
  // ProcessBench's F1 at threshold .5, in per cent; NaN for outcome, whose
  // label is that of the end.
  double first_error_f1 = kUndefined;
  double brier = kUndefined;
  double ece = kUndefined;  // 15 bins
};

// Of each output's first level. `scores`: of each group's first sequence, one
// per token. A step whose label counts in another sequence, with which it
// shares all tokens before, has that label in its own path for first_error_f1.
std::vector<LevelQuality> MeasureLevels(
    absl::Span<const SequenceGroup> groups,
    absl::Span<const std::vector<StepScores>> scores,
    absl::Span<const LevelSet> outputs);

struct HeldOutFigures {
  int64_t step = 0;
  int64_t problems = 0;
  double loss = 0;
  double right = 0;                  // as ObjectiveMetrics
  std::vector<LevelQuality> levels;  // none for pairs
};

// A line of metrics.jsonl: "held_out": true, step, loss, right, and by level
// "step_auc", "step_auc_by_step", "step_first_error_f1", "step_brier",
// "step_ece", "step_labels"; those that are NaN are left out, and are null in
// the list.
nlohmann::json FiguresJson(const HeldOutFigures& figures);
// DataLoss if it is not such a line.
absl::StatusOr<HeldOutFigures> ParseFigures(const nlohmann::json& line);
// A table, one line per level.
std::string FiguresText(const HeldOutFigures& figures);

struct HeldOutOptions {
  int patience = 0;  // stop after so many measurements without a lower loss; 0:
                     // never
};

// Externally synchronised.
class HeldOutWatch {
 public:
  HeldOutWatch(HeldOutOptions options, TrainData data, std::string best)
      : options_(options), data_(std::move(data)), best_(std::move(best)) {}

  // What an earlier call measured, in order.
  void Resume(double loss) { Count(loss); }

  // Measures the trainer's state and keeps it if it is the best so far.
  absl::StatusOr<HeldOutFigures> Measure(const Objective& objective,
                                         Trainer& trainer);
  bool Exhausted() const {
    return options_.patience > 0 && without_ >= options_.patience;
  }
  // Loads the best state and returns its figures. Requires a measurement.
  absl::StatusOr<HeldOutFigures> LoadBest(const Objective& objective,
                                          Trainer& trainer) const;

 private:
  // True if `loss` is the lowest so far.
  bool Count(double loss);
  absl::StatusOr<HeldOutFigures> Figures(const Objective& objective,
                                         Trainer& trainer) const;

  const HeldOutOptions options_;
  const TrainData data_;
  const std::string best_;  // a file
  std::optional<double> lowest_;
  int without_ = 0;  // measurements since
};

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_HELD_OUT_H_
