#include "models/checkpoint/llama_config.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/checkpoint/reward_head_config.h"
#include "models/checkpoint/trunk_config_json.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Training supports only the plain Llama; `where` is the file or folder.
absl::Status CheckTrainable(const TrunkConfig& config,
                            const std::string& where) {
  const auto refuse = [&](std::string_view key, std::string_view found,
                          std::string_view supported) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": key \"", AbslView(key), "\": found ", AbslView(found),
        ", supported in training: ", AbslView(supported)));
  };
  if (config.architecture != Architecture::kLlama || !config.lm_head) {
    return refuse("architectures", ClassName(config), "LlamaForCausalLM");
  }
  if (config.qkv_bias) return refuse("attention_bias", "true", "false");
  if (config.mlp_bias) return refuse("mlp_bias", "true", "false");
  if (config.rope.kind != RopeKind::kDefault) {
    return refuse("rope_scaling", "RoPE scaling", "null or absent");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrunkConfig> ParseLlamaConfig(std::string_view text,
                                             const std::string& file) {
  ESP_ASSIGN_OR_RETURN(TrunkConfig config, ParseTrunkConfig(text, file));
  ESP_RETURN_IF_ERROR(CheckTrainable(config, file));
  return config;
}

absl::StatusOr<TrunkConfig> ReadLlamaConfig(const std::string& folder) {
  ESP_ASSIGN_OR_RETURN(TrunkConfig config, ReadTrunkConfig(folder));
  ESP_RETURN_IF_ERROR(CheckTrainable(config, folder + "/config.json"));
  return config;
}

std::string LlamaConfigJson(const TrunkConfig& config) {
  json out = {
      {"architectures", {"LlamaForCausalLM"}},
      {"model_type", "llama"},
      {"hidden_act", "silu"},
      {"attention_bias", false},
      {"mlp_bias", false},
      {"rope_scaling", nullptr},
      {"vocab_size", config.vocab_size},
      {"hidden_size", config.hidden_size},
      {"intermediate_size", config.intermediate_size},
      {"num_hidden_layers", config.layers},
      {"num_attention_heads", config.heads},
      {"num_key_value_heads", config.kv_heads},
      {"head_dim", config.head_dim},
      {"max_position_embeddings", config.context_length},
      {"rms_norm_eps", config.rms_norm_eps},
      {"rope_theta", config.rope_theta},
      {"tie_word_embeddings", config.tied_embeddings},
  };
  out["eos_token_id"] =
      config.end_token < 0 ? json(nullptr) : json(config.end_token);
  if (!config.more_end_tokens.empty()) {
    std::vector<int32_t> all = {config.end_token};
    all.insert(all.end(), config.more_end_tokens.begin(),
               config.more_end_tokens.end());
    out["eos_token_id"] = all;
  }
  if (config.reward_head) {
    out["espalier_heads"] = RewardHeadJson(
        config.reward_outputs, config.level_weights, config.reward_ensemble);
  }
  return out.dump(2) + "\n";
}

}  // namespace espalier
