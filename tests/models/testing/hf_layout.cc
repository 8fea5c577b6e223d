#include "tests/models/testing/hf_layout.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using nlohmann::json;

bool IsGpt2(const TrunkConfig& c) {
  return c.architecture == Architecture::kGpt2;
}
bool IsPhi3(const TrunkConfig& c) {
  return c.architecture == Architecture::kPhi3;
}
bool IsGlm(const TrunkConfig& c) {
  return c.architecture == Architecture::kGlm;
}
bool IsGemma(const TrunkConfig& c) {
  return c.architecture == Architecture::kGemma2 ||
         c.architecture == Architecture::kGemma3;
}
bool IsGlm4(const TrunkConfig& c) {
  return c.architecture == Architecture::kGlm4;
}

// The name of the classes, and "model_type".
std::pair<std::string, std::string> FamilyName(const TrunkConfig& c) {
  switch (c.architecture) {
    case Architecture::kLlama:
      return {"Llama", "llama"};
    case Architecture::kMistral:
      return {"Mistral", "mistral"};
    case Architecture::kQwen2:
      return {"Qwen2", "qwen2"};
    case Architecture::kQwen3:
      return {"Qwen3", "qwen3"};
    case Architecture::kGpt2:
      return {"GPT2", "gpt2"};
    case Architecture::kGranite:
      return {"Granite", "granite"};
    case Architecture::kSmolLm3:
      return {"SmolLM3", "smollm3"};
    case Architecture::kOlmo2:
      return {"Olmo2", "olmo2"};
    case Architecture::kOlmo3:
      return {"Olmo3", "olmo3"};
    case Architecture::kPhi3:
      return {"Phi3", "phi3"};
    case Architecture::kGlm:
      return {"Glm", "glm"};
    case Architecture::kGlm4:
      return {"Glm4", "glm4"};
    case Architecture::kGemma2:
      return {"Gemma2", "gemma2"};
    case Architecture::kGemma3:
      return {"Gemma3", "gemma3_text"};
    case Architecture::kQwen3Moe:
      return {"Qwen3Moe", "qwen3_moe"};
    case Architecture::kMixtral:
      return {"Mixtral", "mixtral"};
  }
  return {};
}

std::string ClassName(const TrunkConfig& c) {
  if (IsGpt2(c)) return "GPT2LMHeadModel";
  return absl::StrCat(
      FamilyName(c).first,
      c.head == HeadKind::kSequenceClassification ? "ForSequenceClassification"
      : c.head == HeadKind::kTokenClassification  ? "ForTokenClassification"
                                                  : "ForCausalLM");
}

json RopeJson(const TrunkConfig& c) {
  const RopeScaling& r = c.rope;
  switch (r.kind) {
    case RopeKind::kDefault:
      return nullptr;
    case RopeKind::kLinear:  // the key's name before it became "rope_type"
      return {{"type", "linear"}, {"factor", r.factor}};
    case RopeKind::kDynamic:
      return {{"rope_type", "dynamic"}, {"factor", r.factor}};
    case RopeKind::kLlama3:
      return {{"rope_type", "llama3"},
              {"factor", r.factor},
              {"low_freq_factor", r.low_freq_factor},
              {"high_freq_factor", r.high_freq_factor},
              {"original_max_position_embeddings", r.original_context}};
    case RopeKind::kYarn: {
      json out = {{"rope_type", "yarn"},
                  {"factor", r.factor},
                  {"beta_fast", r.beta_fast},
                  {"beta_slow", r.beta_slow},
                  {"original_max_position_embeddings", r.original_context}};
      if (r.attention_factor != 0) out["attention_factor"] = r.attention_factor;
      return out;
    }
    case RopeKind::kLongRope: {
      json out = {{"rope_type", "longrope"},
                  {"short_factor", r.divisors},
                  {"long_factor", std::vector<double>(r.divisors.size(), 8.0)}};
      return out;
    }
  }
  return nullptr;
}

