#include "models/checkpoint/llama_config.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "src/base/files.h"
#include "src/base/status_macros.h"

namespace espalier {
namespace {

using nlohmann::json;

// Larger extents are damage, not models; products of two still fit 64 bits.
constexpr int64_t kMaxExtent = int64_t{1} << 24;

// Reads typed keys of one config and keeps the first error.
class Reader {
 public:
  Reader(const json& config, const std::string& file)
      : config_(config), file_(file) {}

  const absl::Status& status() const { return status_; }

  // Null counts as absent, as it does for transformers.
  const json* Find(const char* key) const {
    const auto found = config_.find(key);
    return found == config_.end() || found->is_null() ? nullptr : &*found;
  }

  void Refuse(const std::string& key, const json& found,
              const std::string& supported) {
    if (!status_.ok()) return;
    std::string text =
        found.dump(-1, ' ', true, json::error_handler_t::replace);
    if (text.size() > 80) text = text.substr(0, 77) + "...";
    status_ = absl::InvalidArgumentError(
        absl::StrCat(file_, ": key \"", key, "\": found ", text,
                     ", supported: ", supported));
  }

  // `fallback` < 0: the key is required.
  int Extent(const char* key, int fallback) {
    const json* value = Find(key);
    if (value == nullptr) {
      if (fallback < 0 && status_.ok()) {
        status_ = absl::InvalidArgumentError(
            absl::StrCat(file_, ": key \"", key, "\" is missing"));
      }
      return fallback;
    }
    if (!value->is_number_unsigned() || value->get<uint64_t>() < 1 ||
        value->get<uint64_t>() > static_cast<uint64_t>(kMaxExtent)) {
      Refuse(key, *value, absl::StrCat("whole numbers 1 to ", kMaxExtent));
      return 1;
    }
    return value->get<int>();
  }

  float Positive(const char* key, float fallback) {
    const json* value = Find(key);
    if (value == nullptr) return fallback;
    // Not (x > 0) so that whatever does not compare is refused as well.
    if (!value->is_number() || !(value->get<double>() > 0) ||
        !(value->get<double>() < 1e30)) {
      Refuse(key, *value, "numbers above 0");
      return fallback;
    }
    return value->get<float>();
  }

  bool Flag(const char* key, bool fallback) {
    const json* value = Find(key);
    if (value == nullptr) return fallback;
    if (!value->is_boolean()) {
      Refuse(key, *value, "true, false");
      return fallback;
    }
    return value->get<bool>();
  }

