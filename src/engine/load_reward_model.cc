#include "src/engine/load_reward_model.h"

#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "models/checkpoint/trunk_config_json.h"
#include "models/remote/endpoint.h"
#include "models/reward/reward_folder.h"
#include "models/tokenizer/same_tokens.h"

namespace espalier {

namespace {

// Espalier's own heads have the outputs that their config.json names.
absl::Status TakeOwnLevels(const std::string& folder, RewardFormat& format) {
  ESP_ASSIGN_OR_RETURN(const TrunkConfig config, ReadTrunkConfig(folder));
  if (!config.reward_head) {
    return absl::NotFoundError(
        absl::StrCat(folder,
                     ": config.json names no espalier_heads; the reward format "
                     "espalier is for Espalier's own heads"));
  }
  format.outputs = config.reward_outputs;
  format.labels = config.reward_rows();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<RewardFormat>> FindRewardFormat(
    const std::string& folder, const std::string& name) {
  if (IsRemoteModel(folder) && name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        folder,
        ": how a reward model behind a server is read cannot be told "
        "from its files; name its format by --reward-format"));
  }
  if (!name.empty()) {
    ESP_ASSIGN_OR_RETURN(RewardFormat format, ReadRewardFormat(name));
    if (IsRemoteModel(folder) && !format.head.empty()) {
      return absl::UnimplementedError(absl::StrCat(
          folder, ": the reward format ", format.name,
          " reads a head of the model, which a server does not give; name a "
          "format that reads log-probs of tokens, or a folder with the "
          "model's weights"));
    }
    if (format.name == "espalier") {
      ESP_RETURN_IF_ERROR(TakeOwnLevels(folder, format));
    }
    if (!format.head.empty()) {
      ESP_ASSIGN_OR_RETURN(const RewardFolder facts, ReadRewardFolder(folder));
      ESP_RETURN_IF_ERROR(CheckTensors(format, facts));
    }
    return std::optional<RewardFormat>(std::move(format));
  }
  // What is no folder of weights is named by the loader, which says more.
  std::error_code error;
  if (absl::EndsWith(folder, ".gguf") ||
      !std::filesystem::is_regular_file(folder + "/config.json", error)) {
    return std::nullopt;
  }
  ESP_ASSIGN_OR_RETURN(const RewardFolder facts, ReadRewardFolder(folder));
  if (facts.espalier_head) return std::nullopt;
  ESP_ASSIGN_OR_RETURN(RewardFormat format, RecogniseFormat(facts));
  return std::optional<RewardFormat>(std::move(format));
}

absl::Status CheckReference(const RewardFormat& format,
                            const std::string& reference) {
  if (format.compares() == !reference.empty()) return absl::OkStatus();
  if (format.compares()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the reward format ", format.name,
        " compares the reward model with the model that it was trained from; "
        "name that one's folder by --reference-model"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      reference, ": the reward format ", format.name,
      " reads one model and has no use for a reference model; leave out "
      "--reference-model, or name another --reward-format"));
}

absl::StatusOr<LoadedRewardModel> LoadRewardModel(
    const std::string& folder, const RewardFormat& format, LoadOptions options,
    Executor& executor, const std::string& reference) {
  ESP_RETURN_IF_ERROR(CheckReference(format, reference));
  LoadedRewardModel out;
  options.part = format.head.empty() ? CheckpointPart::kBodyAndLmHead
                                     : CheckpointPart::kBody;
  ESP_ASSIGN_OR_RETURN(out.model, LoadModel(folder, options, executor));
  if (!reference.empty()) {
    ESP_ASSIGN_OR_RETURN(out.reference,
                         LoadModel(reference, options, executor));
    ESP_RETURN_IF_ERROR(CheckSameTokens(reference, "a reference model",
                                        *out.reference.tokenizer,
                                        *out.model.tokenizer, "reward model"));
  }
  RewardHead head;
  if (!format.head.empty()) {
    ESP_ASSIGN_OR_RETURN(const RewardFolder facts, ReadRewardFolder(folder));
    ESP_ASSIGN_OR_RETURN(
        head,
        ReadRewardHead(format, facts, out.model.trunk->config().hidden_size));
  }
  ESP_ASSIGN_OR_RETURN(
      StepLayout layout,
      StepLayout::Create(format, *out.model.tokenizer,
                         IsRemoteModel(folder) ? options.tokenizer : folder));
  out.scorer = std::make_unique<RewardScorer>(
      RewardScorer{std::move(layout), std::move(head)});
  return out;
}

}  // namespace espalier
