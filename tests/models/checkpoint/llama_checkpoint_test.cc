#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "models/checkpoint/llama_config.h"
#include "models/checkpoint/llama_weights.h"
#include "models/checkpoint/safetensors.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Published() {
  return json::parse(R"({
    "architectures": ["LlamaForCausalLM"], "attention_bias": false,
    "bos_token_id": 128000, "eos_token_id": [128001, 128008, 128009],
    "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 8192,
    "max_position_embeddings": 131072, "mlp_bias": false,
    "model_type": "llama", "num_attention_heads": 32,
    "num_hidden_layers": 16, "num_key_value_heads": 8,
    "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 500000.0,
    "tie_word_embeddings": true, "vocab_size": 128256})");
}

TEST(LlamaConfigTest, APublishedConfigIsRead) {
  const auto config = ParseLlamaConfig(Published().dump(), "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->vocab_size, 128256);
  EXPECT_EQ(config->hidden_size, 2048);
  EXPECT_EQ(config->intermediate_size, 8192);
  EXPECT_EQ(config->layers, 16);
  EXPECT_EQ(config->heads, 32);
  EXPECT_EQ(config->kv_heads, 8);
  EXPECT_EQ(config->head_dim, 64);
  EXPECT_EQ(config->context_length, 131072);
  EXPECT_EQ(config->rms_norm_eps, 1e-5f);
  EXPECT_EQ(config->rope_theta, 500000.0f);
  EXPECT_TRUE(config->tied_embeddings);
  EXPECT_FALSE(config->reward_head);
  EXPECT_EQ(config->end_token, 128001);
  EXPECT_THAT(config->more_end_tokens, testing::ElementsAre(128008, 128009));
}

TEST(LlamaConfigTest, MissingKeysTakeTheirDefaults) {
  const auto config = ParseLlamaConfig(
      R"({"model_type": "llama", "vocab_size": 9, "hidden_size": 32,
          "intermediate_size": 8, "num_hidden_layers": 1,
          "num_attention_heads": 4})",
      "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->kv_heads, 4);
  EXPECT_EQ(config->head_dim, 8);
  EXPECT_EQ(config->context_length, 2048);
  EXPECT_EQ(config->rms_norm_eps, 1e-6f);
  EXPECT_EQ(config->rope_theta, 10000.0f);
  EXPECT_FALSE(config->tied_embeddings);
  EXPECT_EQ(config->end_token, 2);
}

