#include "models/checkpoint/trunk_config_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/hf_layout.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// The most memory that this process has had.
int64_t PeakKib() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TrunkConfig Parse(const json& config) {
  const auto parsed = ParseTrunkConfig(config.dump(), "config.json");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *parsed : TrunkConfig();
}

// The error for `config` with `change` merged in; a null is stored as a value
// and removes nothing.
std::string Refused(json config, const json& change) {
  config.update(change);
  const auto parsed = ParseTrunkConfig(config.dump(), "some/config.json");
  EXPECT_FALSE(parsed.ok()) << change;
  return std::string(parsed.status().message());
}

// As published in meta-llama/Llama-3.1-8B.
json Llama31() {
  return json::parse(R"({
    "architectures": ["LlamaForCausalLM"], "attention_bias": false,
    "attention_dropout": 0.0, "bos_token_id": 128000,
    "eos_token_id": [128001, 128008, 128009], "hidden_act": "silu",
    "hidden_size": 4096, "initializer_range": 0.02,
    "intermediate_size": 14336, "max_position_embeddings": 131072,
    "mlp_bias": false, "model_type": "llama", "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 8, "pretraining_tp": 1,
    "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 8.0,
      "high_freq_factor": 4.0, "low_freq_factor": 1.0,
      "original_max_position_embeddings": 8192, "rope_type": "llama3"},
    "rope_theta": 500000.0, "tie_word_embeddings": false,
    "torch_dtype": "bfloat16", "use_cache": true, "vocab_size": 128256})");
}

// As published in Qwen/Qwen2.5-1.5B.
json Qwen25() {
  return json::parse(R"({
    "architectures": ["Qwen2ForCausalLM"], "bos_token_id": 151643,
    "eos_token_id": 151643, "hidden_act": "silu", "hidden_size": 1536,
    "intermediate_size": 8960, "max_position_embeddings": 131072,
    "max_window_layers": 28, "model_type": "qwen2",
    "num_attention_heads": 12, "num_hidden_layers": 28,
    "num_key_value_heads": 2, "rms_norm_eps": 1e-06,
    "rope_theta": 1000000.0, "sliding_window": 131072,
    "tie_word_embeddings": true, "use_mrope": false,
    "use_sliding_window": false, "vocab_size": 151936})");
}

// As published in openai-community/gpt2, with its older keys.
json Gpt2() {
  return json::parse(R"({
    "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.1, "bos_token_id": 50256, "eos_token_id": 50256,
    "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024,
    "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
    "task_specific_params": {"text-generation": {"max_length": 50}},
    "vocab_size": 50257})");
}

TEST(TrunkConfigJsonTest, APublishedLlamaIsRead) {
  const TrunkConfig c = Parse(Llama31());
  EXPECT_EQ(c.architecture, Architecture::kLlama);
  EXPECT_EQ(c.head_dim, 128);
  EXPECT_EQ(c.kv_heads, 8);
  EXPECT_EQ(c.context_length, 131072);
  EXPECT_EQ(c.rope_theta, 500000.0f);
  EXPECT_EQ(c.rope.kind, RopeKind::kLlama3);
  EXPECT_EQ(c.rope.factor, 8);
  EXPECT_EQ(c.rope.original_context, 8192);
  EXPECT_EQ(c.rope.low_freq_factor, 1);
  EXPECT_EQ(c.rope.high_freq_factor, 4);
  EXPECT_EQ(c.end_token, 128001);
  EXPECT_THAT(c.more_end_tokens, ElementsAre(128008, 128009));
  EXPECT_FALSE(c.tied_embeddings || c.qkv_bias || c.output_bias || c.qk_norm);
  EXPECT_TRUE(c.lm_head && c.gated);
  EXPECT_EQ(ClassName(c), "LlamaForCausalLM");
}

