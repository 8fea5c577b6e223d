// config.json of a Hugging Face folder as TrunkConfig.
//
//   ESP_ASSIGN_OR_RETURN(TrunkConfig config, ReadTrunkConfig(folder));
//
// Classes: those of HfClasses(). Missing keys take the defaults of that class's
// configuration in transformers. Anything that would change what the network
// computes (another activation, quantised weights) is rejected with an error
// that names the file, the key, what was found and what is supported; keys
// without influence on inference are ignored.
//
// One key is specific to Espalier and describes additional heads:
//   "espalier_heads": {"reward": ["step", "path"]}
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_TRUNK_CONFIG_JSON_H_
#define ESPALIER_MODELS_CHECKPOINT_TRUNK_CONFIG_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

// Reads FOLDER/config.json and, if it exists, the end tokens of
// FOLDER/generation_config.json. `part` as in TensorSource::Open: for a body
// the configuration is that of the causal language model without heads.
absl::StatusOr<TrunkConfig> ReadTrunkConfig(
    const std::string& folder, CheckpointPart part = CheckpointPart::kAll);

// `file` names the origin in errors.
absl::StatusOr<TrunkConfig> ParseTrunkConfig(
    std::string_view text, const std::string& file,
    CheckpointPart part = CheckpointPart::kAll);

// Adds the end tokens named by a generation_config.json that `config` lacks.
absl::Status AddEndTokens(std::string_view text, const std::string& file,
                          TrunkConfig& config);

// E.g. "LlamaForCausalLM".
std::string ClassName(const TrunkConfig& config);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_TRUNK_CONFIG_JSON_H_
