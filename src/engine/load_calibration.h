// The calibration of a reward model: the file that is named, or the one beside
// its weights.
//
//   ESP_ASSIGN_OR_RETURN(std::optional<Calibration> calibration,
//                        FindCalibration(models));
#ifndef ESPALIER_SRC_ENGINE_LOAD_CALIBRATION_H_
#define ESPALIER_SRC_ENGINE_LOAD_CALIBRATION_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "espalier/engine_options.h"
#include "models/reward/calibration.h"

namespace espalier {

// The file's name in a model's folder.
inline constexpr char kCalibrationFile[] = "calibration.textproto";

// The calibration of the critic, or of the policy's own heads without one: the
// file `models.calibration`, or for "" the one in the folder, if there is one;
// "none": nothing. Errors as from ReadFile and Calibration::Parse.
absl::StatusOr<std::optional<Calibration>> FindCalibration(
    const EngineOptions& models);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_LOAD_CALIBRATION_H_