TEST(TrunkConfigJsonTest, APublishedQwenIsRead) {
  const TrunkConfig c = Parse(Qwen25());
  EXPECT_EQ(c.architecture, Architecture::kQwen2);
  EXPECT_TRUE(c.qkv_bias && c.tied_embeddings);
  EXPECT_FALSE(c.output_bias || c.mlp_bias || c.qk_norm);
  EXPECT_EQ(c.head_dim, 128);
  EXPECT_EQ(c.sliding_window, 0);
  EXPECT_EQ(c.rope.kind, RopeKind::kDefault);
}

TEST(TrunkConfigJsonTest, APublishedGpt2IsRead) {
  const TrunkConfig c = Parse(Gpt2());
  EXPECT_EQ(c.architecture, Architecture::kGpt2);
  EXPECT_EQ(c.norm, NormKind::kLayer);
  EXPECT_EQ(c.activation, Activation::kGeluTanh);
  EXPECT_EQ(c.intermediate_size, 3072);
  EXPECT_EQ(c.head_dim, 64);
  EXPECT_EQ(c.kv_heads, 12);
  EXPECT_EQ(c.context_length, 1024);
  EXPECT_EQ(c.rms_norm_eps, 1e-5f);
  EXPECT_TRUE(c.learned_positions && c.tied_embeddings && c.qkv_bias &&
              c.output_bias && c.mlp_bias);
  EXPECT_FALSE(c.gated);
}

class EveryConfigTest : public testing::TestWithParam<NamedConfig> {};

TEST_P(EveryConfigTest, SaysWhatItWasWrittenFrom) {
  const TrunkConfig& expected = GetParam().config;
  const TrunkConfig c = Parse(HfConfigJson(expected));
  EXPECT_EQ(HfConfigJson(c), HfConfigJson([&] {
              TrunkConfig with_default = expected;
              if (c.rope.kind == RopeKind::kYarn &&
                  expected.rope.attention_factor == 0) {
                with_default.rope.attention_factor = 0.1 * std::log(4.0) + 1;
              }
              return with_default;
            }()));
  EXPECT_EQ(c.architecture, expected.architecture);
  EXPECT_EQ(c.norm, expected.norm);
  EXPECT_EQ(c.activation, expected.activation);
  EXPECT_EQ(c.gated, expected.gated);
  EXPECT_EQ(c.learned_positions, expected.learned_positions);
  EXPECT_EQ(c.qkv_bias, expected.qkv_bias);
  EXPECT_EQ(c.output_bias, expected.output_bias);
  EXPECT_EQ(c.mlp_bias, expected.mlp_bias);
  EXPECT_EQ(c.qk_norm, expected.qk_norm);
  EXPECT_EQ(c.qk_norm_rows, expected.qk_norm_rows);
  EXPECT_EQ(c.norms_before, expected.norms_before);
  EXPECT_EQ(c.norms_after, expected.norms_after);
  EXPECT_EQ(c.sliding_window, expected.sliding_window);
  for (int i = 0; i < c.layers; ++i) {
    EXPECT_EQ(c.window(i), expected.window(i)) << i;
    EXPECT_EQ(c.kind(i).rotated, expected.kind(i).rotated) << i;
    EXPECT_EQ(c.kind(i).local, expected.kind(i).local) << i;
  }
  EXPECT_EQ(c.local_rope_theta, expected.local_rope_theta);
  EXPECT_EQ(c.rotary(), expected.rotary());
  EXPECT_EQ(c.rope.divisors, expected.rope.divisors);
  EXPECT_EQ(c.embedding_scale, expected.embedding_scale);
  EXPECT_EQ(c.residual_scale, expected.residual_scale);
  EXPECT_EQ(c.attention_scale, expected.attention_scale);
  EXPECT_EQ(c.logit_scale, expected.logit_scale);
  EXPECT_EQ(c.attention_cap, expected.attention_cap);
  EXPECT_EQ(c.logit_cap, expected.logit_cap);
  EXPECT_EQ(c.experts, expected.experts);
  EXPECT_EQ(c.chosen_experts, expected.chosen_experts);
  EXPECT_EQ(c.expert_shares_sum_to_one, expected.expert_shares_sum_to_one);
  EXPECT_EQ(c.context_length, expected.context_length);
  EXPECT_EQ(c.head_dim, expected.head_dim);
  EXPECT_EQ(c.lm_head, expected.lm_head);
  EXPECT_EQ(c.head, expected.head);
  EXPECT_EQ(c.head_labels, expected.head_labels);
  EXPECT_EQ(c.head_bias, expected.head_bias);
}