json Gpt2Json(const TrunkConfig& c) {
  return {{"model_type", "gpt2"},
          {"n_embd", c.hidden_size},
          {"n_inner", c.intermediate_size},
          {"n_layer", c.layers},
          {"n_head", c.heads},
          {"n_positions", c.context_length},
          {"n_ctx", c.context_length},
          {"layer_norm_epsilon", c.rms_norm_eps},
          {"activation_function", "gelu_new"}};
}

json WindowOrNull(const TrunkConfig& c) {
  return c.sliding_window > 0 ? json(c.sliding_window) : json(nullptr);
}

json LayerTypes(const TrunkConfig& c) {
  json out = json::array();
  for (int i = 0; i < c.layers; ++i) {
    out.push_back(c.window(i) > 0 ? "sliding_attention" : "full_attention");
  }
  return out;
}

void AddQwenWindow(const TrunkConfig& c, json& out) {
  out["use_sliding_window"] = c.sliding_window > 0;
  out["sliding_window"] = c.sliding_window > 0 ? c.sliding_window : 4096;
  if (c.layer_kinds.empty()) {
    out["max_window_layers"] = c.sliding_window > 0 ? 0 : c.layers;
  } else {
    int first = 0;
    while (first < c.layers && c.window(first) == 0) ++first;
    out["max_window_layers"] = first;
  }
}

void AddGemmaKeys(const TrunkConfig& c, json& out) {
  out["hidden_act"] = out["hidden_activation"] = "gelu_pytorch_tanh";
  out["attention_bias"] = false;
  // Exact: tests choose powers of two.
  out["query_pre_attn_scalar"] = 1 / (c.attention_scale * c.attention_scale);
  out["sliding_window"] = c.sliding_window;
  out["layer_types"] = LayerTypes(c);
}

// The keys that not every class has.
void AddOwnKeys(const TrunkConfig& c, json& out) {
  switch (c.architecture) {
    case Architecture::kLlama:
      out["attention_bias"] = c.qkv_bias;
      out["mlp_bias"] = c.mlp_bias;
      break;
    case Architecture::kMistral:
      out["sliding_window"] = WindowOrNull(c);
      break;
    case Architecture::kQwen3:
      out["attention_bias"] = false;
      AddQwenWindow(c, out);
      break;
    case Architecture::kQwen2:
      AddQwenWindow(c, out);
      break;
    case Architecture::kGranite:
      out["attention_bias"] = c.qkv_bias;
      out["mlp_bias"] = c.mlp_bias;
      out["embedding_multiplier"] = c.embedding_scale;
      out["residual_multiplier"] = c.residual_scale;
      out["attention_multiplier"] = c.attention_scale;
      out["logits_scaling"] = 1 / c.logit_scale;
      break;
    case Architecture::kSmolLm3:
      out["attention_bias"] = out["mlp_bias"] = false;
      out["use_sliding_window"] = c.sliding_window > 0;
      out["sliding_window"] = WindowOrNull(c);
      out["layer_types"] = LayerTypes(c);
      out["no_rope_layers"] = json::array();
      for (const LayerKind& kind : c.layer_kinds) {
        out["no_rope_layers"].push_back(kind.rotated ? 1 : 0);
      }
      break;
    case Architecture::kOlmo2:
      out["attention_bias"] = false;
      break;
    case Architecture::kOlmo3:
      out["attention_bias"] = false;
      out["sliding_window"] = c.sliding_window;
      out["layer_types"] = LayerTypes(c);
      break;
    case Architecture::kPhi3:
      out["sliding_window"] = WindowOrNull(c);
      out["partial_rotary_factor"] =
          static_cast<double>(c.rotary()) / c.head_dim;
      if (c.rope.kind == RopeKind::kLongRope) {
        out["original_max_position_embeddings"] = c.rope.original_context;
        out["max_position_embeddings"] =
            static_cast<int>(c.rope.original_context * c.rope.factor);
      }
      break;
    case Architecture::kGlm:
    case Architecture::kGlm4:
      out["attention_bias"] = c.qkv_bias;
      out["partial_rotary_factor"] =
          static_cast<double>(c.rotary()) / c.head_dim;
      break;
    case Architecture::kGemma2:
      AddGemmaKeys(c, out);
      out["attn_logit_softcapping"] = c.attention_cap;
      out["final_logit_softcapping"] = c.logit_cap;
      break;
    case Architecture::kGemma3:
      AddGemmaKeys(c, out);
      out["attn_logit_softcapping"] = nullptr;
      out["final_logit_softcapping"] = nullptr;
      out["rope_local_base_freq"] = c.local_rope_theta;
      break;
    case Architecture::kQwen3Moe:
      out["attention_bias"] = false;
      out["intermediate_size"] = 4 * c.intermediate_size;  // of no layer
      out["moe_intermediate_size"] = c.intermediate_size;
      out["num_experts"] = c.experts;
      out["num_experts_per_tok"] = c.chosen_experts;
      out["norm_topk_prob"] = c.expert_shares_sum_to_one;
      out["decoder_sparse_step"] = 1;
      out["mlp_only_layers"] = json::array();
      break;
    case Architecture::kMixtral:
      out["num_local_experts"] = c.experts;
      out["num_experts_per_tok"] = c.chosen_experts;
      out["sliding_window"] = WindowOrNull(c);
      break;
    case Architecture::kGpt2:
      break;
  }
}

