#include "src/eval/metrics_file.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

// Metrics that reports show by default, in this order. Losses come first.
constexpr const char* kUsual[] = {"loss",
                                  "lm_loss",
                                  "step_bce",
                                  "path_bce",
                                  "entropy",
                                  "kl",
                                  "clip_rate",
                                  "right",
                                  "grad_norm",
                                  "learning_rate",
                                  "tokens_per_second"};
constexpr size_t kLosses = 4;
// Ends of the names of a reward level's figures ("step_auc"), which come after
// those.
constexpr const char* kOfLevels[] = {"_auc", "_first_error_f1", "_brier",
                                     "_ece"};
constexpr char kHeldOut[] = "held_out_";
constexpr int64_t kMostSteps = int64_t{1} << 53;  // doubles are exact below

// The place of a metric among the usual ones, in the order of reports;
// kPlaces for other metrics.
constexpr size_t kPlaces = std::size(kUsual) + std::size(kOfLevels);
size_t Place(const std::string& name) {
  std::string base = name;
  if (absl::StartsWith(base, kHeldOut)) base.erase(0, sizeof(kHeldOut) - 1);
  for (size_t i = 0; i < std::size(kOfLevels); ++i) {
    if (absl::EndsWith(base, kOfLevels[i])) return std::size(kUsual) + i;
  }
  const auto found = std::find(std::begin(kUsual), std::end(kUsual), base);
  if (found == std::end(kUsual)) return kPlaces;
  return static_cast<size_t>(found - std::begin(kUsual));
}

// The held-out lines of a stage, or the others.
struct Lines {
  struct Line {
    int64_t step = 0;
    std::vector<std::pair<std::string, double>> metrics;
  };
  std::vector<Line> lines;

  // Returns true if steps were repeated: training resumed from its last state.
  bool Add(Line line) {
    bool again = false;
    while (!lines.empty() && lines.back().step >= line.step) {
      lines.pop_back();
      again = true;
    }
    lines.push_back(std::move(line));
    return again;
  }
};

