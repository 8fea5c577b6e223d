// The bodies of reward models of foreign classes, as TensorSource shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "models/checkpoint/tensor_source.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/plain_network.h"
#include "tests/models/testing/random_checkpoint.h"
#include "tests/models/testing/reward_checkpoint.h"
#include "tests/models/testing/trunk_driver.h"

namespace espalier {
namespace {

using testing::HasSubstr;

std::vector<float> ReadAll(const TensorSource& source, TensorRole part,
                           int layer) {
  const TensorShape shape = ShapeOf(source.config(), part);
  std::vector<float> out(static_cast<size_t>(shape.rows * shape.columns));
  source.Read(part, layer, 0, shape.rows, out.data());
  return out;
}

void Rewrite(const std::string& folder, const char* key,
             const nlohmann::json& value) {
  const std::string file = folder + "/config.json";
  nlohmann::json config = nlohmann::json::parse(ReadFile(file).value());
  config[key] = value;
  std::ofstream(file) << config.dump();
}

std::string ErrorOf(const std::string& folder, CheckpointPart part) {
  const auto source = TensorSource::Open(folder, part);
  return source.ok() ? "" : std::string(source.status().message());
}

TEST(BodyViewTest, EveryPublishedClassShowsTheBodyItWasMadeFrom) {
  for (const std::string& name : RewardCheckpointNames()) {
    const RewardCheckpoint model = WriteRewardCheckpoint(name, 4);
    const auto body = TensorSource::Open(model.folder, CheckpointPart::kBody);
    ASSERT_TRUE(body.ok()) << name << body.status();
    const auto plain = TensorSource::Open(model.plain).value();
    EXPECT_FALSE((*body)->config().lm_head);
    EXPECT_EQ((*body)->config().head, HeadKind::kNone);
    for (int i = 0; i < kTensorRoles; ++i) {
      const auto part = static_cast<TensorRole>(i);
      if (ShapeOf((*body)->config(), part).rows == 0) continue;
      const int layers = IsLayerTensor(part) ? plain->config().layers : 1;
      for (int layer = 0; layer < layers; ++layer) {
        EXPECT_EQ(ReadAll(**body, part, layer), ReadAll(*plain, part, layer))
            << name << i;
      }
    }
  }
}

TEST(BodyViewTest, LmHeadIsShownOnlyWhenAsked) {
  const RewardCheckpoint wrapped = WriteRewardCheckpoint("skywork_prm", 4);
  const auto with =
      TensorSource::Open(wrapped.folder, CheckpointPart::kBodyAndLmHead);
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_EQ(ReadAll(**with, TensorRole::kLmHead, 0),
            ReadAll(*TensorSource::Open(wrapped.plain).value(),
                    TensorRole::kLmHead, 0));
  const RewardCheckpoint without = WriteRewardCheckpoint("trl", 4);
  EXPECT_THAT(ErrorOf(without.folder, CheckpointPart::kBodyAndLmHead),
              HasSubstr("expected tensor lm_head.weight"));
}

TEST(BodyViewTest, WholeCheckpointsAreAsStrictAsBefore) {
  EXPECT_THAT(ErrorOf(WriteRewardCheckpoint("qwen_prm", 4).folder,
                      CheckpointPart::kAll),
              HasSubstr("Qwen2ForProcessRewardModel"));
  EXPECT_THAT(ErrorOf(WriteRewardCheckpoint("skywork_prm", 4).folder,
                      CheckpointPart::kAll),
              HasSubstr("architectures"));
}

TEST(BodyViewTest, UnknownNetworksAreRefusedByName) {
  const RewardCheckpoint model = WriteRewardCheckpoint("qwen_prm", 4);
  Rewrite(model.folder, "architectures", {"InternLM2ForRewardModel"});
  Rewrite(model.folder, "model_type", "internlm2");
  EXPECT_THAT(ErrorOf(model.folder, CheckpointPart::kBody),
              testing::AllOf(HasSubstr("InternLM2ForRewardModel"),
                             HasSubstr("Llama, Mistral, Qwen2, Qwen3")));
  // A mixture of experts is another network, though its name begins alike.
  Rewrite(model.folder, "architectures", {"Qwen2MoeForProcessRewardModel"});
  Rewrite(model.folder, "model_type", "qwen2_moe");
  EXPECT_THAT(ErrorOf(model.folder, CheckpointPart::kBody),
              HasSubstr("Qwen2MoeForProcessRewardModel"));
}

TEST(BodyViewTest, TensorsOfAnotherBodyAreNotIgnored) {
  // Qwen3 normalises queries and keys, Llama does not.
  const RewardCheckpoint model =
      WriteRewardCheckpoint("skywork_reward_qwen3", 4);
  Rewrite(model.folder, "architectures", {"LlamaForSequenceClassification"});
  Rewrite(model.folder, "model_type", "llama");
  Rewrite(model.folder, "sliding_window", nullptr);
  EXPECT_THAT(ErrorOf(model.folder, CheckpointPart::kBody),
              HasSubstr("self_attn.k_norm.weight"));
}

TEST(BodyViewTest, TrunkOverABodyComputesTheSameRows) {
  for (const char* name : {"qwen_prm", "skywork_prm", "reasoneval"}) {
    const RewardCheckpoint model = WriteRewardCheckpoint(name, 5);
    const auto trunk = LoadOrDie(model.folder, {.part = CheckpointPart::kBody});
    const std::vector<int32_t> tokens =
        DrawTokens(30, trunk->config().vocab_size, 3);
    const auto expected = PlainNetwork(model.plain).Hidden(tokens);
    const std::vector<float> found = Hidden(*trunk, tokens, 7);
    ExpectNear(found.data(), expected.back(), 1e-4, name);
  }
}

}  // namespace
}  // namespace espalier
