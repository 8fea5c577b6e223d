#include "models/checkpoint/trunk_config_json.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/checkpoint/config_reader.h"
#include "models/checkpoint/reward_head_config.h"
#include "models/checkpoint/rope_config.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

struct ClassRow {
  std::string_view name, model_type;
  Architecture architecture;
  HeadKind head = HeadKind::kNone;
};
constexpr ClassRow kClasses[] = {
    {"LlamaForCausalLM", "llama", Architecture::kLlama},
    {"MistralForCausalLM", "mistral", Architecture::kMistral},
    {"Qwen2ForCausalLM", "qwen2", Architecture::kQwen2},
    {"Qwen3ForCausalLM", "qwen3", Architecture::kQwen3},
    {"GPT2LMHeadModel", "gpt2", Architecture::kGpt2},
    {"LlamaForSequenceClassification", "llama", Architecture::kLlama,
     HeadKind::kSequenceClassification},
    {"LlamaForTokenClassification", "llama", Architecture::kLlama,
     HeadKind::kTokenClassification},
    {"Qwen2ForSequenceClassification", "qwen2", Architecture::kQwen2,
     HeadKind::kSequenceClassification},
    {"Qwen2ForTokenClassification", "qwen2", Architecture::kQwen2,
     HeadKind::kTokenClassification},
};

// A class's defaults for missing keys. 0 KV heads: as many as heads; 0
// head_dim: hidden_size / heads; -1: no end token.
struct Defaults {
  int vocab_size, hidden_size, intermediate_size, layers, heads;
  int kv_heads, head_dim, context_length, end_token;
};

Defaults DefaultsOf(Architecture architecture) {
  switch (architecture) {
    case Architecture::kLlama:
      return {32000, 4096, 11008, 32, 32, 0, 0, 2048, 2};
    case Architecture::kMistral:
      return {32000, 4096, 14336, 32, 32, 8, 0, 131072, 2};
    case Architecture::kQwen2:
      return {151936, 4096, 22016, 32, 32, 32, 0, 32768, -1};
    case Architecture::kQwen3:
      return {151936, 4096, 22016, 32, 32, 32, 128, 32768, -1};
    case Architecture::kGpt2:
      return {50257, 768, 0, 12, 12, 0, 0, 1024, 50256};
  }
  return {};
}

// The class that the configuration names; rejects others.
ClassRow FindClass(ConfigReader& in) {
  std::string names;
  for (const ClassRow& row : kClasses) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", AbslView(row.name));
  }
  const json* list = in.Find("architectures");
  const json* type = in.Find("model_type");
  for (const ClassRow& row : kClasses) {
    if (list != nullptr ? *list == json::array({row.name})
                        : type != nullptr && *type == json(row.model_type)) {
      return row;
    }
  }
  if (list == nullptr && type != nullptr) {
    in.Refuse("model_type", *type, "llama, mistral, qwen2, qwen3, gpt2");
  }
  in.Refuse("architectures", list == nullptr ? json() : *list,
            absl::StrCat("a list of one of ", names));
  return kClasses[0];
}

// The causal language model whose network a class of any head has: the class
// begins with its name, or model_type is its own.
ClassRow FindBody(ConfigReader& in) {
  const json* list = in.Find("architectures");
  const json* type = in.Find("model_type");
  const std::string found = list != nullptr && list->is_array() &&
                                    list->size() == 1 &&
                                    list->front().is_string()
                                ? list->front().get<std::string>()
                                : "";
  std::string bodies;
  for (const ClassRow& row : kClasses) {
    if (row.head != HeadKind::kNone) continue;
    const std::string_view name =
        row.name.substr(0, row.name.find("ForCausalLM"));
    if (name == row.name) continue;  // GPT-2 has no published reward model
    absl::StrAppend(&bodies, bodies.empty() ? "" : ", ", AbslView(name));
    if (absl::StartsWith(found, absl::StrCat(AbslView(name), "For"))) {
      return row;
    }
  }
  for (const ClassRow& row : kClasses) {
    if (row.head == HeadKind::kNone &&
        row.architecture != Architecture::kGpt2 && type != nullptr &&
        *type == json(row.model_type)) {
      return row;
    }
  }
  in.Refuse("architectures", list == nullptr ? json() : *list,
            absl::StrCat("reward models on the networks ", bodies));
  return kClasses[0];
}