json RotaryJson(const TrunkConfig& c) {
  const RopeKind kind = c.rope.kind;
  const bool longer = kind == RopeKind::kDynamic || kind == RopeKind::kYarn;
  json out = {
      {"model_type", FamilyName(c).second},
      {"hidden_act", "silu"},
      {"hidden_size", c.hidden_size},
      {"intermediate_size", c.intermediate_size},
      {"num_hidden_layers", c.layers},
      {"num_attention_heads", c.heads},
      {"num_key_value_heads", c.kv_heads},
      {"head_dim", c.head_dim},
      {"max_position_embeddings",
       longer ? c.rope.original_context : c.context_length},
      {"rms_norm_eps", c.rms_norm_eps},
      {"rope_theta", c.rope_theta},
      {"rope_scaling", RopeJson(c)},
  };
  AddOwnKeys(c, out);
  return out;
}

using Kind = HfTensor::Kind;

// Appends tensors in network order.
class List {
 public:
  void Vector(const std::string& name, Kind kind, int64_t n) {
    tensors_.push_back({name, {n}, kind});
  }
  void Matrix(const std::string& name, int64_t outputs, int64_t inputs,
              bool bias) {
    tensors_.push_back(
        {name + ".weight", {outputs, inputs}, Kind::kMatrix, inputs});
    if (bias) Vector(name + ".bias", Kind::kBias, outputs);
  }
  // GPT-2's Conv1D.
  void Turned(const std::string& name, int64_t inputs, int64_t outputs) {
    tensors_.push_back(
        {name + ".weight", {inputs, outputs}, Kind::kMatrix, inputs});
    Vector(name + ".bias", Kind::kBias, outputs);
  }
  void Embedding(const std::string& name, int64_t rows, int64_t d) {
    tensors_.push_back({name, {rows, d}, Kind::kEmbedding});
  }
  void LayerNorm(const std::string& name, int64_t d) {
    Vector(name + ".weight", Kind::kNorm, d);
    Vector(name + ".bias", Kind::kBias, d);
  }
  std::vector<HfTensor> Take() { return std::move(tensors_); }

 private:
  std::vector<HfTensor> tensors_;
};

std::vector<HfTensor> Gpt2Tensors(const TrunkConfig& c) {
  const int64_t d = c.hidden_size, f = c.intermediate_size;
  List list;
  list.Embedding("transformer.wte.weight", c.vocab_size, d);
  list.Embedding("transformer.wpe.weight", c.context_length, d);
  for (int i = 0; i < c.layers; ++i) {
    const std::string layer = absl::StrCat("transformer.h.", i, ".");
    list.LayerNorm(layer + "ln_1", d);
    list.Turned(layer + "attn.c_attn", d, 3 * d);
    list.Turned(layer + "attn.c_proj", d, d);
    list.LayerNorm(layer + "ln_2", d);
    list.Turned(layer + "mlp.c_fc", d, f);
    list.Turned(layer + "mlp.c_proj", f, d);
  }
  list.LayerNorm("transformer.ln_f", d);
  return list.Take();
}

