#include "models/differentiable/load_net.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "models/checkpoint/llama_config.h"
#include "models/checkpoint/safetensors.h"

namespace espalier::net {
namespace {

// The first output of `outputs` that shares a level with `wanted`.
std::optional<size_t> SharedOutput(const std::vector<LevelSet>& outputs,
                                   LevelSet wanted) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t l = 0; l < kLevels; ++l) {
      const auto level = static_cast<Level>(l);
      if (outputs[i].has(level) && wanted.has(level)) return i;
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LlamaNet>> LoadNet(
    const std::string& folder, const LoadNetOptions& options) {
  ESP_ASSIGN_OR_RETURN(TrunkConfig config, ReadLlamaConfig(folder));
  // Of the checkpoint's reward head.
  const std::vector<LevelSet> stored =
      config.reward_head ? config.reward_outputs : std::vector<LevelSet>();
  const auto stored_heads = static_cast<size_t>(config.reward_ensemble);
  config.reward_head |= options.add_reward_head;
  if (options.reward_ensemble > 0) {
    config.reward_ensemble = options.reward_ensemble;
  }
  if (!options.reward_outputs.empty() && options.reward_outputs != stored) {
    config.reward_outputs = options.reward_outputs;
    config.level_weights = {};  // fitted to other outputs
  }
  ESP_ASSIGN_OR_RETURN(
      std::unique_ptr<LlamaNet> net,
      LlamaNet::Create(config, options.seed, options.precision));
  ESP_ASSIGN_OR_RETURN(const SafetensorsFile file,
                       SafetensorsFile::Open(folder + "/model.safetensors"));
  for (const NetParameter& p : net->parameters()) {
    const bool head = p.name.rfind("reward_head.", 0) == 0;
    if (head && stored.empty()) continue;
    std::vector<int64_t> shape = p.shape;
    if (head) shape[0] = static_cast<int64_t>(stored.size() * stored_heads);
    const auto found = file.tensors().find(p.name);
    if (found == file.tensors().end()) {
      return absl::NotFoundError(
          absl::StrCat(file.path(), ": expected tensor '", p.name,
                       "' of shape ", std::string(ShapeText(shape)),
                       " from config.json, found no such tensor"));
    }
    if (found->second.shape != shape) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.path(), ": tensor '", p.name, "': expected shape ",
                       ShapeText(shape), " from config.json, found ",
                       ShapeText(found->second.shape)));
    }
    ESP_ASSIGN_OR_RETURN(const std::vector<float> values, file.Floats(p.name));
    float* const to = net->weights().data_ptr<float>() + p.offset;
    if (!head) {
      std::memcpy(to, values.data(), values.size() * sizeof(float));
      continue;
    }
    const size_t row = values.size() / stored.size() / stored_heads;
    const size_t outputs = config.reward_outputs.size();
    for (size_t i = 0; i < static_cast<size_t>(config.reward_rows()); ++i) {
      const auto from =
          SharedOutput(stored, config.reward_outputs[i % outputs]);
      if (!from) continue;
      const size_t head_from = i / outputs % stored_heads;
      std::copy_n(
          values.begin() + static_cast<std::ptrdiff_t>(
                               (head_from * stored.size() + *from) * row),
          row, to + i * row);
    }
  }
  net->Refresh();
  return net;
}

}  // namespace espalier::net