 private:
  const json& config_;
  const std::string& file_;
  absl::Status status_;
};

// Refuses what would change the network's function.
void CheckVariant(Reader& in) {
  const json* architectures = in.Find("architectures");
  if (architectures != nullptr) {
    if (*architectures != json::array({"LlamaForCausalLM"})) {
      in.Refuse("architectures", *architectures, "[\"LlamaForCausalLM\"]");
    }
  } else if (const json* type = in.Find("model_type"); type != nullptr) {
    if (*type != "llama") in.Refuse("model_type", *type, "\"llama\"");
  } else {
    in.Refuse("architectures", nullptr, "[\"LlamaForCausalLM\"]");
  }
  if (const json* act = in.Find("hidden_act"); act && *act != "silu") {
    in.Refuse("hidden_act", *act, "\"silu\"");
  }
  for (const char* key : {"attention_bias", "mlp_bias"}) {
    if (in.Flag(key, false)) in.Refuse(key, true, "false");
  }
  for (const char* key :
       {"rope_scaling", "quantization_config", "sliding_window"}) {
    if (const json* found = in.Find(key)) {
      in.Refuse(key, *found, "null or absent");
    }
  }
}

int32_t EndToken(Reader& in, int vocab_size) {
  const json* value = in.Find("eos_token_id");
  if (value == nullptr) return -1;
  const json* first = value;
  if (value->is_array() && !value->empty()) first = &(*value)[0];
  if (!first->is_number_unsigned() ||
      first->get<uint64_t>() >= static_cast<uint64_t>(vocab_size)) {
    in.Refuse("eos_token_id", *value,
              absl::StrCat("an id below vocab_size ", vocab_size,
                           ", a list of such ids, or null"));
    return -1;
  }
  return first->get<int32_t>();
}

bool RewardHead(Reader& in) {
  const json* heads = in.Find("espalier_heads");
  if (heads == nullptr || (heads->is_object() && heads->empty())) return false;
  const json supported = {{"reward", {"step", "path"}}};
  if (*heads != supported) {
    in.Refuse("espalier_heads", *heads, supported.dump());
  }
  return true;
}

// transformers 5 keeps the base in {"rope_theta": ..., "rope_type": ...}.
float RopeTheta(Reader& in) {
  const json* parameters = in.Find("rope_parameters");
  if (parameters == nullptr) return in.Positive("rope_theta", 10000.0f);
  if (!parameters->is_object() ||
      parameters->value("rope_type", json("default")) != "default" ||
      !parameters->value("rope_theta", json(1.0)).is_number() ||
      !(parameters->value("rope_theta", json(10000.0)).get<double>() > 0)) {
    in.Refuse("rope_parameters", *parameters,
              "{\"rope_type\": \"default\", \"rope_theta\": number above 0}");
    return 10000.0f;
  }
  return parameters->value("rope_theta", json(10000.0)).get<float>();
}

void CheckHeads(Reader& in, const TrunkConfig& config) {
  if (config.heads % config.kv_heads != 0) {
    in.Refuse("num_key_value_heads", config.kv_heads,
              absl::StrCat("divisors of num_attention_heads ", config.heads));
  }
  if (config.head_dim % 2 != 0) {
    in.Refuse("head_dim", config.head_dim, "even numbers (rotary pairs)");
  }
}

}  // namespace

absl::StatusOr<TrunkConfig> ParseLlamaConfig(std::string_view text,
                                             const std::string& file) {
  // Real configs nest twice; the bound keeps hostile ones off the stack.
  constexpr int kMaxDepth = 16;
  bool too_deep = false;
  const json parsed = json::parse(
      text.begin(), text.end(),
      [&](int depth, json::parse_event_t, json&) {
        too_deep |= depth > kMaxDepth;
        return !too_deep;
      },
      false);
  if (parsed.is_discarded() || too_deep || !parsed.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": expected a JSON object, found ",
                     parsed.is_discarded() || too_deep ? "malformed JSON"
                                                       : parsed.type_name()));
  }
  Reader in(parsed, file);
  CheckVariant(in);
  TrunkConfig config;
  config.vocab_size = in.Extent("vocab_size", -1);
  config.hidden_size = in.Extent("hidden_size", -1);
  config.intermediate_size = in.Extent("intermediate_size", -1);
  config.layers = in.Extent("num_hidden_layers", -1);
  config.heads = in.Extent("num_attention_heads", -1);
  if (!in.status().ok()) return in.status();
  config.kv_heads = in.Extent("num_key_value_heads", config.heads);
  if (in.Find("head_dim") == nullptr &&
      config.hidden_size % config.heads != 0) {
    in.Refuse("num_attention_heads", config.heads,
              absl::StrCat("divisors of hidden_size ", config.hidden_size,
                           " (or give head_dim)"));
  }
  config.head_dim =
      in.Extent("head_dim", std::max(1, config.hidden_size / config.heads));
  config.context_length = in.Extent("max_position_embeddings", 2048);
  config.rms_norm_eps = in.Positive("rms_norm_eps", 1e-6f);
  config.rope_theta = RopeTheta(in);
  config.tied_embeddings = in.Flag("tie_word_embeddings", false);
  config.reward_head = RewardHead(in);
  config.end_token = EndToken(in, config.vocab_size);
  CheckHeads(in, config);
  if (!in.status().ok()) return in.status();
  return config;
}

absl::StatusOr<TrunkConfig> ReadLlamaConfig(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat(
        folder,
        ": expected a model folder with config.json and "
        "model.safetensors, found ",
        std::filesystem::exists(folder, error) ? "a file" : "nothing"));
  }
  const std::string path = (std::filesystem::path(folder) / "config.json");
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseLlamaConfig(text, path);
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
  if (config.reward_head) {
    out["espalier_heads"] = {{"reward", {"step", "path"}}};
  }
  return out.dump(2) + "\n";
}

}  // namespace espalier
