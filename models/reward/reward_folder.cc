#include "models/reward/reward_folder.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "models/checkpoint/config_reader.h"
#include "nlohmann/json.hpp"

namespace espalier {

const std::vector<int64_t>* RewardFolder::Shape(
    const std::string& tensor) const {
  const ShardSet::Place* place = tensors->Find(tensor);
  return place == nullptr ? nullptr : &place->info->shape;
}

absl::StatusOr<std::vector<float>> RewardFolder::Floats(
    const std::string& tensor) const {
  const ShardSet::Place* place = tensors->Find(tensor);
  ESP_CHECK(place != nullptr);
  auto values = place->file->Floats(tensor);
  place->file->Release(tensor);
  return values;
}

absl::StatusOr<RewardFolder> ReadRewardFolder(const std::string& path) {
  if (absl::EndsWith(path, ".gguf")) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": expected a reward model's folder with config.json and safetensors, "
        "found a GGUF file, which holds no reward head; name the folder that "
        "it was made from"));
  }
  RewardFolder folder{.path = path};
  const std::string file = path + "/config.json";
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  ESP_ASSIGN_OR_RETURN(const nlohmann::json config,
                       ParseConfigObject(text, file));
  const auto classes = config.find("architectures");
  if (classes != config.end() && classes->is_array()) {
    for (const auto& name : *classes) {
      if (name.is_string()) folder.architectures.push_back(name);
    }
  }
  folder.espalier_head = config.contains("espalier_heads");
  ESP_ASSIGN_OR_RETURN(ShardSet tensors, ShardSet::Open(path));
  folder.tensors = std::make_shared<const ShardSet>(std::move(tensors));
  return folder;
}

}  // namespace espalier
