// What identifies a reward model's folder: the classes in config.json and the
// names and shapes of its tensors.
//
//   ESP_ASSIGN_OR_RETURN(const RewardFolder folder, ReadRewardFolder(path));
//   folder.Shape("score.weight");   // {2, 896}
//
// Immutable after reading: thread-safe.
#ifndef ESPALIER_MODELS_REWARD_REWARD_FOLDER_H_
#define ESPALIER_MODELS_REWARD_REWARD_FOLDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/checkpoint/shard_set.h"

namespace espalier {

struct RewardFolder {
  std::string path;
  std::vector<std::string> architectures;  // as in config.json
  bool espalier_head = false;              // has Espalier's own reward head
  std::shared_ptr<const ShardSet> tensors;

  // The shape of a tensor; null if there is none.
  const std::vector<int64_t>* Shape(const std::string& tensor) const;
  // A tensor's elements; it must exist.
  absl::StatusOr<std::vector<float>> Floats(const std::string& tensor) const;
};

// Errors as from opening the checkpoint; InvalidArgument for a GGUF file, which
// holds no head.
absl::StatusOr<RewardFolder> ReadRewardFolder(const std::string& path);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REWARD_REWARD_FOLDER_H_
