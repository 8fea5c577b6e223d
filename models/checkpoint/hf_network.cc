#include "models/checkpoint/hf_network.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "models/checkpoint/layer_kinds.h"
#include "models/checkpoint/rope_config.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Of attention_bias, which queries, keys and values always follow.
enum class Biased : uint8_t {
  kNo,          // the key is not read
  kQueries,     // always
  kIfAsked,     // by attention_bias, the output too
  kUnlessAsked  // by attention_bias, which is true by default; not the output
};

// A class's defaults for missing keys, as in transformers. 0 KV heads: as many
// as heads; 0 head_dim: hidden_size / heads; -1: no end token.
struct Sizes {
  int vocab_size, hidden_size, intermediate_size, layers, heads, kv_heads;
  int head_dim, context_length, end_token;
};

struct Family {
  Architecture architecture;
  Sizes sizes;
  Biased attention_bias = Biased::kNo;
  bool mlp_bias = false;  // reads the key
  bool tied_embeddings = false;
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000;
  // Rotated part of a head; 0: all, and no key may say otherwise.
  double rotary_part = 0;
  Activation activation = Activation::kSilu;
  // Reads what only this architecture has, after everything else; may be null.
  void (*own)(ConfigReader& in, TrunkConfig& config) = nullptr;
};

// A window in all layers, or null.
void ReadWindow(ConfigReader& in, TrunkConfig& config) {
  config.sliding_window = in.ExtentOrNull("sliding_window", 0);
}

void ReadLlama(ConfigReader& in, TrunkConfig&) {
  if (const json* found = in.Find("sliding_window")) {
    in.Refuse("sliding_window", *found, "null or absent in a Llama");
  }
}

void ReadMistral(ConfigReader& in, TrunkConfig& config) {
  config.sliding_window =
      in.ExtentOrNull("sliding_window", in.Has("sliding_window") ? 0 : 4096);
}

// "use_sliding_window" with "sliding_window", by default 4096.
int AskedWindow(ConfigReader& in) {
  if (!in.Flag("use_sliding_window", false)) return 0;
  const bool null =
      in.Has("sliding_window") && in.Find("sliding_window") == nullptr;
  return null ? 0 : in.Extent("sliding_window", 4096);
}

// Layers i >= max_window_layers have the window; newer configurations list it
// per layer.
void ReadQwen(ConfigReader& in, TrunkConfig& config) {
  config.sliding_window = AskedWindow(in);
  if (ReadLayerTypes(in, config) || config.sliding_window == 0) return;
  const json* from = in.Find("max_window_layers");
  const json at = from == nullptr ? json(28) : *from;
  if (!at.is_number_unsigned()) {
    return in.Refuse("max_window_layers", at, "whole numbers from 0");
  }
  const uint64_t first = at.get<uint64_t>();
  std::vector<LayerKind>& kinds = EveryLayerKind(config);
  for (size_t i = 0; i < kinds.size(); ++i) kinds[i].windowed = i >= first;
  if (first >= kinds.size()) config.sliding_window = 0;
}

void ReadQwen3(ConfigReader& in, TrunkConfig& config) {
  config.qk_norm = true;
  ReadQwen(in, config);
}

// The scales that the family is known for.
void ReadGranite(ConfigReader& in, TrunkConfig& config) {
  const auto number = [&in](const char* key) { return in.Positive(key, 1); };
  config.embedding_scale = static_cast<float>(number("embedding_multiplier"));
  config.residual_scale = static_cast<float>(number("residual_multiplier"));
  config.attention_scale = static_cast<float>(number("attention_multiplier"));
  config.logit_scale = static_cast<float>(1 / number("logits_scaling"));
}

void ReadSmolLm3(ConfigReader& in, TrunkConfig& config) {
  ReadUnrotatedLayers(in, config);
  config.sliding_window = AskedWindow(in);
  if (ReadLayerTypes(in, config)) return;
  for (LayerKind& kind : config.layer_kinds) kind.windowed = !kind.rotated;
}

// Norms after attention and feed-forward, not before.
void ReadOlmo2(ConfigReader&, TrunkConfig& config) {
  config.norms_before = false;
  config.norms_after = true;
  config.qk_norm = config.qk_norm_rows = true;
}

// Scaled rotation is for the layers without the window only.
void ReadOlmo3(ConfigReader& in, TrunkConfig& config) {
  ReadOlmo2(in, config);
  config.sliding_window = in.Extent("sliding_window", 4096);
  if (!ReadLayerTypes(in, config)) SlideAllButEach(4, config);
  config.local_rope_theta = config.rope_theta;
  for (LayerKind& kind : config.layer_kinds) kind.local = kind.windowed;
}

void ReadGlm4(ConfigReader&, TrunkConfig& config) { config.norms_after = true; }

