#include "src/engine/model_place.h"

#include "models/remote/endpoint.h"

namespace espalier {

const std::string& PolicyFolder(const EngineOptions& models) {
  return IsRemoteModel(models.policy) ? models.tokenizer : models.policy;
}

const std::string& RewardModelName(const EngineOptions& models) {
  return models.critic.empty() ? models.policy : models.critic;
}

const std::string& RewardFolder(const EngineOptions& models) {
  const std::string& name = RewardModelName(models);
  if (!IsRemoteModel(name)) return name;
  return models.critic.empty() || models.reward_tokenizer.empty()
             ? PolicyFolder(models)
             : models.reward_tokenizer;
}

}  // namespace espalier
