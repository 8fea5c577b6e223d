// Networks read from GGUF files that tools/write_gguf.py made from a Hugging
// Face folder, against PlainNetwork on the folder.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "models/checkpoint/safetensors.h"
#include "models/trunk/trunk.h"
#include "tests/models/testing/hf_layout.h"
#include "tests/models/testing/plain_network.h"
#include "tests/models/testing/random_checkpoint.h"
#include "tests/models/testing/trunk_driver.h"

namespace espalier {
namespace {

TrunkConfig Named(const std::string& name) {
  for (const NamedConfig& network : EveryNetwork()) {
    if (network.name == name) return network.config;
  }
  ESP_CHECK(false);
  return {};
}

// Files do not say which layers differ: the architecture's own pattern.
std::vector<NamedConfig> NetworksOfFiles() {
  std::vector<NamedConfig> out;
  for (const char* name :
       {"Llama", "LlamaBiased", "MistralWindow", "Qwen3", "Granite",
        "GraniteBiased", "Olmo2", "Phi3", "Phi3PartialWindow", "Phi3LongRope",
        "Glm4", "Qwen3Moe", "Mixtral"}) {
    out.push_back({name, Named(name)});
  }
  TrunkConfig smol = Named("SmolLm3");
  smol.layers = 5;
  smol.layer_kinds.assign(5, {.windowed = false});
  smol.layer_kinds[3].rotated = false;
  out.push_back({"SmolLm3", smol});
  TrunkConfig olmo = Named("Olmo3");
  olmo.layers = 5;
  olmo.layer_kinds.assign(5, {.local = true});
  olmo.layer_kinds[3] = {.windowed = false};
  olmo.rope = {};
  out.push_back({"Olmo3", olmo});
  TrunkConfig glm = Named("Glm4");
  glm.qkv_bias = true;
  out.push_back({"Glm4Biased", glm});
  TrunkConfig gemma2 = Named("Gemma2");
  gemma2.attention_scale = 1 / std::sqrt(static_cast<float>(gemma2.head_dim));
  out.push_back({"Gemma2", gemma2});
  TrunkConfig gemma3 = Named("Gemma3");
  gemma3.attention_scale = gemma2.attention_scale;
  gemma3.local_rope_theta = 10000;
  gemma3.layers = 7;
  gemma3.layer_kinds.assign(7, {.local = true});
  gemma3.layer_kinds[5] = {.windowed = false};
  out.push_back({"Gemma3", gemma3});
  return out;
}

class GgufNetworkTest : public testing::TestWithParam<NamedConfig> {};

TEST_P(GgufNetworkTest, EqualsThePlainOneOfTheFolder) {
  if (std::system("python3 -c 'import struct' > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "python3 is not there to write the file";
  }
  const std::string folder = TempFolder();
  const TrunkConfig& config = GetParam().config;
  ASSERT_TRUE(WriteRandomCheckpoint(folder, config, 3, DType::kF32).ok());
  const std::string file = folder + "/model.gguf";
  const std::string command = absl::StrCat("python3 tools/write_gguf.py ",
                                           folder, " ", file, " --type f32");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const PlainNetwork plain(folder);
  const auto tokens = DrawTokens(100, config.vocab_size, 4);
  const auto trunk = LoadOrDie(file, {.kernels = "plain"});
  ASSERT_NE(trunk, nullptr);
  EXPECT_EQ(trunk->config().architecture,
            config.architecture == Architecture::kMistral
                ? Architecture::kLlama
                : config.architecture);
  EXPECT_EQ(trunk->config().context_length, config.context_length);
  ExpectEqualsPlain(*trunk, plain, tokens, plain.Hidden(tokens), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(All, GgufNetworkTest,
                         testing::ValuesIn(NetworksOfFiles()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace espalier
