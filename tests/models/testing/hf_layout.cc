#include "tests/models/testing/hf_layout.h"

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

std::string ClassName(const TrunkConfig& c) {
  if (IsGpt2(c)) return "GPT2LMHeadModel";
  const char* family = c.architecture == Architecture::kMistral ? "Mistral"
                       : c.architecture == Architecture::kQwen2 ? "Qwen2"
                       : c.architecture == Architecture::kQwen3 ? "Qwen3"
                                                                : "Llama";
  return absl::StrCat(family, c.head == HeadKind::kSequenceClassification
                                  ? "ForSequenceClassification"
                              : c.head == HeadKind::kTokenClassification
                                  ? "ForTokenClassification"
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

json RotaryJson(const TrunkConfig& c) {
  const RopeKind kind = c.rope.kind;
  const bool longer = kind == RopeKind::kDynamic || kind == RopeKind::kYarn;
  json out = {
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
  switch (c.architecture) {
    case Architecture::kLlama:
      out["model_type"] = "llama";
      out["attention_bias"] = c.qkv_bias;
      out["mlp_bias"] = c.mlp_bias;
      break;
    case Architecture::kMistral:
      out["model_type"] = "mistral";
      out["sliding_window"] =
          c.sliding_window > 0 ? json(c.sliding_window) : json(nullptr);
      break;
    case Architecture::kQwen2:
    case Architecture::kQwen3:
      out["model_type"] =
          c.architecture == Architecture::kQwen2 ? "qwen2" : "qwen3";
      if (c.architecture == Architecture::kQwen3) out["attention_bias"] = false;
      out["use_sliding_window"] = c.sliding_window > 0;
      out["sliding_window"] = c.sliding_window > 0 ? c.sliding_window : 4096;
      out["max_window_layers"] = c.sliding_window > 0 ? 0 : c.layers;
      break;
    case Architecture::kGpt2:
      break;
  }
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

std::vector<HfTensor> RotaryTensors(const TrunkConfig& c) {
  const int64_t d = c.hidden_size, f = c.intermediate_size, h = c.head_dim;
  const int64_t q = c.heads * h, kv = c.kv_heads * h;
  List list;
  list.Embedding("model.embed_tokens.weight", c.vocab_size, d);
  for (int i = 0; i < c.layers; ++i) {
    const std::string layer = absl::StrCat("model.layers.", i, ".");
    list.Vector(layer + "input_layernorm.weight", Kind::kNorm, d);
    list.Matrix(layer + "self_attn.q_proj", q, d, c.qkv_bias);
    list.Matrix(layer + "self_attn.k_proj", kv, d, c.qkv_bias);
    list.Matrix(layer + "self_attn.v_proj", kv, d, c.qkv_bias);
    list.Matrix(layer + "self_attn.o_proj", d, q, c.output_bias);
    if (c.qk_norm) {
      list.Vector(layer + "self_attn.q_norm.weight", Kind::kNorm, h);
      list.Vector(layer + "self_attn.k_norm.weight", Kind::kNorm, h);
    }
    list.Vector(layer + "post_attention_layernorm.weight", Kind::kNorm, d);
    list.Matrix(layer + "mlp.gate_proj", f, d, c.mlp_bias);
    list.Matrix(layer + "mlp.up_proj", f, d, c.mlp_bias);
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

TrunkConfig Plain() {
  TrunkConfig config = TinyConfig();
  config.reward_head = false;
  config.head = HeadKind::kNone;
  config.head_labels = 0;
  config.head_bias = false;
  return config;
}

TrunkConfig Scaled(RopeKind kind) {
  TrunkConfig config = Plain();
  config.context_length = 128;
  config.rope = {.kind = kind, .factor = 4, .original_context = 32};
  if (kind == RopeKind::kYarn) config.rope.attention_factor = 1.25;
  return config;
}

TrunkConfig Qwen2() {
  TrunkConfig config = Plain();
  config.architecture = Architecture::kQwen2;
  config.qkv_bias = true;
  return config;
}

TrunkConfig Qwen3() {
  TrunkConfig config = Plain();
  config.architecture = Architecture::kQwen3;
  config.qk_norm = true;
  config.head_dim = 14;  // not hidden_size / heads
  config.tied_embeddings = false;
  return config;
}

TrunkConfig Mistral(int window) {
  TrunkConfig config = Plain();
  config.architecture = Architecture::kMistral;
  config.tied_embeddings = false;
  config.sliding_window = window;
  config.kv_heads = 1;
  return config;
}

TrunkConfig Gpt2Layout() {
  TrunkConfig config = Plain();
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
  return IsGpt2(config) ? Gpt2Tensors(config) : RotaryTensors(config);
}

std::vector<NamedConfig> EveryNetwork() {
  TrunkConfig untied = Plain(), heads = Plain(), single = Plain(),
              biased = Plain(), untied_qwen = Qwen2(), window_qwen = Qwen2(),
              yarn_qwen = Qwen2();
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
  TrunkConfig llama3 = Scaled(RopeKind::kLlama3);
  llama3.context_length = 512;
  return {
      {"Llama", Plain()},
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
      {"Gpt2", Gpt2Layout()},
      {"LlamaSequenceClassifier",
       Classifier(Plain(), HeadKind::kSequenceClassification)},
      {"LlamaTokenClassifier",
       Classifier(Plain(), HeadKind::kTokenClassification)},
      {"Qwen2SequenceClassifier",
       Classifier(Qwen2(), HeadKind::kSequenceClassification)},
      {"Qwen2TokenClassifier",
       Classifier(Qwen2(), HeadKind::kTokenClassification)},
  };
}

}  // namespace espalier
