// A reward model of a published format, loaded from the folder that its authors
// publish.
//
//   ESP_ASSIGN_OR_RETURN(std::optional<RewardFormat> format,
//                        FindRewardFormat(folder, "auto"));
//   ESP_ASSIGN_OR_RETURN(LoadedRewardModel model,
//                        LoadRewardModel(folder, *format, options, executor));
#ifndef ESPALIER_SRC_ENGINE_LOAD_REWARD_MODEL_H_
#define ESPALIER_SRC_ENGINE_LOAD_REWARD_MODEL_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "models/reward/reward_format.h"
#include "src/engine/load_model.h"
#include "src/engine/reward_reader.h"

namespace espalier {

// The format that `name` names (a shipped one or a file), or for "" the one
// that the folder's class and tensors identify; nothing if the folder has
// Espalier's own reward head. Errors: no known reward model in the folder, an
// unknown format, missing head tensors.
absl::StatusOr<std::optional<RewardFormat>> FindRewardFormat(
    const std::string& folder, const std::string& name);

struct LoadedRewardModel {
  LoadedModel model;
  LoadedModel reference;                 // of a format that compares two models
  std::unique_ptr<RewardScorer> scorer;  // refers to model.tokenizer
};

// InvalidArgument if the format compares two models and `reference` is "", or
// the other way round.
absl::Status CheckReference(const RewardFormat& format,
                            const std::string& reference);

// `folder` may name a server; a format's head is then computed there. Where the
// server is asked is told by `options.notice`.
// `reference`: the folder of the reference model. Errors as from
// CheckReference, LoadModel, StepLayout::Create, ReadRewardHead and
// PooledBackend::Connect, and
// InvalidArgument for a reference with another tokenizer.
absl::StatusOr<LoadedRewardModel> LoadRewardModel(
    const std::string& folder, const RewardFormat& format, LoadOptions options,
    Executor& executor, const std::string& reference = "");

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_LOAD_REWARD_MODEL_H_