// A number above 0; null: `none`.
double PositiveOrNull(ConfigReader& in, const char* key, double fallback) {
  return in.Has(key) && in.Find(key) == nullptr ? 0
                                                : in.Positive(key, fallback);
}

// Norms before and after, embeddings as long as the residual.
void ReadGemma(ConfigReader& in, double cap, double logit_cap,
               TrunkConfig& config) {
  config.norms_after = true;
  config.embedding_scale = std::sqrt(static_cast<float>(config.hidden_size));
  config.attention_scale = static_cast<float>(
      1 / std::sqrt(in.Positive("query_pre_attn_scalar", 256)));
  const auto read = [&in](const char* key, double fallback) {
    return static_cast<float>(fallback > 0 ? PositiveOrNull(in, key, fallback)
                              : in.Find(key) == nullptr ? 0
                                                        : in.Positive(key, 1));
  };
  config.attention_cap = read("attn_logit_softcapping", cap);
  config.logit_cap = read("final_logit_softcapping", logit_cap);
  config.sliding_window = in.Extent("sliding_window", 4096);
  if (in.Flag("use_bidirectional_attention", false)) {
    in.Refuse("use_bidirectional_attention", true, "false");
  }
}

void ReadGemma2(ConfigReader& in, TrunkConfig& config) {
  ReadGemma(in, 50, 30, config);
  if (!ReadLayerTypes(in, config)) SlideAllButEach(2, config);
}

// Layers with the window have a rotation of their own.
void ReadGemma3(ConfigReader& in, TrunkConfig& config) {
  ReadGemma(in, 0, 0, config);
  config.qk_norm = true;
  config.local_rope_theta = static_cast<float>(
      in.Positive("rope_local_base_freq", config.local_rope_theta));
  if (!ReadLayerTypes(in, config)) {
    SlideAllButEach(in.Extent("sliding_window_pattern", 6), config);
  }
  for (LayerKind& kind : config.layer_kinds) kind.local = kind.windowed;
}

void ReadExperts(ConfigReader& in, const char* key, int experts, int chosen,
                 TrunkConfig& config) {
  constexpr int kMostExperts = 1024;
  config.experts = in.Extent(key, experts);
  if (config.experts > kMostExperts) {
    in.Refuse(key, config.experts, absl::StrCat("1 to ", kMostExperts));
  }
  config.chosen_experts = in.Extent("num_experts_per_tok", chosen);
  if (config.chosen_experts > config.experts) {
    in.Refuse("num_experts_per_tok", config.chosen_experts,
              absl::StrCat("at most ", key, " ", config.experts));
  }
}

void ReadMixtral(ConfigReader& in, TrunkConfig& config) {
  ReadWindow(in, config);
  ReadExperts(in, "num_local_experts", 8, 2, config);
}

// Every layer has experts.
void ReadQwen3Moe(ConfigReader& in, TrunkConfig& config) {
  config.qk_norm = true;
  config.intermediate_size = in.Extent("moe_intermediate_size", 768);
  ReadExperts(in, "num_experts", 128, 8, config);
  config.expert_shares_sum_to_one = in.Flag("norm_topk_prob", false);
  if (in.Flag("use_sliding_window", false)) {
    in.Refuse("use_sliding_window", true, "false");
  }
  if (in.Extent("decoder_sparse_step", 1) != 1) {
    in.Refuse("decoder_sparse_step", *in.Find("decoder_sparse_step"), "1");
  }
  if (const json* dense = in.Find("mlp_only_layers");
      dense != nullptr && *dense != json::array()) {
    in.Refuse("mlp_only_layers", *dense, "an empty list");
  }
}

