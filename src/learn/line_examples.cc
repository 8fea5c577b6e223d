#include "src/learn/line_examples.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/problem_set.h"
#include "nlohmann/json.hpp"
#include "search/tree/score_rule.h"
#include "src/trace/labels/contamination.h"

namespace espalier {
namespace {

// A value in [0, 1], or a boolean label.
absl::StatusOr<float> ReadValue(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0f : 0.0f;
  if (value.is_number()) {
    const float number = value.get<float>();
    if (number >= 0 && number <= 1) return number;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a step's value is ", value.dump(),
                   "; expected true, false or a number in [0, 1]"));
}

// JSON lines, encoded by the tokenizer.
class LineReader {
 public:
  LineReader(const TrainDataOptions& options, ExampleCollector& collector)
      : kind_(options.kind),
        levels_(options.levels),
        laid_out_(options.layout != nullptr),
        collector_(collector) {}

  absl::Status Read(const nlohmann::json& line) {
    if (line.contains("messages")) {
      return absl::InvalidArgumentError(
          "it holds messages, which need a chat template; export with --format "
          "plain");
    }
    switch (kind_) {
      case ExampleKind::kResponses:
        return Response(line);
      case ExampleKind::kGroups:
        return absl::InvalidArgumentError(
            "groups of responses with their log-probs can only be read from a "
            "run database");
      case ExampleKind::kPairs:
      case ExampleKind::kStepPairs:
        return Pair(line);
      case ExampleKind::kSteps:
        return Steps(line);
    }
    return absl::InternalError("an unknown kind of examples");
  }

 private:
  static absl::Status WantStrings(const nlohmann::json& line,
                                  absl::Span<const char* const> keys) {
    for (const char* key : keys) {
      if (line.contains(key) && line[key].is_string()) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "expected the strings \"", absl::StrJoin(keys, "\", \""), "\""));
    }
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<int32_t>> Encode(const nlohmann::json& text) {
    return collector_.tokenizer().Encode(text.get<std::string>());
  }

  absl::Status Response(const nlohmann::json& line) {
    ESP_RETURN_IF_ERROR(WantStrings(line, {"prompt", "completion"}));
    ESP_ASSIGN_OR_RETURN(const auto prompt, Encode(line["prompt"]));
    ESP_ASSIGN_OR_RETURN(const auto completion, Encode(line["completion"]));
    collector_.Begin(prompt);
    collector_.Add(completion, true);
    collector_.EndResponse();
    return absl::OkStatus();
  }

  absl::Status Pair(const nlohmann::json& line) {
    ESP_RETURN_IF_ERROR(WantStrings(line, {"prompt", "chosen", "rejected"}));
    const bool policy = kind_ == ExampleKind::kPairs;
    ESP_ASSIGN_OR_RETURN(const float weight, Weight(line));
    ESP_ASSIGN_OR_RETURN(const auto prompt, Encode(line["prompt"]));
    for (const char* key : {"chosen", "rejected"}) {
      ESP_ASSIGN_OR_RETURN(const auto tokens, Encode(line[key]));
      if (tokens.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("\"", key, "\" is empty"));
      }
      collector_.Begin(prompt, weight);
      collector_.Add(tokens, policy, policy ? StepScores::kNone : 1);
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<float> Weight(const nlohmann::json& line) {
    if (!line.contains("weight")) return 1;
    const nlohmann::json& weight = line["weight"];
    if (weight.is_number() && weight.get<double>() > 0 &&
        weight.get<double>() < 1e30) {
      return weight.get<float>();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "\"weight\" is ", JsonText(weight), "; expected a number above 0"));
  }