// Token ids under `key`; they must be below the vocabulary size.
std::vector<int32_t> TokenIds(ConfigReader& in, const char* key,
                              int vocab_size) {
  const json* value = in.Find(key);
  if (value == nullptr) return {};
  const json list = value->is_array() ? *value : json::array({*value});
  std::vector<int32_t> ids;
  for (const json& id : list) {
    if (!id.is_number_unsigned() ||
        id.get<uint64_t>() >= static_cast<uint64_t>(vocab_size)) {
      ids.clear();
      break;
    }
    ids.push_back(id.get<int32_t>());
  }
  if (ids.empty()) {
    in.Refuse(key, *value,
              absl::StrCat("an id below vocab_size ", vocab_size,
                           ", a list of such ids, or null"));
  }
  return ids;
}

void AddEnds(const std::vector<int32_t>& ids, TrunkConfig& config) {
  for (const int32_t id : ids) {
    if (config.end_token < 0) {
      config.end_token = id;
    } else if (!config.IsEnd(id)) {
      config.more_end_tokens.push_back(id);
    }
  }
}

void ReadEndTokens(ConfigReader& in, int fallback, TrunkConfig& config) {
  constexpr char kKey[] = "eos_token_id";
  if (!in.Has(kKey) && fallback < config.vocab_size) {
    config.end_token = fallback;
  }
  AddEnds(TokenIds(in, kKey, config.vocab_size), config);
}

void ReadHead(ConfigReader& in, HeadKind head, TrunkConfig& config) {
  config.head = head;
  config.lm_head = head == HeadKind::kNone;
  if (head != HeadKind::kNone) {
    config.head_labels = in.ExtentOrNull("num_labels", 2);
    if (const json* labels = in.Find("id2label")) {
      if (!labels->is_object() || labels->empty()) {
        in.Refuse("id2label", *labels, "an object of labels");
      }
      config.head_labels =
          static_cast<int>(std::max<size_t>(1, labels->size()));
    }
    config.head_bias = head == HeadKind::kTokenClassification;
  }
  const json* ours = in.Find("espalier_heads");
  if (ours == nullptr || (ours->is_object() && ours->empty())) return;
  const std::optional<RewardHeadConfig> read = ParseRewardHead(*ours);
  if (!read || head != HeadKind::kNone) {
    in.Refuse("espalier_heads", *ours,
              "{\"reward\": [\"step\",\"path\"]}, or other levels (path, step, "
              "outcome, window2, window3, window4), each once, together with a "
              "language model's head; of an ensemble also \"ensemble\": 2 to "
              "16");
    return;
  }
  config.reward_head = true;
  config.reward_outputs = read->outputs;
  config.level_weights = read->weights;
  config.head = HeadKind::kReward;
  config.reward_ensemble = read->ensemble;
  config.head_labels = config.reward_rows();
  config.head_bias = true;
}

// Whether `types` lists `kind` once for each layer. No list of `layers` entries
// is made to compare it with: nothing bounds their number yet.
bool IsKindOfAllLayers(const json& types, int layers, const char* kind) {
  return types.is_array() && types.size() == static_cast<size_t>(layers) &&
         std::all_of(types.begin(), types.end(),
                     [&](const json& type) { return type == kind; });
}

// Layers i >= max_window_layers of a Qwen have a window; newer configurations
// list it per layer. One window for all layers, or none, is supported.
int QwenWindow(ConfigReader& in, int layers) {
  const int window =
      in.Flag("use_sliding_window", false)
          ? (in.Has("sliding_window") && in.Find("sliding_window") == nullptr
                 ? 0
                 : in.Extent("sliding_window", 4096))
          : 0;
  if (const json* types = in.Find("layer_types")) {
    if (IsKindOfAllLayers(*types, layers, "full_attention")) return 0;
    if (window > 0 && IsKindOfAllLayers(*types, layers, "sliding_attention")) {
      return window;
    }
    in.Refuse("layer_types", *types,
              absl::StrCat("one kind of attention in all ", layers,
                           " layers, sliding_attention with a window"));
    return 0;
  }
  if (window == 0) return 0;
  const json* from = in.Find("max_window_layers");
  const json at = from == nullptr ? json(28) : *from;
  if (at == 0) return window;
  if (at.is_number_unsigned() &&
      at.get<uint64_t>() >= static_cast<uint64_t>(layers)) {
    return 0;
  }
  in.Refuse("max_window_layers", at,
            absl::StrCat("0 (all layers have the sliding window) or ", layers,
                         " or more (no layer has it)"));
  return 0;
}

int Window(ConfigReader& in, const TrunkConfig& config) {
  switch (config.architecture) {
    case Architecture::kMistral:
      return in.ExtentOrNull("sliding_window",
                             in.Has("sliding_window") ? 0 : 4096);
    case Architecture::kQwen2:
    case Architecture::kQwen3:
      return QwenWindow(in, config.layers);
    case Architecture::kLlama:
      if (const json* found = in.Find("sliding_window")) {
        in.Refuse("sliding_window", *found, "null or absent in a Llama");
      }
      return 0;
    case Architecture::kGpt2:
      return 0;
  }
  return 0;
}

