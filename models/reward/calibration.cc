#include "models/reward/calibration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/text_proto.h"
#include "models/reward/calibration.pb.h"

namespace espalier {
namespace {

// Scores are floats: beyond this they are 0 or 1, whose logit is infinite.
constexpr double kLeastScore = 1e-7;

// What is wrong with a level of a file; "" if nothing is.
std::string ErrorIn(const LevelCalibrationConfig& config) {
  const std::string& name = config.name();
  if (std::find(kLevelNames.begin(), kLevelNames.end(), name) ==
      kLevelNames.end()) {
    return UnknownName("level", name, kLevelNames);
  }
  const auto in_range = [](double value) { return value >= 0 && value <= 1; };
  const auto& scores = config.score();
  const auto& probabilities = config.probability();
  if (config.has_slope() == !scores.empty()) {
    return absl::StrCat(name,
                        ": expected either a slope, or scores with their "
                        "probabilities");
  }
  if (config.has_slope()) {
    const bool good = config.slope() > 0 && std::isfinite(config.slope()) &&
                      std::isfinite(config.intercept());
    return good ? ""
                : absl::StrCat(name,
                               ": expected a slope above 0 and a finite "
                               "intercept, found ",
                               config.slope(), " and ", config.intercept());
  }
  if (scores.size() != probabilities.size()) {
    return absl::StrCat(name, ": expected as many probabilities as ",
                        "scores, found ", probabilities.size(), " and ",
                        scores.size());
  }
  for (int i = 0; i < scores.size(); ++i) {
    const bool rises = i == 0 || (scores[i] > scores[i - 1] &&
                                  probabilities[i] >= probabilities[i - 1]);
    if (in_range(scores[i]) && in_range(probabilities[i]) && rises) continue;
    return absl::StrCat(name,
                        ": expected scores that rise and probabilities that "
                        "do not fall, both from 0 to 1; point ",
                        i + 1, " is ", scores[i], ", ", probabilities[i]);
  }
  return "";
}

}  // namespace

double LevelCalibration::Apply(double score) const {
  if (std::isnan(score)) return score;
  if (scores.empty()) {
    const double p = std::clamp(score, kLeastScore, 1 - kLeastScore);
    const double logit = std::log(p) - std::log1p(-p);
    return 1 / (1 + std::exp(-(slope * logit + intercept)));
  }
  const auto above = std::upper_bound(scores.begin(), scores.end(), score);
  if (above == scores.begin()) return probabilities.front();
  if (above == scores.end()) return probabilities.back();
  const auto i = static_cast<size_t>(above - scores.begin());
  const double share = (score - scores[i - 1]) / (scores[i] - scores[i - 1]);
  return probabilities[i - 1] +
         share * (probabilities[i] - probabilities[i - 1]);
}

absl::StatusOr<Calibration> Calibration::Parse(const std::string& text,
                                               const std::string& where) {
  CalibrationConfig config;
  TextProtoPlaces places;
  ESP_RETURN_IF_ERROR(ParseTextProto(
      text, where, "level { name: \"step\" slope: 0.8 intercept: 0.1 }", config,
      &places));
  if (config.level().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": expected a level, e.g.  level { name: \"step\" ",
                     "slope: 0.8 intercept: 0.1 }"));
  }
  std::vector<LevelCalibration> levels;
  for (int i = 0; i < config.level_size(); ++i) {
    const LevelCalibrationConfig& one = config.level(i);
    std::string error = ErrorIn(one);
    for (const LevelCalibration& earlier : levels) {
      if (earlier.level == one.name()) {
        error = absl::StrCat(one.name(), " is given twice");
      }
    }
    if (!error.empty()) return places.Error("level", i, error);
    levels.push_back(
        {.level = one.name(),
         .slope = one.has_slope() ? one.slope() : 1,
         .intercept = one.intercept(),
         .scores = {one.score().begin(), one.score().end()},
         .probabilities = {one.probability().begin(), one.probability().end()},
         .labels = one.labels()});
  }
  return Calibration(std::move(levels));
}

const LevelCalibration* Calibration::Find(std::string_view level) const {
  for (const LevelCalibration& one : levels_) {
    if (one.level == level) return &one;
  }
  return nullptr;
}

StepScores Calibration::Apply(const StepScores& scores,
                              bool path_is_of_steps) const {
  StepScores out = scores;
  for (size_t i = 0; i < kLevels; ++i) {
    const auto level = static_cast<Level>(i);
    const LevelCalibration* curve = Find(kLevelNames[i]);
    if (curve == nullptr && level == Level::kPath && path_is_of_steps) {
      curve = Find("step");
    }
    if (curve == nullptr) continue;
    out[level] = static_cast<float>(curve->Apply(scores[level]));
    const auto mean = static_cast<double>(scores[level]);
    const auto spread = static_cast<double>(scores.spread_of(level));
    if (std::isnan(mean) || spread == 0) continue;
    const double high = curve->Apply(std::min(1.0, mean + spread));
    const double low = curve->Apply(std::max(0.0, mean - spread));
    out.spread_of(level) = static_cast<float>((high - low) / 2);
  }
  return out;
}

std::string Calibration::Text() const {
  // Fewer digits might make two scores equal, which Parse refuses.
  const auto digits = [](std::string* out, double value) {
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value);
    out->append(text.data(), end.ptr);
  };
  std::string text;
  for (const LevelCalibration& one : levels_) {
    absl::StrAppendFormat(&text, "level { name: \"%s\" ", one.level);
    if (one.scores.empty()) {
      text += "slope: ";
      digits(&text, one.slope);
      text += " intercept: ";
      digits(&text, one.intercept);
    } else {
      absl::StrAppend(&text, "score: [",
                      absl::StrJoin(one.scores, ", ", digits),
                      "] probability: [",
                      absl::StrJoin(one.probabilities, ", ", digits), "]");
    }
    absl::StrAppend(&text, " labels: ", one.labels, " }\n");
  }
  return text;
}

}  // namespace espalier