INSTANTIATE_TEST_SUITE_P(All, EveryConfigTest,
                         testing::ValuesIn(EveryNetwork()),
                         [](const auto& info) { return info.param.name; });

TEST(TrunkConfigJsonTest, MissingKeysTakeTheDefaultsOfTheirClass) {
  const TrunkConfig llama = Parse({{"model_type", "llama"}});
  EXPECT_EQ(llama.vocab_size, 32000);
  EXPECT_EQ(llama.intermediate_size, 11008);
  EXPECT_EQ(llama.kv_heads, 32);
  EXPECT_EQ(llama.context_length, 2048);
  EXPECT_EQ(llama.end_token, 2);
  EXPECT_FALSE(llama.tied_embeddings);
  const TrunkConfig mistral = Parse({{"model_type", "mistral"}});
  EXPECT_EQ(mistral.intermediate_size, 14336);
  EXPECT_EQ(mistral.kv_heads, 8);
  EXPECT_EQ(mistral.sliding_window, 4096);
  EXPECT_EQ(mistral.context_length, 131072);
  const TrunkConfig qwen2 = Parse({{"model_type", "qwen2"}});
  EXPECT_EQ(qwen2.vocab_size, 151936);
  EXPECT_EQ(qwen2.head_dim, 128);
  EXPECT_EQ(qwen2.context_length, 32768);
  EXPECT_EQ(qwen2.end_token, -1);
  EXPECT_EQ(qwen2.sliding_window, 0);
  const TrunkConfig qwen3 =
      Parse({{"model_type", "qwen3"}, {"hidden_size", 1024}});
  EXPECT_EQ(qwen3.head_dim, 128);
  EXPECT_TRUE(qwen3.qk_norm);
  const TrunkConfig gpt2 = Parse({{"model_type", "gpt2"}});
  EXPECT_EQ(gpt2.hidden_size, 768);
  EXPECT_EQ(gpt2.intermediate_size, 3072);
  EXPECT_EQ(gpt2.end_token, 50256);
  EXPECT_TRUE(gpt2.tied_embeddings);
}

TEST(TrunkConfigJsonTest, NullIsNotTheSameAsMissing) {
  const json mistral = {{"model_type", "mistral"},
                        {"sliding_window", nullptr},
                        {"num_key_value_heads", nullptr},
                        {"eos_token_id", nullptr}};
  const TrunkConfig c = Parse(mistral);
  EXPECT_EQ(c.sliding_window, 0);
  EXPECT_EQ(c.kv_heads, 32);
  EXPECT_EQ(c.end_token, -1);
}

TEST(TrunkConfigJsonTest, ScaledRotationsReachAsFarAsTheyScale) {
  json config = Llama31();
  config["max_position_embeddings"] = 4096;
  config["rope_scaling"] = {{"type", "linear"}, {"factor", 2.5}};
  EXPECT_EQ(Parse(config).context_length, 4096);
  // As in deepseek-coder-6.7b-base: 4,096 positions, scaled by four.
  config["max_position_embeddings"] = 16384;
  config["rope_scaling"] = {{"type", "linear"}, {"factor", 4.0}};
  EXPECT_EQ(Parse(config).context_length, 16384);
  EXPECT_EQ(Parse(config).rope.original_context, 4096);
  config["max_position_embeddings"] = 4096;
  config["rope_scaling"] = {{"rope_type", "dynamic"}, {"factor", 4}};
  EXPECT_EQ(Parse(config).context_length, 16384);
  EXPECT_EQ(Parse(config).rope.original_context, 4096);
  config["rope_scaling"] = {{"rope_type", "yarn"}, {"factor", 4.0}};
  EXPECT_EQ(Parse(config).context_length, 16384);
  config["rope_scaling"]["original_max_position_embeddings"] = 2048;
  EXPECT_EQ(Parse(config).context_length, 8192);
  EXPECT_EQ(Parse(config).rope.original_context, 2048);
  // Without a factor: the new context length over the original one.
  config["rope_scaling"].erase("factor");
  EXPECT_EQ(Parse(config).rope.factor, 2);
}