void ReadHeadShape(ConfigReader& in, const Defaults& defaults,
                   TrunkConfig& config) {
  config.kv_heads =
      in.ExtentOrNull("num_key_value_heads",
                      in.Has("num_key_value_heads") || defaults.kv_heads == 0
                          ? config.heads
                          : defaults.kv_heads);
  config.head_dim =
      in.ExtentOrNull("head_dim", in.Has("head_dim") ? 0 : defaults.head_dim);
  if (config.head_dim == 0) {
    if (config.hidden_size % config.heads != 0) {
      in.Refuse("num_attention_heads", config.heads,
                absl::StrCat("divisors of hidden_size ", config.hidden_size,
                             " (or give head_dim)"));
    }
    config.head_dim = std::max(1, config.hidden_size / config.heads);
  }
  if (config.heads % config.kv_heads != 0) {
    in.Refuse("num_key_value_heads", config.kv_heads,
              absl::StrCat("divisors of num_attention_heads ", config.heads));
  }
  if (config.head_dim % 2 != 0) {
    in.Refuse("head_dim", config.head_dim, "even numbers (rotary pairs)");
  }
}

// Llama, Mistral, Qwen2 and Qwen3.
void ReadRotary(ConfigReader& in, const Defaults& defaults,
                TrunkConfig& config) {
  const Architecture kind = config.architecture;
  config.hidden_size = in.Extent("hidden_size", defaults.hidden_size);
  config.intermediate_size =
      in.Extent("intermediate_size", defaults.intermediate_size);
  config.layers = in.Extent("num_hidden_layers", defaults.layers);
  config.heads = in.Extent("num_attention_heads", defaults.heads);
  ReadHeadShape(in, defaults, config);
  config.context_length =
      in.Extent("max_position_embeddings", defaults.context_length);
  config.rms_norm_eps = static_cast<float>(in.Positive("rms_norm_eps", 1e-6));
  if (const json* act = in.Find("hidden_act"); act && *act != "silu") {
    in.Refuse("hidden_act", *act, "\"silu\"");
  }
  const bool asks =
      kind == Architecture::kLlama || kind == Architecture::kQwen3;
  config.output_bias = asks && in.Flag("attention_bias", false);
  config.qkv_bias = config.output_bias || kind == Architecture::kQwen2;
  config.mlp_bias = kind == Architecture::kLlama && in.Flag("mlp_bias", false);
  config.qk_norm = kind == Architecture::kQwen3;
  if (in.Positive("partial_rotary_factor", 1) != 1) {
    in.Refuse("partial_rotary_factor", *in.Find("partial_rotary_factor"), "1");
  }
  ReadRope(in, config);
}

void ReadGpt2(ConfigReader& in, const Defaults& defaults, TrunkConfig& config) {
  config.norm = NormKind::kLayer;
  config.gated = false;
  config.learned_positions = true;
  config.qkv_bias = config.output_bias = config.mlp_bias = true;
  config.hidden_size = in.Extent("n_embd", defaults.hidden_size);
  config.intermediate_size = in.ExtentOrNull("n_inner", 4 * config.hidden_size);
  config.layers = in.Extent("n_layer", defaults.layers);
  config.heads = config.kv_heads = in.Extent("n_head", defaults.heads);
  config.context_length = in.Extent("n_positions", defaults.context_length);
  config.rms_norm_eps =
      static_cast<float>(in.Positive("layer_norm_epsilon", 1e-5));
  config.head_dim = std::max(1, config.hidden_size / config.heads);
  if (config.hidden_size % config.heads != 0) {
    in.Refuse("n_head", config.heads,
              absl::StrCat("divisors of n_embd ", config.hidden_size));
  }
  const json* act = in.Find("activation_function");
  if (act == nullptr || *act == "gelu_new" || *act == "gelu_pytorch_tanh") {
    config.activation = Activation::kGeluTanh;
  } else if (*act == "gelu") {
    config.activation = Activation::kGelu;
  } else {
    in.Refuse("activation_function", *act,
              "\"gelu_new\", \"gelu_pytorch_tanh\", \"gelu\"");
  }
  if (!in.Flag("scale_attn_weights", true)) {
    in.Refuse("scale_attn_weights", false, "true");
  }
  for (const char* key :
       {"scale_attn_by_inverse_layer_idx", "add_cross_attention"}) {
    if (in.Flag(key, false)) in.Refuse(key, true, "false");
  }
}

}  // namespace

std::string ClassName(const TrunkConfig& config) {
  const HeadKind head = config.lm_head ? HeadKind::kNone : config.head;
  for (const ClassRow& row : kClasses) {
    if (row.architecture == config.architecture && row.head == head) {
      return std::string(row.name);
    }
  }
  return "network";
}

