// config.json of a LlamaForCausalLM folder, to and from TrunkConfig.
//
//   ESP_ASSIGN_OR_RETURN(TrunkConfig config, ReadLlamaConfig(folder));
//
// Whatever would make the network compute something else (another
// architecture, rope scaling, biases, another activation) is refused with an
// error that names file, key, what was found and what is supported; keys
// without influence on inference are ignored. Missing keys take the defaults
// of Hugging Face's LlamaConfig.
//
// One key is Espalier's own and tells of heads beside the language model's:
//   "espalier_heads": {"reward": ["step", "path"]}
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_LLAMA_CONFIG_H_
#define ESPALIER_MODELS_CHECKPOINT_LLAMA_CONFIG_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

// Reads FOLDER/config.json.
absl::StatusOr<TrunkConfig> ReadLlamaConfig(const std::string& folder);

// `file` names the origin in errors. Of a list of end tokens the first counts.
absl::StatusOr<TrunkConfig> ParseLlamaConfig(std::string_view text,
                                             const std::string& file);

// The config.json from which ParseLlamaConfig reads `config` back.
std::string LlamaConfigJson(const TrunkConfig& config);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_LLAMA_CONFIG_H_