TEST(TrunkConfigJsonTest, YarnScalesAttentionAsGivenOrByItsFormula) {
  json config = Llama31();
  json& yarn = config["rope_scaling"];
  yarn = {{"rope_type", "yarn"}, {"factor", 40.0}};
  EXPECT_DOUBLE_EQ(Parse(config).rope.attention_factor,
                   0.1 * std::log(40.0) + 1);
  // DeepSeek's two scales.
  yarn["mscale"] = 1.0;
  yarn["mscale_all_dim"] = 0.5;
  EXPECT_DOUBLE_EQ(Parse(config).rope.attention_factor,
                   (0.1 * std::log(40.0) + 1) / (0.05 * std::log(40.0) + 1));
  yarn["attention_factor"] = 0.75;
  yarn["beta_fast"] = 16;
  EXPECT_EQ(Parse(config).rope.attention_factor, 0.75);
  EXPECT_EQ(Parse(config).rope.beta_fast, 16);
}

TEST(TrunkConfigJsonTest, RopeParametersOfNewerConfigsCount) {
  json config = Llama31();
  json parameters = config["rope_scaling"];
  parameters["rope_theta"] = 777.0;
  config["rope_parameters"] = parameters;
  config.erase("rope_scaling");
  config.erase("rope_theta");
  EXPECT_EQ(Parse(config).rope_theta, 777.0f);
  EXPECT_EQ(Parse(config).rope.kind, RopeKind::kLlama3);
  config["rope_parameters"] = {{"rope_theta", 5.0}};
  EXPECT_EQ(Parse(config).rope_theta, 5.0f);
  EXPECT_EQ(Parse(config).rope.kind, RopeKind::kDefault);
}

TEST(TrunkConfigJsonTest, LayersHaveTheWindowOrNot) {
  json config = Qwen25();
  config.update({{"use_sliding_window", true}, {"sliding_window", 512}});
  EXPECT_EQ(Parse(config).sliding_window, 0);  // from layer 28 of 28, so none
  config["max_window_layers"] = 14;
  EXPECT_EQ(Parse(config).window(13), 0);
  EXPECT_EQ(Parse(config).window(14), 512);
  EXPECT_THAT(Refused(config, {{"max_window_layers", -1}}),
              HasSubstr("\"max_window_layers\": found -1"));
  config["max_window_layers"] = 0;
  EXPECT_EQ(Parse(config).window(0), 512);
  std::vector<std::string> types(28, "sliding_attention");
  types[5] = "full_attention";
  config["layer_types"] = types;
  EXPECT_EQ(Parse(config).window(4), 512);
  EXPECT_EQ(Parse(config).window(5), 0);
  EXPECT_THAT(Refused(config, {{"use_sliding_window", false}}),
              HasSubstr("\"sliding_window\""));
  types[5] = "chunked_attention";
  EXPECT_THAT(Refused(config, {{"layer_types", types}}),
              HasSubstr("\"layer_types\""));
  types.pop_back();
  EXPECT_THAT(Refused(config, {{"layer_types", types}}),
              HasSubstr("a list of 28 layers' kinds"));
  // Nothing is allocated per layer.
  const int64_t before = PeakKib();
  EXPECT_THAT(Refused(config, {{"num_hidden_layers", 1 << 24}}),
              HasSubstr("\"layer_types\""));
  config.erase("layer_types");
  EXPECT_THAT(Refused(config, {{"num_hidden_layers", 1 << 24}}),
              HasSubstr("\"num_hidden_layers\""));
  EXPECT_LT(PeakKib() - before, 64 << 10);
}

