// A Hugging Face folder: config.json, the index of the tensor files and one
// such file, cut at the first two NULs. Without an index the file is the whole
// model.
#include <filesystem>
#include <system_error>

#include "models/checkpoint/shard_set.h"
#include "tests/fuzz/checkpoint_use.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

ESPALIER_FUZZ(checkpoint) {
  const auto [config, rest] = CutAt(bytes, '\0');
  const auto [index, tensors] = CutAt(rest, '\0');
  const std::string folder = FuzzFolder() + "/checkpoint";
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  std::filesystem::create_directory(folder, error);
  FuzzFile("checkpoint/config.json", config);
  if (index.empty()) {
    FuzzFile("checkpoint/model.safetensors", tensors);
  } else {
    FuzzFile("checkpoint/model.safetensors.index.json", index);
    FuzzFile("checkpoint/model-00001-of-00002.safetensors", tensors);
    FuzzFile("checkpoint/model-00002-of-00002.safetensors",
             {"\2\0\0\0\0\0\0\0{}", 10});
  }
  ShardSet::Open(folder).status().IgnoreError();
  UseCheckpoint(folder);
}

}  // namespace espalier