struct Stage {
  std::string name;
  Lines learned, held_out;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  absl::StatusOr<RecordedMetrics> Read() {
    ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path_));
    const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
    for (size_t i = 0; i < lines.size(); ++i) {
      line_ = i + 1;
      if (lines[i].find_first_not_of(" \t\r") == absl::string_view::npos) {
        continue;
      }
      ESP_RETURN_IF_ERROR(ReadLine(lines[i], i + 1 == lines.size()));
    }
    if (stages_.empty()) {
      return absl::OutOfRangeError(absl::StrCat(
          path_, text.empty() ? ": is empty" : ": has no complete line",
          ": no step was recorded yet; try again once the training has done "
          "one"));
    }
    return Finish();
  }

 private:
  absl::Status Error(const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ":", line_, ": ", what));
  }
  void Note(const std::string& what) {
    file_.notes.push_back(absl::StrCat(path_, ":", line_, ": ", what));
  }

  // A line that is not JSON.
  absl::Status Unreadable(absl::string_view line, bool last) {
    // Complete lines end with \n, so this one was being written.
    if (last) {
      Note("incomplete because the writer was killed; ignored");
      return absl::OkStatus();
    }
    const bool nan =
        absl::StrContains(line, "NaN") || absl::StrContains(line, "Infinity");
    return Error(absl::StrCat(
        "is not JSON", nan ? "; write null for a value that is not a number"
                           : "; restore the file or remove the line"));
  }

  absl::Status ReadLine(absl::string_view line, bool last) {
    nlohmann::json json;
    const std::string_view text(line.data(), line.size());
    if (ReadJson(text, {}, json).fault != JsonFault::kNone) {
      return Unreadable(line, last);
    }
    if (!json.is_object() || !json.contains("step")) {
      return Error(
          "expected {\"step\": ..., \"loss\": ...}, as espalier train writes "
          "to metrics.jsonl; name such a file or the folder with it");
    }
    const auto& step = json["step"];
    if (!step.is_number_integer() || step < 0 || step > kMostSteps) {
      return Wrong("step", step, "a whole number, 0 or more");
    }
    return AddRow(json, step.get<int64_t>());
  }

  absl::Status Wrong(const std::string& key, const nlohmann::json& value,
                     const char* expected) const {
    std::string found = JsonText(value);
    if (found.size() > 40) found.replace(37, std::string::npos, "...");
    return Error(absl::StrCat("\"", key, "\" is ", found, ", expected ",
                              expected,
                              "; restore the file or remove the "
                              "line"));
  }

  absl::Status AddRow(const nlohmann::json& json, int64_t step) {
    const auto held = json.value("held_out", nlohmann::json(false));
    if (!held.is_boolean()) return Wrong("held_out", held, "true or false");
    const bool held_out = held.get<bool>();
    const auto stage = json.value("stage", nlohmann::json(""));
    if (!stage.is_string()) return Wrong("stage", stage, "a name");
    Lines::Line line{.step = step};
    for (const auto& [key, value] : json.items()) {
      if (key == "step" || key == "held_out" || key == "stage") continue;
      if (!value.is_number() && !value.is_null()) {
        if (!IsUsualMetric(key)) continue;
        return Wrong(key, value, "a number, or null for what is not one");
      }
      // These describe training and mean nothing for a held-out batch.
      if (held_out && (key == "grad_norm" || key == "learning_rate" ||
                       key == "tokens_per_second")) {
        continue;
      }
      double number = std::numeric_limits<double>::quiet_NaN();
      if (value.is_number()) {
        number = value.get<double>();
      } else {
        AddMissing(key);
      }
      line.metrics.emplace_back(held_out ? kHeldOut + key : key, number);
    }
    Stage& to = FindStage(stage.get<std::string>());
    if ((held_out ? to.held_out : to.learned).Add(std::move(line)) &&
        !held_out) {
      Note(absl::StrCat("step ", step,
                        " was done again; what an earlier call had recorded "
                        "from there on is ignored"));
    }
    return absl::OkStatus();
  }

  // One note per metric, at its first line.
  void AddMissing(const std::string& key) {
    if (missing_[key]++ == 0) {
      Note(absl::StrCat("\"", key,
                        "\" is null: it was not a number; the curve has a "
                        "gap"));
    }
  }

  Stage& FindStage(const std::string& name) {
    for (Stage& stage : stages_) {
      if (stage.name == name) return stage;
    }
    stages_.push_back({.name = name});
    return stages_.back();
  }

  absl::StatusOr<RecordedMetrics> Finish() {
    for (const Stage& stage : stages_) {
      std::map<std::tuple<size_t, bool, std::string>, Series> series;
      for (const Lines* lines : {&stage.learned, &stage.held_out}) {
        for (const Lines::Line& line : lines->lines) {
          for (const auto& [name, value] : line.metrics) {
            Series& s = series[{Place(name), lines == &stage.held_out, name}];
            s.name = name;
            s.steps.push_back(line.step);
            s.values.push_back(value);
          }
        }
      }
      if (series.empty()) continue;
      MetricsStage& made = file_.stages.emplace_back();
      made.name = stage.name;
      for (auto& [key, s] : series) made.series.push_back(std::move(s));
    }
    if (!file_.stages.empty()) return std::move(file_);
    return absl::InvalidArgumentError(
        absl::StrCat(path_,
                     ": has steps but no metrics; expected numbers such as "
                     "\"loss\" beside each \"step\""));
  }

  const std::string& path_;
  size_t line_ = 0;
  std::vector<Stage> stages_;
  std::map<std::string, int64_t> missing_;
  RecordedMetrics file_;
};

}  // namespace

absl::StatusOr<RecordedMetrics> ReadMetricsFile(const std::string& path) {
  return Reader(path).Read();
}

bool IsUsualMetric(const std::string& name) { return Place(name) < kPlaces; }

bool IsLoss(const std::string& name) { return Place(name) < kLosses; }

}  // namespace espalier