TEST(TrunkConfigJsonTest, PublishedValuesOfNewerArchitectures) {
  // ibm-granite/granite-3.3-2b-instruct
  const TrunkConfig granite = Parse({{"architectures", {"GraniteForCausalLM"}},
                                     {"attention_multiplier", 0.015625},
                                     {"embedding_multiplier", 12.0},
                                     {"logits_scaling", 8.0},
                                     {"residual_multiplier", 0.22},
                                     {"rope_theta", 10000000.0}});
  EXPECT_EQ(granite.attention_scale, 1 / 64.0f);
  EXPECT_EQ(granite.embedding_scale, 12);
  EXPECT_EQ(granite.logit_scale, 1 / 8.0f);
  EXPECT_EQ(granite.residual_scale, 0.22f);
  // HuggingFaceTB/SmolLM3-3B: each fourth of 36 layers is not rotated.
  const TrunkConfig smol = Parse({{"model_type", "smollm3"}});
  EXPECT_EQ(smol.layers, 36);
  EXPECT_EQ(smol.rope_theta, 2e6f);
  EXPECT_TRUE(smol.tied_embeddings && smol.kind(2).rotated);
  EXPECT_FALSE(smol.kind(3).rotated || smol.kind(35).rotated);
  EXPECT_EQ(smol.window(3), 0);
  // allenai/Olmo-3-7B-Think
  const TrunkConfig olmo3 = Parse({{"architectures", {"Olmo3ForCausalLM"}},
                                   {"max_position_embeddings", 65536},
                                   {"rope_theta", 500000},
                                   {"sliding_window", 4096},
                                   {"rope_scaling",
                                    {{"attention_factor", 1.2079441541679836},
                                     {"factor", 8.0},
                                     {"original_max_position_embeddings", 8192},
                                     {"rope_type", "yarn"}}}});
  EXPECT_EQ(olmo3.context_length, 65536);
  EXPECT_EQ(olmo3.local_rope_theta, 500000);
  EXPECT_TRUE(olmo3.kind(0).local && !olmo3.kind(3).local);
  EXPECT_EQ(olmo3.window(0), 4096);
  EXPECT_EQ(olmo3.window(3), 0);
  EXPECT_FLOAT_EQ(olmo3.rope.attention_factor, 1.2079442f);
  // zai-org/GLM-4-9B-0414
  const TrunkConfig glm = Parse({{"architectures", {"Glm4ForCausalLM"}},
                                 {"partial_rotary_factor", 0.5},
                                 {"head_dim", 128}});
  EXPECT_EQ(glm.rotary(), 64);
  EXPECT_TRUE(glm.qkv_bias && !glm.output_bias && glm.norms_after);
  EXPECT_EQ(Parse({{"architectures", {"GlmForCausalLM"}}}).rotary(), 64);
}