void AddExperts(const TrunkConfig& c, const std::string& layer, List& list) {
  const int64_t d = c.hidden_size, f = c.intermediate_size;
  const bool mixtral = c.architecture == Architecture::kMixtral;
  const std::string block = layer + (mixtral ? "block_sparse_moe." : "mlp.");
  list.Matrix(block + "gate", c.experts, d, false);
  for (int e = 0; e < c.experts; ++e) {
    const std::string expert = absl::StrCat(block, "experts.", e, ".");
    list.Matrix(expert + (mixtral ? "w1" : "gate_proj"), f, d, false);
    list.Matrix(expert + (mixtral ? "w2" : "down_proj"), d, f, false);
    list.Matrix(expert + (mixtral ? "w3" : "up_proj"), f, d, false);
  }
}

std::vector<HfTensor> RotaryTensors(const TrunkConfig& c) {
  const int64_t d = c.hidden_size, f = c.intermediate_size, h = c.head_dim;
  const int64_t q = c.heads * h, kv = c.kv_heads * h;
  List list;
  list.Embedding("model.embed_tokens.weight", c.vocab_size, d);
  for (int i = 0; i < c.layers; ++i) {
    const std::string layer = absl::StrCat("model.layers.", i, ".");
    const auto norm = [&](const char* name, int64_t n) {
      list.Vector(absl::StrCat(layer, name, ".weight"), Kind::kNorm, n);
    };
    if (c.norms_before) norm("input_layernorm", d);
    if (IsPhi3(c)) {
      list.Matrix(layer + "self_attn.qkv_proj", q + 2 * kv, d, false);
    } else {
      list.Matrix(layer + "self_attn.q_proj", q, d, c.qkv_bias);
      list.Matrix(layer + "self_attn.k_proj", kv, d, c.qkv_bias);
      list.Matrix(layer + "self_attn.v_proj", kv, d, c.qkv_bias);
    }
    list.Matrix(layer + "self_attn.o_proj", d, q, c.output_bias);
    if (c.qk_norm) {
      norm("self_attn.q_norm", c.qk_norm_rows ? q : h);
      norm("self_attn.k_norm", c.qk_norm_rows ? kv : h);
    }
    norm("post_attention_layernorm", d);
    if (IsGemma(c)) norm("pre_feedforward_layernorm", d);
    if (IsGlm4(c)) {
      norm("post_self_attn_layernorm", d);
      norm("post_mlp_layernorm", d);
    } else if (c.norms_after) {
      norm("post_feedforward_layernorm", d);
    }
    if (c.experts > 0) {
      AddExperts(c, layer, list);
      continue;
    }
    if (IsPhi3(c) || IsGlm(c) || IsGlm4(c)) {
      list.Matrix(layer + "mlp.gate_up_proj", 2 * f, d, false);
    } else {
      list.Matrix(layer + "mlp.gate_proj", f, d, c.mlp_bias);
      list.Matrix(layer + "mlp.up_proj", f, d, c.mlp_bias);
    }
    list.Matrix(layer + "mlp.down_proj", d, f, c.mlp_bias);
  }
  list.Vector("model.norm.weight", Kind::kNorm, d);
  if (c.lm_head && !c.tied_embeddings) {
    list.Matrix("lm_head", c.vocab_size, d, false);
  }
  if (c.reward_head) {
    const auto outputs = static_cast<int>(c.reward_outputs.size());
    list.Matrix("reward_head", c.reward_ensemble * outputs, d, true);
  }
  if (c.head == HeadKind::kSequenceClassification ||
      c.head == HeadKind::kTokenClassification) {
    list.Matrix("score", c.head_labels, d, c.head_bias);
  }
  return list.Take();
}