TEST(LlamaConfigTest, RopeParametersOfNewerConfigsCount) {
  json config = Published();
  config.erase("rope_theta");
  config["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 5.0}};
  EXPECT_EQ(ParseLlamaConfig(config.dump(), "c")->rope_theta, 5.0f);
  config["rope_parameters"]["rope_type"] = "llama3";
  EXPECT_FALSE(ParseLlamaConfig(config.dump(), "c").ok());
}

TEST(LlamaConfigTest, AConfigIsReadBackAsWritten) {
  TrunkConfig config = TinyConfig();
  config.rms_norm_eps = 3e-5f;
  config.rope_theta = 12345.0f;
  config.tied_embeddings = false;
  config.more_end_tokens = {3, 5};
  const auto back = ParseLlamaConfig(LlamaConfigJson(config), "c");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(LlamaConfigJson(*back), LlamaConfigJson(config));
  EXPECT_EQ(back->rms_norm_eps, 3e-5f);
  EXPECT_EQ(back->head_dim, 10);
  EXPECT_TRUE(back->reward_head);
  EXPECT_EQ(back->end_token, 1);
}

TEST(LlamaConfigTest, WhatTrainingDoesNotSupportIsRefusedByName) {
  const std::vector<std::pair<std::string, json>> wrong = {
      {"architectures", {"MistralForCausalLM"}},
      {"architectures", "LlamaForCausalLM"},
      {"attention_bias", true},
      {"mlp_bias", true},
      {"hidden_act", "gelu"},
      {"rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}}},
      {"rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}},
      {"quantization_config", {{"bits", 4}}},
      {"vocab_size", 0},
      {"vocab_size", -5},
      {"vocab_size", "many"},
      {"vocab_size", 1.5},
      {"vocab_size", nullptr},
      {"hidden_size", 1e12},
      {"num_hidden_layers", uint64_t{1} << 40},
      {"num_attention_heads", 3},
      {"num_key_value_heads", 5},
      {"head_dim", 7},
      {"rms_norm_eps", 0},
      {"rms_norm_eps", "small"},
      {"rope_theta", -1},
      {"tie_word_embeddings", 1},
      {"eos_token_id", 128256},
      {"eos_token_id", -2},
      {"eos_token_id", json::array()},
      {"espalier_heads", {{"reward", {"stp"}}}},
      {"espalier_heads", {{"value", {"step", "path"}}}},
  };
  for (const auto& [key, value] : wrong) {
    json config = Published();
    config[key] = value;
    const auto parsed = ParseLlamaConfig(config.dump(), "some/config.json");
    ASSERT_FALSE(parsed.ok()) << key << " " << value;
    const std::string message(parsed.status().message());
    EXPECT_THAT(message, HasSubstr("some/config.json"));
    EXPECT_THAT(message, HasSubstr("\"" + key + "\""));
  }
}

TEST(LlamaConfigTest, MalformedJsonIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("3"),
        std::string(100000, '[')}) {
    EXPECT_FALSE(ParseLlamaConfig(text, "c").ok());
  }
}

TEST(LlamaConfigTest, AMissingFolderIsRefused) {
  const std::string folder = TempFolder();
  EXPECT_THAT(std::string(ReadLlamaConfig(folder + "/none").status().message()),
              HasSubstr("expected a model folder"));
  EXPECT_THAT(std::string(ReadLlamaConfig(folder).status().message()),
              HasSubstr("config.json"));
}

TEST(LlamaWeightsTest, EveryDtypeIsReadBackExactly) {
  for (const DType dtype : {DType::kBF16, DType::kF16, DType::kF32}) {
    for (const bool tied : {true, false}) {
      TrunkConfig config = TinyConfig();
      config.tied_embeddings = tied;
      LlamaWeights weights = RandomWeights(config, 5, dtype);
      const std::string folder = TempFolder();
      ASSERT_TRUE(WriteCheckpoint(folder, config, weights, dtype).ok());
      auto read = LoadLlamaWeights(folder, *ReadLlamaConfig(folder));
      ASSERT_TRUE(read.ok()) << read.status();
      const auto expected = LlamaTensors(config, weights);
      const auto found = LlamaTensors(config, *read);
      ASSERT_EQ(expected.size(), found.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(*expected[i].values, *found[i].values) << found[i].name;
      }
    }
  }
}

// Writes a checkpoint whose list of tensors was edited by `change`.
std::string Edited(void (*change)(std::vector<NamedTensor>&)) {
  TrunkConfig config = TinyConfig();
  LlamaWeights weights = RandomWeights(config, 5);
  std::vector<NamedTensor> tensors;
  for (const LlamaTensor& t : LlamaTensors(config, weights)) {
    tensors.push_back(
        {t.name, DType::kF32, t.shape, std::as_bytes(std::span(*t.values))});
  }
  change(tensors);
  const std::string folder = TempFolder();
  EXPECT_TRUE(WriteSafetensors(folder + "/model.safetensors", tensors).ok());
  return std::string(LoadLlamaWeights(folder, config).status().message());
}

TEST(LlamaWeightsTest, MissingExtraAndMisshapenTensorsAreRefused) {
  EXPECT_EQ(Edited([](std::vector<NamedTensor>&) {}), "");
  EXPECT_THAT(
      Edited([](std::vector<NamedTensor>& t) { t.erase(t.begin() + 3); }),
      HasSubstr("expected tensor model.layers.0.self_attn.k_proj.weight"
                " [20, 40], found no such tensor"));
  EXPECT_THAT(Edited([](std::vector<NamedTensor>& t) {
                t.push_back(t[0]);
                t.back().name = "model.layers.2.extra";
              }),
              HasSubstr("found tensor model.layers.2.extra [67, 40]"));
  EXPECT_THAT(Edited([](std::vector<NamedTensor>& t) {
                std::swap(t[0].shape[0], t[0].shape[1]);
              }),
              HasSubstr("tensor model.embed_tokens.weight: expected shape "
                        "[67, 40] from config.json, found [40, 67]"));
  EXPECT_THAT(
      Edited([](std::vector<NamedTensor>& t) { t[0].dtype = DType::kI32; }),
      HasSubstr("expected dtype BF16, F16 or F32, found I32"));
}

TEST(LlamaWeightsTest, ATiedOutputMatrixMayBeStoredOnceMore) {
  EXPECT_EQ(Edited([](std::vector<NamedTensor>& t) {
              t.push_back(t[0]);
              t.back().name = "lm_head.weight";
            }),
            "");
  EXPECT_THAT(Edited([](std::vector<NamedTensor>& t) {
                static const std::vector<float> other(67 * 40, 1.0f);
                t.push_back(t[0]);
                t.back().name = "lm_head.weight";
                t.back().data = std::as_bytes(std::span(other));
              }),
              HasSubstr("found tensor lm_head.weight"));
}

TEST(LlamaWeightsTest, AShardedOrAbsentFileIsRefused) {
  const std::string folder = TempFolder();
  EXPECT_THAT(
      std::string(LoadLlamaWeights(folder, TinyConfig()).status().message()),
      HasSubstr("model.safetensors"));
  ASSERT_TRUE(
      WriteFileAtomic(folder + "/model.safetensors.index.json", "{}").ok());
  EXPECT_THAT(
      std::string(LoadLlamaWeights(folder, TinyConfig()).status().message()),
      HasSubstr("merge"));
}

TEST(LlamaWeightsTest, APublishedCheckpointIsRead) {
  const char* data = std::getenv("ESPALIER_DATA");
  if (data == nullptr) GTEST_SKIP() << "set ESPALIER_DATA to the data folder";
  const std::string folder = std::string(data) + "/models/tiny-llama";
  const auto config = ReadLlamaConfig(folder);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->vocab_size, 16);
  EXPECT_EQ(config->head_dim, 32);
  EXPECT_EQ(config->end_token, 1);
  const auto weights = LoadLlamaWeights(folder, *config);
  ASSERT_TRUE(weights.ok()) << weights.status();
  EXPECT_EQ(weights->layers.size(), 4u);
  EXPECT_EQ(weights->lm_head.size(), 16u * 128u);
  // The gpt2 folder next to it has another architecture.
  EXPECT_THAT(std::string(ReadLlamaConfig(std::string(data) +
                                          "/models/tiny-random-gpt2")
                              .status()
                              .message()),
              HasSubstr("GPT2LMHeadModel"));
}

}  // namespace
}  // namespace espalier
