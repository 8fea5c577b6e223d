// A file of calibration curves.
#include "base/check.h"
#include "models/reward/calibration.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

ESPALIER_FUZZ(calibration) {
  const auto read = Calibration::Parse(std::string(bytes), "own.textproto");
  if (!read.ok()) {
    // Errors name the file.
    ESP_CHECK(read.status().message().find("own.textproto") !=
              absl::string_view::npos);
    return;
  }
  const std::string text = read->Text();
  const auto again = Calibration::Parse(text, "written");
  ESP_CHECK_OK(again.status());
  ESP_CHECK(again->Text() == text);
  // No curve turns the order of two scores round or leaves [0, 1].
  constexpr int kPoints = 64;
  for (const LevelCalibration& curve : read->levels()) {
    double before = 0;
    for (int i = 0; i <= kPoints; ++i) {
      const double score = curve.Apply(static_cast<double>(i) / kPoints);
      ESP_CHECK(score >= before && score <= 1);
      before = score;
    }
  }
}

}  // namespace espalier