TEST(TrunkConfigJsonTest, PublishedValuesOfGemma) {
  // google/gemma-2-2b states the defaults.
  const TrunkConfig gemma2 = Parse({{"architectures", {"Gemma2ForCausalLM"}},
                                    {"hidden_act", "gelu_pytorch_tanh"}});
  EXPECT_EQ(gemma2.embedding_scale, 48);  // sqrt(2304)
  EXPECT_EQ(gemma2.attention_scale, 1 / 16.0f);
  EXPECT_EQ(gemma2.attention_cap, 50);
  EXPECT_EQ(gemma2.logit_cap, 30);
  EXPECT_EQ(gemma2.window(0), 4096);
  EXPECT_EQ(gemma2.window(1), 0);
  EXPECT_TRUE(gemma2.tied_embeddings && gemma2.norms_after);
  EXPECT_EQ(gemma2.activation, Activation::kGeluTanh);
  // google/gemma-3-1b-it, in the form before and since transformers 5.
  const json older = {{"architectures", {"Gemma3ForCausalLM"}},
                      {"rope_local_base_freq", 10000},
                      {"rope_theta", 1000000},
                      {"sliding_window", 512},
                      {"sliding_window_pattern", 6}};
  const json newer = {
      {"architectures", {"Gemma3ForCausalLM"}},
      {"rope_parameters",
       {{"full_attention",
         {{"rope_theta", 1e6}, {"rope_type", "linear"}, {"factor", 8.0}}},
        {"sliding_attention",
         {{"rope_theta", 1e4}, {"rope_type", "default"}}}}},
      {"sliding_window", 512}};
  for (const json& config : {older, newer}) {
    const TrunkConfig c = Parse(config);
    EXPECT_EQ(c.rope_theta, 1e6f);
    EXPECT_EQ(c.local_rope_theta, 1e4f);
    EXPECT_EQ(c.window(4), 512);
    EXPECT_EQ(c.window(5), 0);
    EXPECT_TRUE(c.kind(4).local && !c.kind(5).local);
    EXPECT_EQ(c.attention_cap, 0);
    EXPECT_EQ(c.logit_cap, 0);
  }
  EXPECT_EQ(Parse(newer).rope.kind, RopeKind::kLinear);
  // google/gemma-3-4b-it, which reads images too.
  const TrunkConfig text =
      Parse({{"architectures", {"Gemma3ForConditionalGeneration"}},
             {"eos_token_id", {1, 106}},
             {"text_config",
              {{"hidden_size", 2560},
               {"intermediate_size", 10240},
               {"model_type", "gemma3_text"},
               {"num_hidden_layers", 34},
               {"rope_scaling", {{"factor", 8.0}, {"rope_type", "linear"}}},
               {"sliding_window", 1024}}}});
  EXPECT_TRUE(text.reads_images);
  EXPECT_EQ(text.hidden_size, 2560);
  EXPECT_EQ(text.layers, 34);
  EXPECT_EQ(text.window(0), 1024);
  EXPECT_TRUE(text.IsEnd(106));
}

TEST(TrunkConfigJsonTest, PublishedValuesOfExperts) {
  // Qwen/Qwen3-30B-A3B
  const TrunkConfig qwen = Parse({{"architectures", {"Qwen3MoeForCausalLM"}},
                                  {"intermediate_size", 6144},
                                  {"moe_intermediate_size", 768},
                                  {"norm_topk_prob", true},
                                  {"num_experts", 128},
                                  {"num_experts_per_tok", 8}});
  EXPECT_EQ(qwen.experts, 128);
  EXPECT_EQ(qwen.chosen_experts, 8);
  EXPECT_EQ(qwen.intermediate_size, 768);
  EXPECT_TRUE(qwen.expert_shares_sum_to_one && qwen.qk_norm);
  // mistralai/Mixtral-8x7B-v0.1 states the defaults.
  const TrunkConfig mixtral = Parse({{"model_type", "mixtral"}});
  EXPECT_EQ(mixtral.experts, 8);
  EXPECT_EQ(mixtral.chosen_experts, 2);
  EXPECT_EQ(mixtral.rope_theta, 1e6f);
  EXPECT_EQ(mixtral.sliding_window, 0);
}

TEST(TrunkConfigJsonTest, LongRopeIsUsedUpToTheOriginalLength) {
  // The keys of microsoft/Phi-4-mini-instruct, with fewer pairs.
  const json config = {{"architectures", {"Phi3ForCausalLM"}},
                       {"hidden_size", 64},
                       {"num_attention_heads", 4},
                       {"partial_rotary_factor", 0.75},
                       {"max_position_embeddings", 131072},
                       {"original_max_position_embeddings", 4096},
                       {"rope_scaling",
                        {{"type", "longrope"},
                         {"short_factor", {1, 1, 1, 1, 1, 1.5}},
                         {"long_factor", {1, 1.1, 2, 8, 20, 32}}}}};
  const TrunkConfig c = Parse(config);
  EXPECT_EQ(c.rotary(), 12);
  EXPECT_EQ(c.rope.kind, RopeKind::kLongRope);
  EXPECT_EQ(c.rope.divisors.back(), 1.5);
  EXPECT_EQ(c.context_length, 4096);
  // sqrt(1 + ln 32 / ln 4096) = sqrt(1 + 5 / 12)
  EXPECT_NEAR(c.rope.attention_factor, std::sqrt(17.0 / 12), 1e-12);
  for (const char* list : {"short_factor", "long_factor"}) {
    json wrong = config;
    wrong["rope_scaling"][list] = {1, 1};
    EXPECT_THAT(Refused(wrong, json::object()),
                HasSubstr(absl::StrCat("\"", list, "\" of 6 numbers")));
    wrong["rope_scaling"][list] = {1, 1, 1, 1, 1, 0};
    EXPECT_THAT(Refused(wrong, json::object()), HasSubstr("rope_scaling"));
  }
}

