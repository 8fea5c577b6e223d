// A calibration: what a reward model's scores mean as probabilities.
//
//   ESP_ASSIGN_OR_RETURN(const Calibration calibration,
//                        Calibration::Parse(text, "calibration.textproto"));
//   const StepScores scores = calibration.Apply(raw,
//   /*path_is_of_steps=*/false);
//
// Every level has a curve of its own, which never turns the order of two scores
// round. A level without a curve stays as it is.
//
// Immutable: thread-safe.
#ifndef ESPALIER_MODELS_REWARD_CALIBRATION_H_
#define ESPALIER_MODELS_REWARD_CALIBRATION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/scores.h"

namespace espalier {

struct LevelCalibration {
  std::string level;
  // p = logistic(slope * logit(score) + intercept), if there are no points.
  double slope = 1, intercept = 0;
  // Points of a curve that is straight between them and constant outside:
  // scores ascending, probabilities not descending, both in [0, 1].
  std::vector<double> scores, probabilities;
  int64_t labels = 0;  // that it was fitted on

  // In [0, 1] for a score in [0, 1]. NaN stays.
  double Apply(double score) const;
};

class Calibration {
 public:
  // `where` names the text in messages. InvalidArgument, which gives it and the
  // line, for an unknown key or level, a level given twice or without a curve,
  // and a curve that falls.
  static absl::StatusOr<Calibration> Parse(const std::string& text,
                                           const std::string& where);
  // Requires levels as Parse accepts them.
  explicit Calibration(std::vector<LevelCalibration> levels)
      : levels_(std::move(levels)) {}

  // `path_is_of_steps`: the model judges steps, and `path` is made from their
  // scores; without a curve of its own it follows that of the steps. A spread
  // becomes half the distance of the curve's values a spread below and above
  // the mean (kept in [0, 1]), which on a straight curve is its slope times the
  // spread.
  StepScores Apply(const StepScores& scores, bool path_is_of_steps) const;

  const std::vector<LevelCalibration>& levels() const { return levels_; }
  // As Parse reads it, one level per line. Equal texts are equal calibrations.
  std::string Text() const;

 private:
  const LevelCalibration* Find(std::string_view level) const;

  std::vector<LevelCalibration> levels_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_REWARD_CALIBRATION_H_
