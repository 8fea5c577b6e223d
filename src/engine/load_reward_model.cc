#include "src/engine/load_reward_model.h"

#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "models/checkpoint/trunk_config_json.h"
#include "models/remote/choice_scores.h"
#include "models/remote/endpoint.h"
#include "models/remote/pooled_backend.h"
#include "models/remote/pooled_probe.h"
#include "models/remote/remote_backend.h"
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

// What the layout says of the head that a server computes, or of the tokens
// whose log-probs are read in place of one.
absl::StatusOr<PooledHead> PooledHeadOf(const StepLayout& layout) {
  const RewardFormat& format = layout.format();
  PooledHead head = {.format = format.name,
                     .labels = format.labels,
                     .tag = layout.tag_id(),
                     .whole = format.unit == RewardUnit::kResponse ||
                              !format.focus_prefix.empty(),
                     .probabilities = format.probabilities,
                     .choices = layout.choices()};
  if (!head.choices.empty()) {
    head.labels = static_cast<int>(head.choices.size());
    // What stands before the tag is read at no row of the tag.
    if (format.read != RewardRead::kAtTag) head.tag = -1;
  }
  // Of several outputs the softmax tells logits up to a constant, and the
  // function of one output can be undone.
  head.takes_probabilities = format.labels == 1 ||
                             format.squash == RewardSquash::kSoftmax ||
                             format.squash == RewardSquash::kDifference ||
                             format.squash == RewardSquash::kSum;
  // Right and wrong ones, so that outputs differ.
  const std::vector<std::vector<std::string>> samples = {
      {"1 + 1 = 2"},
      {"1 + 1 = 2\n", "So the answer is 2.\n"},
      {"1 + 1 = 11\n", "Then 11 + 1 = 7\n", "So the answer is 7 apples.\n"}};
  for (const std::vector<std::string>& steps : samples) {
    ESP_ASSIGN_OR_RETURN(LaidOutPath path, layout.Lay("What is 1 + 1?", steps));
    head.samples.push_back(std::move(path.ids));
  }
  return head;
}

void SayWhere(const LoadOptions& options, const std::string& url,
              const std::string& format, const std::string& where) {
  if (!options.notice) return;
  options.notice(
      absl::StrCat(url, ": the reward format ", format, " is read at ", where));
}

// A backend that asks for the log-probs of the head's choices. Nothing, with
// why in `head`, if another endpoint may tell them and this one does not.
absl::StatusOr<std::optional<LoadedModel>> ConnectCompletions(
    const std::string& name, const std::string& url, const LoadOptions& options,
    Executor& executor, PooledHead& head) {
  absl::StatusOr<LoadedModel> model = LoadModel(name, options, executor);
  absl::Status status = model.status();
  std::string path;
  if (status.ok()) {
    const ServerFacts& facts = model->remote->facts();
    path = MakeDialect(facts)
               ->Score({.text = head.samples.front(),
                        .from = static_cast<int>(head.samples[0].size()) - 1})
               .path;
    // llama-server has no other endpoint.
    if (!ChoicePath(facts.kind).empty()) {
      status = CheckLogprobs(*model->backend, head);
    }
    if (status.ok()) {
      SayWhere(options, url, head.format, path);
      return *std::move(model);
    }
  }
  // Refused, not there, or other numbers.
  const bool others_may = model.ok() ? absl::IsInvalidArgument(status) ||
                                           absl::IsFailedPrecondition(status)
                                     : absl::IsUnimplemented(status);
  // They tell two tokens' probabilities of each other only.
  if (!others_may || !head.takes_probabilities) return status;
  absl::string_view why = status.message();
  absl::ConsumePrefix(&why, url);
  absl::ConsumePrefix(&why, ": ");
  head.completions = std::string(why);
  if (model.ok() && absl::IsFailedPrecondition(status)) {
    head.completions = absl::StrCat(path, " ", why);
  }
  return std::nullopt;
}

// A model whose head its server computes, or whose log-probs it tells.
absl::StatusOr<LoadedRewardModel> ConnectRewardModel(const std::string& name,
                                                     const RewardFormat& format,
                                                     const LoadOptions& options,
                                                     Executor& executor) {
  if (options.tokenizer.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name,
        ": a reward model behind a server needs its tokenizer here; name the "
        "folder of its tokenizer.json by --reward-tokenizer"));
  }
  ESP_ASSIGN_OR_RETURN(const RemoteModel remote, RemoteServers(name, options));
  const std::string url = remote.servers.front().Url();
  LoadedRewardModel out;
  ESP_ASSIGN_OR_RETURN(out.model.tokenizer, Tokenizer::Load(options.tokenizer));
  // Refers to the tokenizer.
  const auto scorer =
      [&](bool served) -> absl::StatusOr<std::unique_ptr<RewardScorer>> {
    ESP_ASSIGN_OR_RETURN(
        StepLayout layout,
        StepLayout::Create(format, *out.model.tokenizer, options.tokenizer));
    return std::make_unique<RewardScorer>(RewardScorer{
        .layout = std::move(layout), .head = {}, .served = served});
  };
  ESP_ASSIGN_OR_RETURN(out.scorer, scorer(true));
  ESP_ASSIGN_OR_RETURN(PooledHead head, PooledHeadOf(out.scorer->layout));
  if (!head.choices.empty()) {
    ESP_ASSIGN_OR_RETURN(
        std::optional<LoadedModel> model,
        ConnectCompletions(name, url, options, executor, head));
    if (model) {
      out.model = *std::move(model);
      ESP_ASSIGN_OR_RETURN(out.scorer, scorer(false));
      return out;
    }
  }
  ESP_ASSIGN_OR_RETURN(
      auto backend,
      PooledBackend::Connect(remote, *out.model.tokenizer, std::move(head),
                             RemoteOptionsOf(options)));
  SayWhere(options, url, format.name, backend->way().Name());
  out.model.backend = std::move(backend);
  return out;
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
    if (IsRemoteModel(folder)) {
      if (format.name == "espalier") {
        return absl::UnimplementedError(absl::StrCat(
            folder, ": the reward format ", format.name,
            " reads Espalier's own heads, which no server computes; name a "
            "format that a server can read, or a folder with the model's "
            "weights"));
      }
      return std::optional<RewardFormat>(std::move(format));
    }
    if (format.probabilities) {
      return absl::InvalidArgumentError(absl::StrCat(
          folder, ": outputs=... of the reward format ", name,
          " says what a server gives, and this model is no server's; leave it "
          "out"));
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
  options.part = format.head.empty() ? CheckpointPart::kBodyAndLmHead
                                     : CheckpointPart::kBody;
  if (IsRemoteModel(folder) && !format.compares() && !format.writes()) {
    return ConnectRewardModel(folder, format, options, executor);
  }
  LoadedRewardModel out;
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
