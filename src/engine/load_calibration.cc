#include "src/engine/load_calibration.h"

#include <filesystem>
#include <utility>

#include "base/files.h"
#include "base/status_macros.h"
#include "models/remote/endpoint.h"
#include "src/engine/model_place.h"

namespace espalier {

absl::StatusOr<std::optional<Calibration>> FindCalibration(
    const EngineOptions& models) {
  std::string path = models.calibration;
  if (path == "none") return std::nullopt;
  if (path.empty()) {
    path = RewardModelName(models);
    if (IsRemoteModel(path)) return std::nullopt;
    path.append("/").append(kCalibrationFile);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return std::nullopt;
  }
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ESP_ASSIGN_OR_RETURN(Calibration calibration, Calibration::Parse(text, path));
  return std::optional<Calibration>(std::move(calibration));
}

}  // namespace espalier