  // Refuses lines whose steps no search of ours cut: their labels would be at
  // other tokens than those where a search reads the reward.
  static absl::Status CheckCut(const nlohmann::json& line) {
    const auto published = [&](const char* first, const char* second) {
      return line.contains(first) && line.contains(second) &&
             !line.contains("completions");
    };
    if (published("input", "label") || published("steps", "label") ||
        published("question", "label")) {
      return absl::InvalidArgumentError(
          "this is a published format of solutions with labelled steps among "
          "lines of another one; put each into a file of its own");
    }
    if (line.contains("values") || !line.contains("completions") ||
        !line["completions"].is_array()) {
      return absl::OkStatus();
    }
    for (const nlohmann::json& step : line["completions"]) {
      if (!step.is_string() || step.get<std::string>().ends_with('\n'))
        continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "the step ", JsonText(step).substr(0, 60),
          " does not end with a line end, where a search asks for the reward; "
          "end each step with \"\\n\" and format the prompt as the task does; "
          "or, if these are TRL's stepwise lines, put them into a file of "
          "their own, which is then tokenised as a search would have it"));
    }
    return absl::OkStatus();
  }

  absl::Status Steps(const nlohmann::json& line) {
    ESP_RETURN_IF_ERROR(CheckCut(line));
    const char* values = line.contains("values") ? "values" : "labels";
    // Labels of other levels are enough.
    const bool valued = line.contains(values) || !line.contains("levels");
    if (!line.contains("prompt") || !line["prompt"].is_string() ||
        !line.contains("completions") || !line["completions"].is_array() ||
        (valued && (!line.contains(values) || !line[values].is_array() ||
                    line[values].size() != line["completions"].size()))) {
      return absl::InvalidArgumentError(
          "expected \"prompt\", \"completions\" and as many \"values\" or "
          "\"labels\", or \"levels\", as espalier export --kind steps writes "
          "them from a run database, or a published file of ProcessBench, "
          "PRM800K, Math-Shepherd or TRL's stepwise lines; write other files "
          "of labelled steps as {\"prompt\": question, \"completions\": "
          "[steps], \"labels\": [true or false for each]}, which are TRL's");
    }
    if (laid_out_) {
      return absl::InvalidArgumentError(
          "the prompts of such lines are a task's, while a published format "
          "takes the question as the user asked it; name the run database, or "
          "a file of solutions with labelled steps");
    }
    ESP_RETURN_IF_ERROR(CheckLevels(line, line["completions"].size()));
    ESP_ASSIGN_OR_RETURN(const auto prompt, Encode(line["prompt"]));
    collector_.Begin(prompt);
    for (size_t i = 0; i < line["completions"].size(); ++i) {
      const nlohmann::json& step = line["completions"][i];
      if (!step.is_string()) {
        return absl::InvalidArgumentError("a completion is not a string");
      }
      float value = StepScores::kNone;
      if (valued) {
        ESP_ASSIGN_OR_RETURN(value, ReadValue(line[values][i]));
      }
      ESP_ASSIGN_OR_RETURN(
          const auto tokens,
          collector_.tokenizer().EncodeContinuation(step.get<std::string>()));
      collector_.Add(tokens, false,
                     levels_.has(Level::kPath) ? value : StepScores::kNone);
      if (!tokens.empty()) ESP_RETURN_IF_ERROR(LabelStep(line, i));
    }
    return absl::OkStatus();
  }

  // "levels": {"step": [1, null, 0]}, one entry per step.
  static absl::Status CheckLevels(const nlohmann::json& line, size_t steps) {
    const auto levels = line.find("levels");
    if (levels == line.end()) return absl::OkStatus();
    if (!levels->is_object()) {
      return absl::InvalidArgumentError(
          "\"levels\" is not an object of labels by level");
    }
    for (const auto& [name, labels] : levels->items()) {
      ESP_ASSIGN_OR_RETURN(const Level level, ParseLevel(name));
      if (level == Level::kPath) {
        return absl::InvalidArgumentError(
            "the labels of the level path are \"values\" or \"labels\"");
      }
      if (labels.is_array() && labels.size() == steps) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "the level ", name, " does not have one label per step (", steps,
          "); null stands for none"));
    }
    return absl::OkStatus();
  }

  absl::Status LabelStep(const nlohmann::json& line, size_t step) {
    const auto levels = line.find("levels");
    if (levels == line.end()) return absl::OkStatus();
    for (const auto& [name, labels] : levels->items()) {
      ESP_ASSIGN_OR_RETURN(const Level level, ParseLevel(name));
      if (labels[step].is_null()) continue;
      ESP_ASSIGN_OR_RETURN(const float label, ReadValue(labels[step]));
      if (levels_.has(level)) collector_.Label(level, label);
    }
    return absl::OkStatus();
  }

  const ExampleKind kind_;
  const LevelSet levels_;
  const bool laid_out_;  // as a published format's
  ExampleCollector& collector_;
};

// The questions that lines are checked against: a line does not say which set
// it comes from.
absl::StatusOr<EvaluationQuestions> EvaluationOfLines(
    const ContaminationOptions& options) {
  return EvaluationQuestions::Load(
      options.eval_sets.empty() ? SetNames() : options.eval_sets, options);
}

}  // namespace

absl::Status AddLines(const std::string& path, const std::string& text,
                      const TrainDataOptions& options, FilterLog& log,
                      ExampleCollector& collector) {
  // Built after the first line, so that a file of another kind is refused at
  // once.
  std::optional<EvaluationQuestions> evaluation;
  LineReader reader(options, collector);
  int64_t number = 0, lines = 0;
  for (const absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    if (raw.find_first_not_of(" \t\r") == absl::string_view::npos) continue;
    ++lines;
    const std::string place = absl::StrCat(path, ":", number);
    nlohmann::json line;
    const JsonOutcome outcome =
        ReadJson(std::string_view(raw.data(), raw.size()), {}, line);
    if (!line.is_object()) {
      return absl::InvalidArgumentError(absl::StrCat(
          place, ": expected a JSON object on each line",
          outcome.what.empty() ? "" : absl::StrCat("; ", outcome.what)));
    }
    const absl::Status status = reader.Read(line);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": ", status.message()));
    }
    if (!options.contamination.off) {
      if (!evaluation) {
        ESP_ASSIGN_OR_RETURN(evaluation,
                             EvaluationOfLines(options.contamination));
      }
      const bool held =
          evaluation->HoldPrompt(line["prompt"].get<std::string>());
      log.Count(evaluation->FilterName("lines"), 1, !held);
      if (held) {
        collector.DropGroup();
        continue;
      }
    }
    collector.EndGroup(place);
  }
  if (lines > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      path,
      ": is empty, there is nothing to train on; expected a JSON object "
      "on each line, as espalier export writes them"));
}

}  // namespace espalier