constexpr Family kFamilies[] = {
    {.architecture = Architecture::kLlama,
     .sizes = {32000, 4096, 11008, 32, 32, 0, 0, 2048, 2},
     .attention_bias = Biased::kIfAsked,
     .mlp_bias = true,
     .own = &ReadLlama},
    {.architecture = Architecture::kMistral,
     .sizes = {32000, 4096, 14336, 32, 32, 8, 0, 131072, 2},
     .own = &ReadMistral},
    {.architecture = Architecture::kQwen2,
     .sizes = {151936, 4096, 22016, 32, 32, 32, 0, 32768, -1},
     .attention_bias = Biased::kQueries,
     .own = &ReadQwen},
    {.architecture = Architecture::kQwen3,
     .sizes = {151936, 4096, 22016, 32, 32, 32, 128, 32768, -1},
     .attention_bias = Biased::kIfAsked,
     .own = &ReadQwen3},
    {.architecture = Architecture::kGranite,
     .sizes = {32000, 4096, 11008, 32, 32, 0, 0, 2048, 2},
     .attention_bias = Biased::kIfAsked,
     .mlp_bias = true,
     .own = &ReadGranite},
    {.architecture = Architecture::kSmolLm3,
     .sizes = {128256, 2048, 11008, 36, 16, 4, 0, 32768, 128001},
     .attention_bias = Biased::kIfAsked,
     .mlp_bias = true,
     .tied_embeddings = true,
     .rope_theta = 2e6,
     .own = &ReadSmolLm3},
    {.architecture = Architecture::kOlmo2,
     .sizes = {50304, 4096, 11008, 32, 32, 0, 0, 2048, 50279},
     .attention_bias = Biased::kIfAsked,
     .rms_norm_eps = 1e-5,
     .own = &ReadOlmo2},
    {.architecture = Architecture::kOlmo3,
     .sizes = {50304, 4096, 11008, 32, 32, 0, 0, 2048, 50279},
     .attention_bias = Biased::kIfAsked,
     .rms_norm_eps = 1e-5,
     .own = &ReadOlmo3},
    {.architecture = Architecture::kPhi3,
     .sizes = {32064, 3072, 8192, 32, 32, 0, 0, 4096, 32000},
     .rms_norm_eps = 1e-5,
     .rotary_part = 1,
     .own = &ReadWindow},
    {.architecture = Architecture::kGlm,
     .sizes = {151552, 4096, 13696, 40, 32, 2, 128, 131072, 151329},
     .attention_bias = Biased::kUnlessAsked,
     .rms_norm_eps = 1.5625e-7,
     .rotary_part = 0.5},
    {.architecture = Architecture::kGlm4,
     .sizes = {151552, 4096, 13696, 40, 32, 2, 128, 131072, 151329},
     .attention_bias = Biased::kUnlessAsked,
     .rms_norm_eps = 1.5625e-7,
     .rotary_part = 0.5,
     .own = &ReadGlm4},
    {.architecture = Architecture::kGemma2,
     .sizes = {256000, 2304, 9216, 26, 8, 4, 256, 8192, 1},
     .attention_bias = Biased::kIfAsked,
     .tied_embeddings = true,
     .activation = Activation::kGeluTanh,
     .own = &ReadGemma2},
    {.architecture = Architecture::kGemma3,
     .sizes = {262208, 2304, 9216, 26, 8, 4, 256, 131072, 1},
     .attention_bias = Biased::kIfAsked,
     .tied_embeddings = true,
     .rope_theta = 1e6,
     .activation = Activation::kGeluTanh,
     .own = &ReadGemma3},
    {.architecture = Architecture::kQwen3Moe,
     .sizes = {151936, 2048, 6144, 24, 32, 4, 0, 32768, -1},
     .attention_bias = Biased::kIfAsked,
     .own = &ReadQwen3Moe},
    {.architecture = Architecture::kMixtral,
     .sizes = {32000, 4096, 14336, 32, 32, 8, 0, 131072, 2},
     .rms_norm_eps = 1e-5,
     .rope_theta = 1e6,
     .own = &ReadMixtral},
};

constexpr HfClass kClasses[] = {
    {"LlamaForCausalLM", "llama", Architecture::kLlama},
    {"MistralForCausalLM", "mistral", Architecture::kMistral},
    {"Qwen2ForCausalLM", "qwen2", Architecture::kQwen2},
    {"Qwen3ForCausalLM", "qwen3", Architecture::kQwen3},
    {"GPT2LMHeadModel", "gpt2", Architecture::kGpt2},
    {"GraniteForCausalLM", "granite", Architecture::kGranite},
    {"SmolLM3ForCausalLM", "smollm3", Architecture::kSmolLm3},
    {"Olmo2ForCausalLM", "olmo2", Architecture::kOlmo2},
    {"Olmo3ForCausalLM", "olmo3", Architecture::kOlmo3},
    {"Phi3ForCausalLM", "phi3", Architecture::kPhi3},
    {"GlmForCausalLM", "glm", Architecture::kGlm},
    {"Glm4ForCausalLM", "glm4", Architecture::kGlm4},
    {"Gemma2ForCausalLM", "gemma2", Architecture::kGemma2},
    {"Gemma3ForCausalLM", "gemma3_text", Architecture::kGemma3},
    {kGemma3WithImages, "gemma3", Architecture::kGemma3},
    {"Qwen3MoeForCausalLM", "qwen3_moe", Architecture::kQwen3Moe},
    {"MixtralForCausalLM", "mixtral", Architecture::kMixtral},
    {"LlamaForSequenceClassification", "llama", Architecture::kLlama,
     HeadKind::kSequenceClassification},
    {"LlamaForTokenClassification", "llama", Architecture::kLlama,
     HeadKind::kTokenClassification},
    {"Qwen2ForSequenceClassification", "qwen2", Architecture::kQwen2,
     HeadKind::kSequenceClassification},
    {"Qwen2ForTokenClassification", "qwen2", Architecture::kQwen2,
     HeadKind::kTokenClassification},
};