TrunkConfig PlainLlama() {
  TrunkConfig config = TinyConfig();
  config.reward_head = false;
  config.head = HeadKind::kNone;
  config.head_labels = 0;
  config.head_bias = false;
  return config;
}

TrunkConfig Scaled(RopeKind kind) {
  TrunkConfig config = PlainLlama();
  config.context_length = 128;
  config.rope = {.kind = kind, .factor = 4, .original_context = 32};
  if (kind == RopeKind::kYarn) config.rope.attention_factor = 1.25;
  return config;
}

TrunkConfig Qwen2() {
  TrunkConfig config = PlainLlama();
  config.architecture = Architecture::kQwen2;
  config.qkv_bias = true;
  return config;
}

TrunkConfig Qwen3() {
  TrunkConfig config = PlainLlama();
  config.architecture = Architecture::kQwen3;
  config.qk_norm = true;
  config.head_dim = 14;  // not hidden_size / heads
  config.tied_embeddings = false;
  return config;
}

TrunkConfig Mistral(int window) {
  TrunkConfig config = PlainLlama();
  config.architecture = Architecture::kMistral;
  config.tied_embeddings = false;
  config.sliding_window = window;
  config.kv_heads = 1;
  return config;
}

TrunkConfig GraniteLayout() {
  TrunkConfig config = PlainLlama();
  config.architecture = Architecture::kGranite;
  config.embedding_scale = 3;
  config.residual_scale = 0.375f;
  config.attention_scale = 0.5f;
  config.logit_scale = 0.25f;
  return config;
}

// Layer 1 of 3 is not rotated, and has the window, if there is one.
TrunkConfig SmolLm3Layout(int window) {
  TrunkConfig config = PlainLlama();
  config.architecture = Architecture::kSmolLm3;
  config.layers = 3;
  config.layer_kinds.assign(3, {.windowed = false});
  config.layer_kinds[1] = {.windowed = true, .rotated = false};
  config.sliding_window = window;
  return config;
}

TrunkConfig Olmo2Layout() {
  TrunkConfig config = PlainLlama();
  config.architecture = Architecture::kOlmo2;
  config.tied_embeddings = false;
  config.norms_before = false;
  config.norms_after = true;
  config.qk_norm = config.qk_norm_rows = true;
  return config;
}

// Layers with the window are rotated without scaling; layer 1 of 2 has none.
TrunkConfig Olmo3Layout() {
  TrunkConfig config = Olmo2Layout();
  config.architecture = Architecture::kOlmo3;
  config.layer_kinds.assign(2, {.local = true});
  config.layer_kinds[1] = {.windowed = false};
  config.sliding_window = 19;
  config.context_length = 128;
  config.rope = {.kind = RopeKind::kYarn, .factor = 4, .original_context = 32};
  config.rope.attention_factor = 1.25;
  config.local_rope_theta = config.rope_theta;
  return config;
}

TrunkConfig Phi3Layout(int rotary, int window) {
  TrunkConfig config = PlainLlama();
  config.architecture = Architecture::kPhi3;
  config.tied_embeddings = false;
  config.rotary_dim = rotary;
  config.sliding_window = window;
  return config;
}

// Texts of 128 tokens in a network that was extended to 512.
TrunkConfig LongRopeLayout() {
  TrunkConfig config = Phi3Layout(6, 0);
  config.context_length = 128;
  config.rope = {.kind = RopeKind::kLongRope,
                 .factor = 4,
                 .original_context = 128,
                 .divisors = {1.0, 1.5, 4.0}};
  return config;
}

TrunkConfig GlmLayout(Architecture architecture) {
  TrunkConfig config = PlainLlama();
  config.architecture = architecture;
  config.tied_embeddings = false;
  config.head_dim = 12;  // not hidden_size / heads
  config.rotary_dim = 6;
  config.qkv_bias = architecture == Architecture::kGlm;
  config.norms_after = architecture == Architecture::kGlm4;
  return config;
}

