#include "src/learn/train_data.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "datasets/tasks/task_registry.h"
#include "nlohmann/json.hpp"
#include "src/base/files.h"
#include "src/base/random.h"
#include "src/base/status_macros.h"
#include "src/trace/run_db.h"

namespace espalier {
namespace {

constexpr float kNoLabel = std::numeric_limits<float>::quiet_NaN();

void Append(TrainSequence& sequence, absl::Span<const int32_t> tokens,
            float weight) {
  sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
  sequence.lm_weight.resize(sequence.tokens.size(), weight);
  sequence.step_label.resize(sequence.tokens.size(), kNoLabel);
  sequence.path_label.resize(sequence.tokens.size(), kNoLabel);
}

// Takes sequences that fit the context.
class Collector {
 public:
  Collector(const TrainDataOptions& options, const Tokenizer& tokenizer,
            int32_t end_token, FilterLog& log)
      : options_(options),
        tokenizer_(tokenizer),
        end_token_(end_token),
        log_(log) {}

  absl::Status Begin(const std::string& prompt) {
    sequence_ = {};
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> tokens,
                         tokenizer_.Encode(prompt));
    Append(sequence_, tokens, 0);
    return absl::OkStatus();
  }
  void Step(absl::Span<const int32_t> tokens, bool imitate, float value) {
    if (tokens.empty()) return;
    Append(sequence_, tokens, imitate ? 1 : 0);
    sequence_.path_label.back() = value;
    imitated_last_ = imitate;
  }
  absl::Status Step(const std::string& text, bool imitate, float value) {
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> tokens,
                         tokenizer_.Encode(text));
    Step(tokens, imitate, value);
    return absl::OkStatus();
  }
  void End(std::string name) {
    const bool policy = options_.kind == TrainKind::kPolicy;
    if (policy && imitated_last_ && end_token_ >= 0 &&
        sequence_.tokens.back() != end_token_) {
      Append(sequence_, {end_token_}, 1);
    }
    const bool fits =
        options_.context_length == 0 ||
        sequence_.tokens.size() <= static_cast<size_t>(options_.context_length);
    log_.Count("not longer than the context", 1, fits);
    if (!fits) return;
    data_.sequences.push_back(std::move(sequence_));
    data_.names.push_back(std::move(name));
  }
  TrainData Take() { return std::move(data_); }

 private:
  const TrainDataOptions& options_;
  const Tokenizer& tokenizer_;
  const int32_t end_token_;
  FilterLog& log_;
  TrainSequence sequence_;
  bool imitated_last_ = false;
  TrainData data_;
};

absl::Status FromDatabase(const std::string& path,
                          const TrainDataOptions& options, FilterLog& log,
                          Collector& collector) {
  ESP_ASSIGN_OR_RETURN(const auto db, RunDb::Open(path, Sqlite::kRead));
  ESP_ASSIGN_OR_RETURN(std::vector<ProblemTrees> trees,
                       TreesByProblem(*db, options.run));
  ESP_RETURN_IF_ERROR(DropContaminated(options.contamination, trees, log));
  const auto begin = [&](size_t problem) -> absl::Status {
    ESP_ASSIGN_OR_RETURN(const Task* task, FindTask(trees[problem].task));
    ESP_ASSIGN_OR_RETURN(const std::string prompt,
                         task->Render(trees[problem].problem.problem));
    return collector.Begin(prompt);
  };
  const auto name = [&](size_t problem) {
    return absl::StrCat(path, " ", trees[problem].problem.problem.id);
  };
  if (options.kind == TrainKind::kPolicy) {
    for (const PathExample& path_example :
         SelectPaths(trees, options.paths, log)) {
      ESP_RETURN_IF_ERROR(begin(path_example.problem));
      for (size_t i = 0; i < path_example.steps.size(); ++i) {
        collector.Step(path_example.step_tokens[i], path_example.train[i],
                       kNoLabel);
      }
      collector.End(name(path_example.problem));
    }
    return absl::OkStatus();
  }
  for (const StepExample& example : SelectSteps(trees, options.steps, log)) {
    ESP_RETURN_IF_ERROR(begin(example.problem));
    for (size_t i = 0; i < example.steps.size(); ++i) {
      collector.Step(example.step_tokens[i], false, example.values[i]);
    }
    collector.End(name(example.problem));
  }
  return absl::OkStatus();
}

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

