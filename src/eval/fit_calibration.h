// Fits the curves that make probabilities of a reward model's scores, and
// measures how far scores are from probabilities.
//
//   ESP_ASSIGN_OR_RETURN(const LevelCalibration curve,
//                        FitCalibration(CurveKind::kPlatt, "step", scored));
//   const ScoreQuality after = MeasureScores(Calibrated(curve, held_out));
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_FIT_CALIBRATION_H_
#define ESPALIER_SRC_EVAL_FIT_CALIBRATION_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/reward/calibration.h"

namespace espalier {

struct LabelledScore {
  double score = 0;  // in [0, 1]
  double label = 0;  // in [0, 1]: right or wrong, or a share of right ends
  int third = 0;     // ThirdOf its step
};

// Which third of a path of `steps` steps its step `i` (from 0) is in: 0, 1
// or 2. Of one step it is the first, of two the first and the second.
constexpr int ThirdOf(int64_t i, int64_t steps) {
  return static_cast<int>(3 * i / steps);
}

enum class CurveKind : uint8_t {
  // logistic(slope * logit + intercept), the most likely of them (Platt 1999,
  // whose targets for n+ right and n- wrong labels, (n+ + 1) / (n+ + 2) and
  // 1 / (n- + 2), keep it finite where scores separate the labels).
  kPlatt,
  kTemperature,  // the same with intercept 0 (Guo et al. 2017): slope = 1 / T
  // The monotone curve with the least squared error, by pooling adjacent
  // violators, straight between the pools' mean scores so that it rises between
  // them (centred isotonic regression, Oron and Flournoy 2017).
  kIsotonic,
};
inline constexpr std::array<std::string_view, 3> kCurveKindNames = {
    "platt", "temperature", "isotonic"};

// Fewer labels than this say little about a curve.
inline constexpr int64_t kLeastLabels = 20;

// The values that do not fall and have the least weighted squared distance from
// `values`. `weights`: one per value, above 0.
std::vector<double> PoolAdjacentViolators(absl::Span<const double> values,
                                          absl::Span<const double> weights);

// InvalidArgument, which names the level, for fewer than kLeastLabels labels,
// for labels that are all right or all wrong, and for scores that do not rise
// with the labels.
absl::StatusOr<LevelCalibration> FitCalibration(
    CurveKind kind, const std::string& level,
    absl::Span<const LabelledScore> scored);

std::vector<LabelledScore> Calibrated(const LevelCalibration& curve,
                                      absl::Span<const LabelledScore> scored);

struct ScoreQuality {
  int64_t labels = 0;
  double brier = 0;  // mean squared distance from the label (Brier 1950)
  // Expected calibration error: the mean distance between mean score and mean
  // label in each of 15 bins of equal width, weighted by labels (Guo et al.
  // 2017).
  double ece = 0;
};

// NaN without labels.
ScoreQuality MeasureScores(absl::Span<const LabelledScore> scored);
// Of each third's labels only.
std::array<ScoreQuality, 3> MeasureThirds(
    absl::Span<const LabelledScore> scored);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_FIT_CALIBRATION_H_
