#include "models/checkpoint/shard_set.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "models/checkpoint/config_reader.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Tensor -> file name, as the index has it.
using WeightMap = std::map<std::string, std::string>;

absl::StatusOr<WeightMap> ParseIndex(const std::string& text,
                                     const std::string& path) {
  std::string twice;
  ESP_ASSIGN_OR_RETURN(const json index, ParseConfigObject(text, path, &twice));
  if (!twice.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": tensor ", twice, " appears twice"));
  }
  const auto found = index.find("weight_map");
  if (found == index.end() || !found->is_object() || found->empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": expected \"weight_map\" with a file for each tensor, found ",
        found == index.end() ? "no such key" : FoundText(*found)));
  }
  WeightMap map;
  for (const auto& [tensor, file] : found->items()) {
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || name == "." || name == ".." ||
        name.find_first_of(std::string("/\0", 2)) != std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": tensor ", tensor,
                       ": expected the name of a file in this folder, found ",
                       FoundText(file)));
    }
    map[tensor] = name;
  }
  return map;
}

}  // namespace

const ShardSet::Place* ShardSet::Find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

absl::Status ShardSet::Add(const std::string& path) {
  ESP_ASSIGN_OR_RETURN(SafetensorsFile opened, SafetensorsFile::Open(path));
  files_.push_back(std::make_unique<SafetensorsFile>(std::move(opened)));
  const SafetensorsFile& file = *files_.back();
  bytes_ += static_cast<int64_t>(file.bytes());
  for (const auto& [name, info] : file.tensors()) {
    const auto [at, added] = tensors_.emplace(name, Place{&file, &info});
    if (!added) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": tensor ", name, ": expected in one file, found in ",
          at->second.file->path(), " as well"));
    }
  }
  return absl::OkStatus();
}

absl::Status ShardSet::OpenIndexed(const std::string& folder) {
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path_));
  ESP_ASSIGN_OR_RETURN(const WeightMap map, ParseIndex(text, path_));
  const std::filesystem::path base(folder);
  std::set<std::string> names;
  for (const auto& [tensor, name] : map) names.insert(name);
  for (const std::string& name : names) {
    std::error_code error;
    if (!std::filesystem::exists(base / name, error)) {
      return absl::NotFoundError(absl::StrCat(
          path_, ": expected file ", name,
          " beside the index that names it, found none; copy or download it"));
    }
    ESP_RETURN_IF_ERROR(Add(base / name));
  }
  for (const auto& [tensor, place] : tensors_) {
    const auto named = map.find(tensor);
    const std::string file =
        std::filesystem::path(place.file->path()).filename();
    if (named == map.end() || named->second != file) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": tensor ", tensor, ": expected in ",
                       named == map.end() ? "none of the files" : named->second,
                       " as the index says, found in ", file));
    }
  }
  for (const auto& [tensor, name] : map) {
    if (tensors_.contains(tensor)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat((base / name).string(), ": expected tensor ", tensor,
                     " as the index says, found no such tensor"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ShardSet> ShardSet::Open(const std::string& folder) {
  const std::filesystem::path base(folder);
  std::error_code error;
  ShardSet set;
  set.path_ = base / "model.safetensors";
  if (std::filesystem::exists(set.path_, error)) {
    ESP_RETURN_IF_ERROR(set.Add(set.path_));
    return set;
  }
  set.path_ = base / "model.safetensors.index.json";
  if (std::filesystem::exists(set.path_, error)) {
    ESP_RETURN_IF_ERROR(set.OpenIndexed(folder));
    return set;
  }
  return absl::NotFoundError(absl::StrCat(
      folder,
      ": expected model.safetensors or model.safetensors.index.json, found ",
      std::filesystem::exists(base / "pytorch_model.bin", error)
          ? "pytorch_model.bin: convert it to safetensors"
          : "neither"));
}

}  // namespace espalier