// Layer 1 of 3 has no window.
TrunkConfig Gemma2Layout() {
  TrunkConfig config = PlainLlama();
  config.architecture = Architecture::kGemma2;
  config.norms_after = true;
  config.layers = 3;
  config.layer_kinds.assign(3, {});
  config.layer_kinds[1] = {.windowed = false};
  config.sliding_window = 19;
  config.activation = Activation::kGeluTanh;
  config.embedding_scale = std::sqrt(static_cast<float>(config.hidden_size));
  config.attention_scale = 0.25;
  config.attention_cap = 1.5;
  config.logit_cap = 2;
  return config;
}

// The layers with the window have a rotation of their own.
TrunkConfig Gemma3Layout() {
  TrunkConfig config = Gemma2Layout();
  config.architecture = Architecture::kGemma3;
  config.attention_cap = config.logit_cap = 0;
  config.qk_norm = true;
  for (LayerKind& kind : config.layer_kinds) kind.local = kind.windowed;
  config.rope_theta = 1e6f;
  config.local_rope_theta = 100;
  config.context_length = 128;
  config.rope = {
      .kind = RopeKind::kLinear, .factor = 4, .original_context = 32};
  return config;
}

TrunkConfig Qwen3MoeLayout(bool shares_sum_to_one) {
  TrunkConfig config = Qwen3();
  config.architecture = Architecture::kQwen3Moe;
  config.intermediate_size = 38;
  config.experts = 7;
  config.chosen_experts = 3;
  config.expert_shares_sum_to_one = shares_sum_to_one;
  return config;
}

TrunkConfig MixtralLayout(int chosen) {
  TrunkConfig config = Mistral(0);
  config.architecture = Architecture::kMixtral;
  config.experts = 4;
  config.chosen_experts = chosen;
  return config;
}

TrunkConfig Gpt2Layout() {
  TrunkConfig config = PlainLlama();
  config.architecture = Architecture::kGpt2;
  config.kv_heads = config.heads;
  config.rms_norm_eps = 1e-5f;
  config.norm = NormKind::kLayer;
  config.activation = Activation::kGeluTanh;
  config.gated = false;
  config.learned_positions = true;
  config.qkv_bias = config.output_bias = config.mlp_bias = true;
  return config;
}

TrunkConfig Classifier(TrunkConfig config, HeadKind head) {
  config.lm_head = false;
  config.tied_embeddings = false;
  config.head = head;
  config.head_labels = head == HeadKind::kSequenceClassification ? 1 : 3;
  config.head_bias = head == HeadKind::kTokenClassification;
  return config;
}

}  // namespace

json HfConfigJson(const TrunkConfig& c) {
  json out = IsGpt2(c) ? Gpt2Json(c) : RotaryJson(c);
  out["architectures"] = {ClassName(c)};
  out["vocab_size"] = c.vocab_size;
  out["tie_word_embeddings"] = c.tied_embeddings;
  out["eos_token_id"] = c.end_token < 0 ? json(nullptr) : json(c.end_token);
  if (!c.more_end_tokens.empty()) {
    json list = json::array({c.end_token});
    for (const int32_t more : c.more_end_tokens) list.push_back(more);
    out["eos_token_id"] = list;
  }
  if (c.reward_head) {
    // Levels as the documentation of the format spells them.
    json outputs = json::array();
    for (const LevelSet output : c.reward_outputs) {
      std::string name;
      for (size_t l = 0; l < kLevels; ++l) {
        if (!output.has(static_cast<Level>(l))) continue;
        absl::StrAppend(&name, name.empty() ? "" : "+",
                        std::string(kLevelNames[l]));
      }
      outputs.push_back(name);
    }
    out["espalier_heads"] = {{"reward", outputs}};
    if (c.reward_ensemble > 1) {
      out["espalier_heads"]["ensemble"] = c.reward_ensemble;
    }
  }
  if (!c.lm_head) {
    for (int i = 0; i < c.head_labels; ++i) {
      out["id2label"][absl::StrCat(i)] = absl::StrCat("LABEL_", i);
    }
  }
  return out;
}

