#include "tools/espalier/describe_model.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "models/checkpoint/tensor_source.h"
#include "models/checkpoint/trunk_config_json.h"
#include "models/prompt/find_template.h"
#include "models/remote/endpoint.h"
#include "models/reward/reward_format.h"
#include "models/reward/step_layout.h"
#include "models/tokenizer/tokenizer.h"
#include "search/tree/score_rule.h"
#include "src/engine/load_calibration.h"
#include "src/engine/load_reward_model.h"

namespace espalier {
namespace {

void AddLine(std::string& text, const char* what, const std::string& found) {
  absl::StrAppendFormat(&text, "%-10s %s\n", what, found);
}

std::string NetworkText(const TensorSource& source) {
  const TrunkConfig& config = source.config();
  return absl::StrFormat(
      "%s, %d layers, hidden size %d, vocabulary %d, context %d, %.2f GB",
      ClassName(config), config.layers, config.hidden_size, config.vocab_size,
      config.context_length, static_cast<double>(source.bytes()) / 1e9);
}

std::string ReadText(const RewardFormat& format) {
  const std::string unit =
      format.unit == RewardUnit::kStep ? "each step" : "the response";
  if (format.writes()) {
    return absl::StrCat(
        "in what the model writes about ", unit, ", ",
        format.verdict->votes == 1
            ? "one vote"
            : absl::StrCat("the mean of ", format.verdict->votes, " votes"),
        " (more: --reward-format ", format.name, ":votes=8",
        format.verdict->again.empty()
            ? ")"
            : absl::StrCat("; thinking again: ", format.name,
                           ":rounds=", format.verdict->again.size() + 1, ")"));
  }
  switch (format.read) {
    case RewardRead::kAtTag:
      return absl::StrCat("at the tag ",
                          format.tag.empty()
                              ? absl::StrCat(format.tag_id)
                              : "\"" + absl::CHexEscape(format.tag) + "\"",
                          " after ", unit);
    case RewardRead::kBeforeTag:
      return absl::StrCat("where the assistant answers ", unit);
    case RewardRead::kLastToken:
      return absl::StrCat("at the last token of ", unit);
    case RewardRead::kEnd:
      return absl::StrCat(format.chat() ? "at the end of the text after "
                                        : "after the end token of ",
                          unit);
  }
  return "";
}

std::string HeadText(const RewardFormat& format,
                     const std::vector<int32_t>& choices) {
  if (format.compares()) {
    return absl::StrCat(format.log_ratio,
                        " times the log-ratio of this model and the one named "
                        "by --reference-model");
  }
  if (format.log_prob != 0) {
    return absl::StrCat(format.log_prob, " times (ln p of token ", choices[0],
                        " + ", -format.log_prob_base, "), bounded to [0, 1]");
  }
  if (format.head.empty()) {
    return absl::StrCat("ln p of tokens ", choices[0], " and ", choices[1]);
  }
  std::vector<std::string> names;
  for (const RewardFormat::Layer& layer : format.head) {
    names.push_back(layer.mean ? "mean of " + layer.weight : layer.weight);
  }
  return absl::StrCat(absl::StrJoin(names, ", "), ", ", format.labels,
                      format.labels == 1 ? " output" : " outputs");
}

absl::Status AddReward(const std::string& path, const RewardFormat& format,
                       bool named, std::string& text) {
  AddLine(text, "reward",
          absl::StrCat(format.name, ", ", format.summary,
                       named ? "" : " (recognised)"));
  ESP_ASSIGN_OR_RETURN(const auto tokenizer, Tokenizer::Load(path));
  ESP_ASSIGN_OR_RETURN(const StepLayout layout,
                       StepLayout::Create(format, *tokenizer, path));
  AddLine(text, "read", ReadText(format));
  AddLine(text, "head", HeadText(format, layout.choices()));
  const std::vector<std::string> steps = {"2 + 3 = 5.", "The answer is 5."};
  ESP_ASSIGN_OR_RETURN(const std::string example,
                       layout.Text("What is 2 + 3?", steps));
  AddLine(text, "example", absl::CHexEscape(example));
  return absl::OkStatus();
}

// An error that lists the classes of language models names those of reward
// models, too.
absl::Status WithRewardClasses(const absl::Status& error) {
  if (!absl::StrContains(error.message(), "\"architectures\"")) return error;
  std::set<std::string> classes;
  for (const RewardFormat& format : ShippedRewardFormats()) {
    classes.insert(format.architectures.begin(), format.architectures.end());
  }
  return absl::Status(error.code(),
                      absl::StrCat(error.message(), "; of reward models ",
                                   absl::StrJoin(classes, ", ")));
}

// A file beside the weights is applied by every search, so a bad one is an
// error here, too.
absl::Status AddCalibration(const std::string& path, std::string& text) {
  ESP_ASSIGN_OR_RETURN(const std::optional<Calibration> calibration,
                       FindCalibration({.policy = path}));
  if (!calibration) return absl::OkStatus();
  std::vector<std::string> levels;
  for (const LevelCalibration& one : calibration->levels()) {
    levels.push_back(one.level);
  }
  AddLine(text, "curves",
          absl::StrCat(kCalibrationFile,
                       " beside the weights: ", absl::StrJoin(levels, ", ")));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> DescribeModel(const std::string& path,
                                          const std::string& reward_format) {
  if (IsRemoteModel(path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": doctor reads checkpoints; a model behind a server is asked "
        "what it is at the start of each command that uses it"));
  }
  std::string text;
  AddLine(text, "model", path);
  const auto whole = TensorSource::Open(path);
  const auto body = TensorSource::Open(path, CheckpointPart::kBody);
  // What neither opens is no model that is known here; the first says why.
  if (!whole.ok() && !body.ok()) return WithRewardClasses(whole.status());
  AddLine(text, whole.ok() ? "network" : "body",
          NetworkText(whole.ok() ? **whole : **body));
  const auto tokenizer = Tokenizer::Load(path);
  AddLine(text, "tokenizer",
          tokenizer.ok() ? absl::StrCat((*tokenizer)->vocab_size(), " tokens")
                         : std::string(tokenizer.status().message()));
  const auto chat = FindTemplate(path, "auto");
  AddLine(text, "template", chat.ok() ? chat->name() : "none");
  ESP_RETURN_IF_ERROR(AddCalibration(path, text));
  const auto format = FindRewardFormat(path, reward_format);
  if (whole.ok() && (*whole)->config().reward_head && reward_format.empty()) {
    const TrunkConfig& config = (*whole)->config();
    std::string heads = LevelNames(config.reward_levels());
    if (config.reward_ensemble > 1) {
      absl::StrAppend(&heads, "; ensemble of ", config.reward_ensemble,
                      " heads each, with a spread");
    }
    AddLine(text, "reward", absl::StrCat("Espalier's own heads: ", heads));
    return text;
  }
  if (format.ok() && *format) {
    ESP_RETURN_IF_ERROR(
        AddReward(path, **format, !reward_format.empty(), text));
    return text;
  }
  // A model that writes need not be a reward model.
  const bool writes = whole.ok() && (*whole)->config().lm_head;
  if (!reward_format.empty() || !writes) {
    ESP_RETURN_IF_ERROR(format.status());
  }
  AddLine(text, "reward",
          "none recognised; if it answers by tokens of its vocabulary, name "
          "its --reward-format (espalier doctor --reward-formats)");
  return text;
}

std::string RewardFormatList() {
  std::string text;
  for (const RewardFormat& format : ShippedRewardFormats()) {
    std::string found;
    if (format.only_by_name) {
      found = "only by name";
    } else if (!format.architectures.empty()) {
      found = absl::StrJoin(format.architectures, ", ");
    } else {
      found = "tensor " + format.head.back().weight;
    }
    absl::StrAppendFormat(&text, "%-21s %s\n%21s recognised: %s\n", format.name,
                          format.summary, "", found);
  }
  return text;
}

}  // namespace espalier