TEST(TrunkConfigJsonTest, BadKeysOfNewerArchitecturesAreNamed) {
  const auto refused = [](const char* name, const char* key, json value) {
    EXPECT_THAT(Refused({{"architectures", {name}}}, {{key, value}}),
                HasSubstr(absl::StrCat("key \"", key, "\"")))
        << name;
  };
  refused("GraniteForCausalLM", "logits_scaling", 0);
  refused("GraniteForCausalLM", "residual_multiplier", "1");
  refused("SmolLM3ForCausalLM", "no_rope_layers", {1, 0});
  refused("SmolLM3ForCausalLM", "no_rope_layers", std::vector<int>(36, 2));
  refused("SmolLM3ForCausalLM", "no_rope_layer_interval", 0);
  refused("Olmo3ForCausalLM", "layer_types", json::array());
  refused("Olmo3ForCausalLM", "sliding_window", 0);
  refused("Phi3ForCausalLM", "partial_rotary_factor", 0.01);
  refused("Glm4ForCausalLM", "partial_rotary_factor", 1.5);
  refused("Gemma2ForCausalLM", "attn_logit_softcapping", -1);
  refused("Gemma2ForCausalLM", "hidden_activation", "gelu");
  refused("Gemma2ForCausalLM", "query_pre_attn_scalar", 0);
  refused("Gemma3ForCausalLM", "layer_types", {"full_attention"});
  refused("Gemma3ForCausalLM", "sliding_window_pattern", 0);
  refused("Gemma3ForCausalLM", "use_bidirectional_attention", true);
  refused("Gemma3ForCausalLM", "rope_parameters",
          {{"full_attention", {{"rope_type", "default"}}},
           {"sliding_attention", {{"rope_type", "yarn"}}}});
  refused("MixtralForCausalLM", "num_experts_per_tok", 9);
  refused("MixtralForCausalLM", "num_local_experts", 1 << 20);
  refused("Qwen3MoeForCausalLM", "num_experts_per_tok", 129);
  refused("Qwen3MoeForCausalLM", "mlp_only_layers", {3});
  refused("Qwen3MoeForCausalLM", "decoder_sparse_step", 2);
  refused("Qwen3MoeForCausalLM", "use_sliding_window", true);
}

TEST(TrunkConfigJsonTest, LabelsAreCounted) {
  json config = Qwen25();
  config["architectures"] = {"Qwen2ForSequenceClassification"};
  TrunkConfig c = Parse(config);
  EXPECT_EQ(c.head, HeadKind::kSequenceClassification);
  EXPECT_EQ(c.head_labels, 2);  // the default of transformers
  EXPECT_FALSE(c.lm_head || c.head_bias);
  config["num_labels"] = 5;
  EXPECT_EQ(Parse(config).head_labels, 5);
  config["id2label"] = {{"0", "LABEL_0"}};
  EXPECT_EQ(Parse(config).head_labels, 1);
  config["architectures"] = {"Qwen2ForTokenClassification"};
  EXPECT_TRUE(Parse(config).head_bias);
}