absl::Status ReadPolicyLine(const nlohmann::json& line, Collector& collector) {
  if (line.contains("messages")) {
    return absl::InvalidArgumentError(
        "it holds messages, which need a chat template; export with --format "
        "plain");
  }
  if (!line.contains("prompt") || !line["prompt"].is_string() ||
      !line.contains("completion") || !line["completion"].is_string()) {
    return absl::InvalidArgumentError(
        "expected the strings \"prompt\" and \"completion\"");
  }
  ESP_RETURN_IF_ERROR(collector.Begin(line["prompt"]));
  return collector.Step(line["completion"].get<std::string>(), true, kNoLabel);
}

absl::Status ReadRewardLine(const nlohmann::json& line, Collector& collector) {
  const char* values = line.contains("values") ? "values" : "labels";
  if (!line.contains("prompt") || !line["prompt"].is_string() ||
      !line.contains("completions") || !line["completions"].is_array() ||
      !line.contains(values) || !line[values].is_array() ||
      line[values].size() != line["completions"].size()) {
    return absl::InvalidArgumentError(
        "expected \"prompt\", \"completions\" and as many \"values\" or "
        "\"labels\"");
  }
  ESP_RETURN_IF_ERROR(collector.Begin(line["prompt"]));
  for (size_t i = 0; i < line["completions"].size(); ++i) {
    const nlohmann::json& step = line["completions"][i];
    if (!step.is_string()) {
      return absl::InvalidArgumentError("a completion is not a string");
    }
    ESP_ASSIGN_OR_RETURN(const float value, ReadValue(line[values][i]));
    ESP_RETURN_IF_ERROR(collector.Step(step.get<std::string>(), false, value));
  }
  return absl::OkStatus();
}

absl::Status FromLines(const std::string& path, const std::string& text,
                       TrainKind kind, Collector& collector) {
  int64_t number = 0;
  for (const absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    if (raw.find_first_not_of(" \t\r") == absl::string_view::npos) continue;
    const std::string place = absl::StrCat(path, ":", number);
    const auto line =
        nlohmann::json::parse(raw.begin(), raw.end(), nullptr, false);
    if (!line.is_object()) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": not JSON; expected an object on each line"));
    }
    const absl::Status status = kind == TrainKind::kPolicy
                                    ? ReadPolicyLine(line, collector)
                                    : ReadRewardLine(line, collector);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": ", status.message()));
    }
    collector.End(place);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainData> LoadTrainData(const std::string& path,
                                        const TrainDataOptions& options,
                                        const Tokenizer& tokenizer,
                                        int32_t end_token, FilterLog& log) {
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Collector collector(options, tokenizer, end_token, log);
  const bool database = text.starts_with("SQLite format 3");
  ESP_RETURN_IF_ERROR(database
                          ? FromDatabase(path, options, log, collector)
                          : FromLines(path, text, options.kind, collector));
  TrainData data = collector.Take();
  if (data.sequences.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path,
                     ": nothing is left to train on. What the filters "
                     "did:\n",
                     log.Text()));
  }
  return data;
}

uint64_t HashTrainData(const TrainData& data) {
  uint64_t hash = data.sequences.size();
  const auto mix = [&](float value) {
    hash = MixHash(hash, std::isnan(value) ? ~uint64_t{0}
                                           : std::bit_cast<uint32_t>(value));
  };
  for (const TrainSequence& s : data.sequences) {
    for (size_t i = 0; i < s.tokens.size(); ++i) {
      hash = MixHash(hash, static_cast<uint64_t>(s.tokens[i]));
      mix(s.lm_weight[i]);
      mix(s.step_label[i]);
      mix(s.path_label[i]);
    }
  }
  return hash;
}

}  // namespace espalier