void ReadHeadShape(ConfigReader& in, const Family& family,
                   TrunkConfig& config) {
  config.kv_heads =
      in.ExtentOrNull("num_key_value_heads", in.Has("num_key_value_heads") ||
                                                     family.sizes.kv_heads == 0
                                                 ? config.heads
                                                 : family.sizes.kv_heads);
  config.head_dim = in.ExtentOrNull(
      "head_dim", in.Has("head_dim") ? 0 : family.sizes.head_dim);
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

void ReadBiases(ConfigReader& in, const Family& family, TrunkConfig& config) {
  switch (family.attention_bias) {
    case Biased::kNo:
      break;
    case Biased::kQueries:
      config.qkv_bias = true;
      break;
    case Biased::kIfAsked:
      config.qkv_bias = config.output_bias = in.Flag("attention_bias", false);
      break;
    case Biased::kUnlessAsked:
      config.qkv_bias = in.Flag("attention_bias", true);
      break;
  }
  config.mlp_bias = family.mlp_bias && in.Flag("mlp_bias", false);
}

// Gemma's classes read "hidden_activation" instead.
void ReadActivation(ConfigReader& in, const Family& family,
                    TrunkConfig& config) {
  config.activation = family.activation;
  const bool silu = family.activation == Activation::kSilu;
  const char* key = silu ? "hidden_act" : "hidden_activation";
  const char* name = silu ? "silu" : "gelu_pytorch_tanh";
  if (const json* act = in.Find(key); act && *act != name) {
    in.Refuse(key, *act, absl::StrCat("\"", name, "\""));
  }
}

// Every architecture but GPT-2.
void ReadRotary(ConfigReader& in, const Family& family, TrunkConfig& config) {
  config.hidden_size = in.Extent("hidden_size", family.sizes.hidden_size);
  config.intermediate_size =
      in.Extent("intermediate_size", family.sizes.intermediate_size);
  config.layers = in.Extent("num_hidden_layers", family.sizes.layers);
  config.heads = in.Extent("num_attention_heads", family.sizes.heads);
  ReadHeadShape(in, family, config);
  config.context_length =
      in.Extent("max_position_embeddings", family.sizes.context_length);
  config.rms_norm_eps =
      static_cast<float>(in.Positive("rms_norm_eps", family.rms_norm_eps));
  ReadActivation(in, family, config);
  ReadBiases(in, family, config);
  config.rope_theta = static_cast<float>(family.rope_theta);
  ReadRope(in, family.rotary_part, config);
  config.tied_embeddings =
      in.Flag("tie_word_embeddings", family.tied_embeddings);
  if (family.own != nullptr) family.own(in, config);
  if (!config.layer_kinds.empty() &&
      config.layer_kinds.size() != static_cast<size_t>(config.layers)) {
    in.Refuse("num_hidden_layers", config.layers,
              absl::StrCat("at most ", config.layer_kinds.size()));
  }
}

void ReadGpt2(ConfigReader& in, TrunkConfig& config) {
  config.norm = NormKind::kLayer;
  config.gated = false;
  config.learned_positions = true;
  config.qkv_bias = config.output_bias = config.mlp_bias = true;
  config.hidden_size = in.Extent("n_embd", 768);
  config.intermediate_size = in.ExtentOrNull("n_inner", 4 * config.hidden_size);
  config.layers = in.Extent("n_layer", 12);
  config.heads = config.kv_heads = in.Extent("n_head", 12);
  config.context_length = in.Extent("n_positions", 1024);
  config.rms_norm_eps =
      static_cast<float>(in.Positive("layer_norm_epsilon", 1e-5));
  config.head_dim = std::max(1, config.hidden_size / config.heads);
  config.tied_embeddings = in.Flag("tie_word_embeddings", true);
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

const Family& FamilyOf(Architecture architecture) {
  for (const Family& family : kFamilies) {
    if (family.architecture == architecture) return family;
  }
  ESP_CHECK(false);
  return kFamilies[0];
}

}  // namespace

absl::Span<const HfClass> HfClasses() { return kClasses; }

int DefaultEndToken(Architecture architecture) {
  return architecture == Architecture::kGpt2
             ? 50256
             : FamilyOf(architecture).sizes.end_token;
}

void ReadHfNetwork(ConfigReader& in, Architecture architecture,
                   TrunkConfig& config) {
  config.architecture = architecture;
  if (architecture == Architecture::kGpt2) {
    config.vocab_size = in.Extent("vocab_size", 50257);
    return ReadGpt2(in, config);
  }
  const Family& family = FamilyOf(architecture);
  config.vocab_size = in.Extent("vocab_size", family.sizes.vocab_size);
  ReadRotary(in, family, config);
}

}  // namespace espalier