TEST(TrunkConfigJsonTest, WhatIsNotSupportedIsRefusedByName) {
  const json scaled = {{"rope_type", "linear"}, {"factor", 2.0}};
  const std::vector<std::pair<json, std::vector<std::pair<std::string, json>>>>
      wrong = {{Llama31(),
                {{"architectures", {"OPTForCausalLM"}},
                 {"architectures", json::array()},
                 {"architectures", {"LlamaForCausalLM", "LlamaForCausalLM"}},
                 {"architectures", "LlamaForCausalLM"},
                 {"architectures", 3},
                 {"hidden_act", "gelu"},
                 {"attention_bias", "yes"},
                 {"quantization_config", {{"bits", 4}}},
                 {"sliding_window", 4096},
                 {"vocab_size", 0},
                 {"vocab_size", nullptr},
                 {"hidden_size", 1e12},
                 {"num_hidden_layers", uint64_t{1} << 40},
                 {"num_attention_heads", 3},
                 {"num_key_value_heads", 5},
                 {"head_dim", 7},
                 {"rms_norm_eps", 0},
                 {"rms_norm_eps", 1e-50},  // 0 in fp32
                 {"rope_theta", -1},
                 {"partial_rotary_factor", 0.5},
                 {"tie_word_embeddings", 1},
                 {"eos_token_id", 128256},
                 {"eos_token_id", {1, 128256}},
                 {"eos_token_id", json::array()},
                 {"eos_token_id", {{1}}},
                 {"espalier_heads", {{"reward", {"stp"}}}},
                 {"rope_scaling", "linear"},
                 {"rope_scaling", {{"rope_type", "longrope"}, {"factor", 2}}},
                 {"rope_scaling", {{"rope_type", 3}}},
                 {"rope_scaling", {{"type", "linear"}}},
                 {"rope_scaling", {{"type", "linear"}, {"factor", 0}}},
                 {"rope_scaling", {{"type", "linear"}, {"factor", 1e20}}},
                 {"rope_scaling", {{"type", "dynamic"}, {"factor", "big"}}},
                 {"rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}}},
                 {"rope_scaling",
                  {{"rope_type", "yarn"}, {"factor", 4}, {"truncate", false}}},
                 {"rope_scaling",
                  {{"rope_type", "yarn"},
                   {"factor", 4},
                   {"original_max_position_embeddings", 0.5}}},
                 {"rope_scaling", {{"full_attention", scaled}}}}},
               {Qwen25(), {{"use_sliding_window", 1}, {"layer_types", 3}}},
               {Gpt2(),
                {{"n_head", 5},
                 {"n_inner", 0},
                 {"activation_function", "relu"},
                 {"scale_attn_weights", false},
                 {"scale_attn_by_inverse_layer_idx", true},
                 {"add_cross_attention", true}}}};
  for (const auto& [base, changes] : wrong) {
    for (const auto& [key, value] : changes) {
      const std::string message = Refused(base, {{key, value}});
      EXPECT_THAT(message, HasSubstr("some/config.json")) << key;
      EXPECT_THAT(message, HasSubstr("\"" + key + "\"")) << value;
    }
  }
}

TEST(TrunkConfigJsonTest, MalformedJsonIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("3"),
        std::string(100000, '['), std::string("{\"a\": \xff}")}) {
    EXPECT_FALSE(ParseTrunkConfig(text, "c").ok());
  }
}

TEST(TrunkConfigJsonTest, EndTokensOfBothFilesCount) {
  const std::string folder = TempFolder();
  const auto put = [&](const char* name, const json& content) {
    ASSERT_TRUE(WriteFileAtomic(folder + "/" + name, content.dump()).ok());
  };
  put("config.json", Qwen25());
  put("generation_config.json", {{"eos_token_id", {151645, 151643}}});
  auto config = ReadTrunkConfig(folder);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->end_token, 151643);
  EXPECT_THAT(config->more_end_tokens, ElementsAre(151645));
  EXPECT_TRUE(config->IsEnd(151645));
  put("generation_config.json", {{"eos_token_id", 151936}});
  config = ReadTrunkConfig(folder);
  EXPECT_THAT(std::string(config.status().message()),
              HasSubstr("generation_config.json: key \"eos_token_id\""));
  put("generation_config.json", json::array());
  EXPECT_FALSE(ReadTrunkConfig(folder).ok());
}

}  // namespace
}  // namespace espalier
