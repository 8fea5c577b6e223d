// config.json of the folders that training reads and writes, to and from
// TrunkConfig.
//
//   ESP_ASSIGN_OR_RETURN(TrunkConfig config, ReadLlamaConfig(folder));
//
// Training supports the plain LlamaForCausalLM, with or without Espalier's
// reward head. Parsing follows trunk_config_json.h, then rejects anything else
// (another architecture, scaled rotation, biases) with an error that names the
// file, the key, what was found and what is supported.
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

// `file` names the origin in errors.
absl::StatusOr<TrunkConfig> ParseLlamaConfig(std::string_view text,
                                             const std::string& file);

// The config.json that ParseLlamaConfig parses back into `config`.
std::string LlamaConfigJson(const TrunkConfig& config);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_LLAMA_CONFIG_H_
