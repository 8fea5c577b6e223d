#include "models/differentiable/load_net.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "models/checkpoint/llama_config.h"
#include "models/checkpoint/safetensors.h"

namespace espalier::net {

absl::StatusOr<std::unique_ptr<LlamaNet>> LoadNet(
    const std::string& folder, const LoadNetOptions& options) {
  ESP_ASSIGN_OR_RETURN(TrunkConfig config, ReadLlamaConfig(folder));
  const bool new_head = options.add_reward_head && !config.reward_head;
  if (new_head) config.reward_head = true;
  ESP_ASSIGN_OR_RETURN(
      std::unique_ptr<LlamaNet> net,
      LlamaNet::Create(config, options.seed, options.precision));
  ESP_ASSIGN_OR_RETURN(const SafetensorsFile file,
                       SafetensorsFile::Open(folder + "/model.safetensors"));
  for (const NetParameter& p : net->parameters()) {
    if (new_head && p.name.rfind("reward_head.", 0) == 0) continue;
    const auto found = file.tensors().find(p.name);
    if (found == file.tensors().end()) {
      return absl::NotFoundError(
          absl::StrCat(file.path(), ": expected tensor '", p.name,
                       "' of shape ", std::string(ShapeText(p.shape)),
                       " from config.json, found no such tensor"));
    }
    if (found->second.shape != p.shape) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.path(), ": tensor '", p.name, "': expected shape ",
                       ShapeText(p.shape), " from config.json, found ",
                       ShapeText(found->second.shape)));
    }
    ESP_ASSIGN_OR_RETURN(const std::vector<float> values, file.Floats(p.name));
    std::memcpy(net->weights().data_ptr<float>() + p.offset, values.data(),
                values.size() * sizeof(float));
  }
  net->Refresh();
  return net;
}

}  // namespace espalier::net