absl::StatusOr<TrunkConfig> ParseTrunkConfig(std::string_view text,
                                             const std::string& file,
                                             CheckpointPart part) {
  ESP_ASSIGN_OR_RETURN(const json parsed, ParseConfigObject(text, file));
  ConfigReader in(parsed, file);
  const bool all = part == CheckpointPart::kAll;
  const ClassRow row = all ? FindClass(in) : FindBody(in);
  if (!in.status().ok()) return in.status();
  const Defaults defaults = DefaultsOf(row.architecture);
  TrunkConfig config;
  config.architecture = row.architecture;
  config.vocab_size = in.Extent("vocab_size", defaults.vocab_size);
  const bool gpt2 = row.architecture == Architecture::kGpt2;
  if (gpt2) {
    ReadGpt2(in, defaults, config);
  } else {
    ReadRotary(in, defaults, config);
  }
  config.sliding_window = Window(in, config);
  config.tied_embeddings = in.Flag("tie_word_embeddings", gpt2);
  if (all) {
    ReadHead(in, row.head, config);
  } else {
    config.lm_head = part == CheckpointPart::kBodyAndLmHead;
  }
  ReadEndTokens(in, defaults.end_token, config);
  if (const json* found = in.Find("quantization_config")) {
    in.Refuse("quantization_config", *found, "null or absent");
  }
  if (!in.status().ok()) return in.status();
  return config;
}

absl::Status AddEndTokens(std::string_view text, const std::string& file,
                          TrunkConfig& config) {
  ESP_ASSIGN_OR_RETURN(const json parsed, ParseConfigObject(text, file));
  ConfigReader in(parsed, file);
  AddEnds(TokenIds(in, "eos_token_id", config.vocab_size), config);
  return in.status();
}

namespace {

// The content of a folder without config.json, for messages.
std::string FolderText(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  bool data = false;
  std::string gguf;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    const std::string ending = entry.path().extension();
    names.push_back(name);
    data |= ending == ".parquet" || ending == ".jsonl" || ending == ".csv";
    if (ending == ".gguf" && (gguf.empty() || name < gguf)) gguf = name;
  }
  if (names.empty()) return "an empty folder";
  if (!gguf.empty()) {
    return absl::StrCat(
        "a folder without config.json; to use the GGUF file in it, name ",
        (folder / gguf).string());
  }
  return absl::StrCat("a folder without config.json",
                      data ? ", whose files are a data set, not a model" : "");
}

// A hint for a name that is not a folder here.
std::string MissingNote(const std::string& name) {
  const std::string note = ForeignName(name, Wanted::kModel);
  if (!note.empty() || name.find('/') != name.npos) return note;
  return absl::StrCat(
      "; download a model of the Hugging Face hub first, by its full name:\n  "
      "hf download OWNER/",
      name, " --local-dir ", name);
}

}  // namespace

absl::StatusOr<TrunkConfig> ReadTrunkConfig(const std::string& folder,
                                            CheckpointPart part) {
  const std::filesystem::path base(folder);
  std::error_code error;
  const auto found = [&](const std::string& what) {
    return absl::NotFoundError(
        absl::StrCat(folder,
                     ": expected a model folder with config.json and "
                     "model.safetensors, or a GGUF file, found ",
                     what));
  };
  const bool there = std::filesystem::exists(base, error);
  if (error) return FileError("open", folder, error.value());
  if (!there) return found("nothing" + MissingNote(folder));
  if (!std::filesystem::is_directory(base, error)) {
    std::string note = ForeignFileNote(folder, Wanted::kModel);
    const std::filesystem::path around = base.parent_path();
    if (note.empty() && std::filesystem::is_regular_file(base, error) &&
        std::filesystem::exists(around / "config.json", error)) {
      note = "part of a model; name its folder, " +
             (around.empty() ? "." : around.string());
    }
    return found("a file that is not GGUF" + (note.empty() ? "" : ": " + note));
  }
  const std::string path = base / "config.json";
  if (!std::filesystem::exists(path, error)) {
    if (error) return FileError("open", path, error.value());
    return found(FolderText(base));
  }
  // A pipe might block forever.
  if (!std::filesystem::is_regular_file(path, error)) {
    return found("a config.json that is not a file");
  }
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ESP_ASSIGN_OR_RETURN(TrunkConfig config, ParseTrunkConfig(text, path, part));
  const std::string generation = base / "generation_config.json";
  if (std::filesystem::is_regular_file(generation, error)) {
    ESP_ASSIGN_OR_RETURN(const std::string more, ReadFile(generation));
    ESP_RETURN_IF_ERROR(AddEndTokens(more, generation, config));
  }
  return config;
}

}  // namespace espalier