std::vector<HfTensor> HfTensors(const TrunkConfig& config) {
  if (IsGpt2(config)) return Gpt2Tensors(config);
  std::vector<HfTensor> out = RotaryTensors(config);
  for (HfTensor& tensor : out) {
    if (IsGemma(config) && tensor.kind == Kind::kNorm) {
      tensor.kind = Kind::kOffsetNorm;
    }
  }
  return out;
}

std::vector<NamedConfig> EveryNetwork() {
  TrunkConfig untied = PlainLlama(), heads = PlainLlama(),
              single = PlainLlama(), biased = PlainLlama(),
              untied_qwen = Qwen2(), window_qwen = Qwen2(), yarn_qwen = Qwen2();
  untied.tied_embeddings = false;
  heads.kv_heads = heads.heads;
  single.kv_heads = 1;
  biased.qkv_bias = biased.output_bias = biased.mlp_bias = true;
  untied_qwen.tied_embeddings = false;
  window_qwen.sliding_window = 23;
  yarn_qwen.context_length = 128;
  yarn_qwen.rope = {
      .kind = RopeKind::kYarn, .factor = 4, .original_context = 32};
  yarn_qwen.rope_theta = 1e6f;
  TrunkConfig some_windows = window_qwen, biased_granite = GraniteLayout();
  some_windows.layer_kinds = {{.windowed = false}, {}};
  biased_granite.qkv_bias = biased_granite.output_bias = true;
  biased_granite.mlp_bias = true;
  TrunkConfig llama3 = Scaled(RopeKind::kLlama3);
  llama3.context_length = 512;
  return {
      {"Llama", PlainLlama()},
      {"LlamaWithRewardHead", TinyConfig()},
      {"LlamaUntied", untied},
      {"LlamaAllKvHeads", heads},
      {"LlamaOneKvHead", single},
      {"LlamaBiased", biased},
      {"LlamaLinear", Scaled(RopeKind::kLinear)},
      {"LlamaDynamic", Scaled(RopeKind::kDynamic)},
      {"LlamaLlama3", llama3},
      {"LlamaYarn", Scaled(RopeKind::kYarn)},
      {"MistralWindow", Mistral(19)},
      {"MistralOfOnePage", Mistral(64)},
      {"MistralWithoutWindow", Mistral(0)},
      {"Qwen2", Qwen2()},
      {"Qwen2Untied", untied_qwen},
      {"Qwen2Window", window_qwen},
      {"Qwen2Yarn", yarn_qwen},
      {"Qwen3", Qwen3()},
      {"Qwen2SomeWindows", some_windows},
      {"Granite", GraniteLayout()},
      {"GraniteBiased", biased_granite},
      {"SmolLm3", SmolLm3Layout(0)},
      {"SmolLm3Window", SmolLm3Layout(17)},
      {"Olmo2", Olmo2Layout()},
      {"Olmo3", Olmo3Layout()},
      {"Phi3", Phi3Layout(0, 0)},
      {"Phi3PartialWindow", Phi3Layout(6, 21)},
      {"Phi3LongRope", LongRopeLayout()},
      {"Glm", GlmLayout(Architecture::kGlm)},
      {"Glm4", GlmLayout(Architecture::kGlm4)},
      {"Gemma2", Gemma2Layout()},
      {"Gemma3", Gemma3Layout()},
      {"Qwen3Moe", Qwen3MoeLayout(true)},
      {"Qwen3MoeShares", Qwen3MoeLayout(false)},
      {"Mixtral", MixtralLayout(2)},
      {"MixtralAllExperts", MixtralLayout(4)},
      {"Gpt2", Gpt2Layout()},
      {"LlamaSequenceClassifier",
       Classifier(PlainLlama(), HeadKind::kSequenceClassification)},
      {"LlamaTokenClassifier",
       Classifier(PlainLlama(), HeadKind::kTokenClassification)},
      {"Qwen2SequenceClassifier",
       Classifier(Qwen2(), HeadKind::kSequenceClassification)},
      {"Qwen2TokenClassifier",
       Classifier(Qwen2(), HeadKind::kTokenClassification)},
  };
}

}  // namespace espalier
