// The tensors of a Hugging Face folder, in one or several safetensors files.
//
//   ESP_ASSIGN_OR_RETURN(const ShardSet set, ShardSet::Open(folder));
//   for (const auto& [name, at] : set.tensors()) Use(at.file->data(name));
//
// FOLDER/model.safetensors is used if it exists; otherwise
// FOLDER/model.safetensors.index.json names the files:
//
//   {"weight_map": {"model.norm.weight": "model-00002-of-00002.safetensors",
//                   ...}, "metadata": {...}}
//
// Open checks that index and files agree: each file exists, no tensor is in
// two, and each is in the file that the index names. Names that lead out of the
// folder are rejected.
//
// Immutable after Open: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_SHARD_SET_H_
#define ESPALIER_MODELS_CHECKPOINT_SHARD_SET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/checkpoint/safetensors.h"

namespace espalier {

class ShardSet {
 public:
  struct Place {
    const SafetensorsFile* file = nullptr;
    const TensorInfo* info = nullptr;
  };

  static absl::StatusOr<ShardSet> Open(const std::string& folder);

  // The single file, or the index: named by errors about all tensors.
  const std::string& path() const { return path_; }
  const std::map<std::string, Place>& tensors() const { return tensors_; }
  // Null if the tensor is missing.
  const Place* Find(const std::string& name) const;
  // Total size of the tensor files.
  int64_t bytes() const { return bytes_; }

 private:
  absl::Status OpenIndexed(const std::string& folder);
  // Opens a file and adds its tensors.
  absl::Status Add(const std::string& path);

  std::string path_;
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
  std::map<std::string, Place> tensors_;
  int64_t bytes_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_SHARD_SET_H_
