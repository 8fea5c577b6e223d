// config.json of a Hugging Face folder as TrunkConfig.
//
//   ESP_ASSIGN_OR_RETURN(TrunkConfig config, ReadTrunkConfig(folder));
//
// Classes: LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM,
// Qwen3ForCausalLM, GPT2LMHeadModel, and Llama's and Qwen2's
// ...ForSequenceClassification and ...ForTokenClassification. Missing keys take
// the defaults of that class's configuration in transformers. Whatever would
// make the network compute something else (another activation, layers with
// different windows, quantised weights) is refused with an error that names
// file, key, what was found and what is supported; keys without influence on
// inference are ignored.
//
// One key is Espalier's own and tells of heads beside the language model's:
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

// Reads FOLDER/config.json and the end tokens of FOLDER/generation_config.json
// where there is one.
absl::StatusOr<TrunkConfig> ReadTrunkConfig(const std::string& folder);

// `file` names the origin in errors.
absl::StatusOr<TrunkConfig> ParseTrunkConfig(std::string_view text,
                                             const std::string& file);

// Adds the end tokens that a generation_config.json names and `config` does
// not have yet.
absl::Status AddEndTokens(std::string_view text, const std::string& file,
                          TrunkConfig& config);

// "LlamaForCausalLM" and so on.
std::string ClassName(const TrunkConfig& config);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_TRUNK_CONFIG_JSON_H_
