#include "src/learn/export.h"

#include <torch/torch.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/files.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "models/checkpoint/safetensors.h"
#include "models/differentiable/load_net.h"
#include "models/pages/page_pool.h"
#include "models/trunk/trunk.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

TrunkConfig ExportedConfig() {
  return {.vocab_size = 32,
          .hidden_size = 64,
          .intermediate_size = 96,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 32,
          .context_length = 256,
          .reward_head = true,
          .end_token = 3};
}

class Export : public testing::Test {
 protected:
  void SetUp() override { folder_ = testing::TempDir() + "/export"; }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<net::LlamaNet> ExportedNet(const TrunkConfig& config) {
    auto net = net::LlamaNet::Create(config, 5);
    EXPECT_TRUE(net.ok()) << net.status();
    const absl::Status saved = ExportCheckpoint(**net, "{}", folder_);
    EXPECT_TRUE(saved.ok()) << saved;
    return std::move(*net);
  }

  std::string folder_;
};

TEST_F(Export, LoadedWeightsAreTheExportedOnesRoundedToBf16) {
  const auto net = ExportedNet(ExportedConfig());
  const auto loaded = net::LoadNet(folder_, {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ((*loaded)->config().end_token, 3);
  EXPECT_EQ((*loaded)->config().layers, 2);
  EXPECT_TRUE((*loaded)->config().reward_head);
  EXPECT_TRUE(at::equal((*loaded)->weights(),
                        net->weights().to(at::kBFloat16).to(at::kFloat)));
}

TEST_F(Export, FileHasHuggingFaceNamesAndShapes) {
  ExportedNet(ExportedConfig());
  const auto file = SafetensorsFile::Open(folder_ + "/model.safetensors");
  ASSERT_TRUE(file.ok()) << file.status();
  // 9 tensors per layer, embedding, final norm, and two of the reward head.
  EXPECT_EQ(file->tensors().size(), 2u * 9 + 4);
  const auto shape = [&](const std::string& name) {
    return ShapeText(file->tensors().at(name).shape);
  };
  EXPECT_EQ(shape("model.embed_tokens.weight"), "[32, 64]");
  EXPECT_EQ(shape("model.layers.1.self_attn.k_proj.weight"), "[64, 64]");
  EXPECT_EQ(shape("model.layers.0.self_attn.o_proj.weight"), "[64, 128]");
  EXPECT_EQ(shape("model.layers.0.mlp.down_proj.weight"), "[64, 96]");
  EXPECT_EQ(shape("reward_head.weight"), "[2, 64]");
  EXPECT_EQ(shape("reward_head.bias"), "[2]");
}

TEST_F(Export, AClassifierHasTheNamesAndShapesOfTrl) {
  TrunkConfig config = ExportedConfig();
  config.tied_embeddings = false;
  config.reward_outputs = {Level::kStep};
  const auto net = net::LlamaNet::Create(config, 5).value();
  ASSERT_TRUE(ExportClassifier(*net, "{}", folder_).ok());
  const auto file = SafetensorsFile::Open(folder_ + "/model.safetensors");
  ASSERT_TRUE(file.ok()) << file.status();
  // 9 tensors per layer, embedding, final norm, and the head's two.
  EXPECT_EQ(file->tensors().size(), 2u * 9 + 4);
  EXPECT_TRUE(file->tensors().contains("model.norm.weight"));
  EXPECT_FALSE(file->tensors().contains("lm_head.weight"));
  EXPECT_EQ(ShapeText(file->tensors().at("score.weight").shape), "[2, 64]");
  EXPECT_EQ(ShapeText(file->tensors().at("score.bias").shape), "[2]");
  const auto json =
      nlohmann::json::parse(ReadFile(folder_ + "/config.json").value());
  EXPECT_EQ(json["architectures"].dump(), R"(["LlamaForTokenClassification"])");
  EXPECT_EQ(json["num_labels"], 2);
  EXPECT_EQ(json["id2label"].size(), 2u);
  EXPECT_FALSE(json.contains("espalier_heads"));
  // The difference of the rows is the one output's weight.
  const std::vector<float> rows = file->Floats("score.weight").value();
  const at::Tensor weight =
      net->Parameter("reward_head.weight").value().to(at::kBFloat16);
  for (int64_t i = 0; i < 64; ++i) {
    const auto at = static_cast<size_t>(i);
    EXPECT_EQ(rows[64 + at] - rows[at], weight[0][i].item<float>());
  }
}

TEST_F(Export, NetWithoutRewardHeadCanBeGivenOne) {
  TrunkConfig config = ExportedConfig();
  config.reward_head = false;
  ExportedNet(config);
  const auto loaded = net::LoadNet(folder_, {.add_reward_head = true});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE((*loaded)->config().reward_head);
  EXPECT_GT(
      (*loaded)->Parameter("reward_head.weight")->abs().sum().item<float>(), 0);
}

TEST_F(Export, ANewHeadHasTheRequestedOutputsOnly) {
  TrunkConfig config = ExportedConfig();
  config.reward_head = false;
  ExportedNet(config);
  const std::vector<LevelSet> outputs = {LevelSet(Level::kPath) |
                                         Level::kOutcome};
  const auto loaded = net::LoadNet(
      folder_, {.add_reward_head = true, .reward_outputs = outputs});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ((*loaded)->config().reward_outputs, outputs);
  EXPECT_EQ((*loaded)->Parameter("reward_head.weight")->size(0), 1);
}

TEST_F(Export, MissingFolderIsNamed) {
  const auto loaded = net::LoadNet(folder_ + "/none", {});
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.status().message().find("/none"), absl::string_view::npos);
}

// Training and search compute the same: the trainer's fp32 pass and the
// inference trunk, written independently, agree on one checkpoint.
TEST_F(Export, TrunkComputesWhatTheTrainerComputes) {
  ExportedNet(ExportedConfig());
  const auto net = net::LoadNet(folder_, {.precision = net::Precision::kFp32});
  ASSERT_TRUE(net.ok()) << net.status();
  const auto trunk = Trunk::Load(folder_, {.weights = WeightChoice::kFp32});
  ASSERT_TRUE(trunk.ok()) << trunk.status();
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  std::vector<int32_t> tokens(150);
  for (int32_t& t : tokens) t = rng.Range(0, 31);

  net::PackedStream stream;
  stream.Add(tokens);
  net::Replica replica(**net, nullptr);
  at::NoGradGuard no_grad;
  const at::Tensor hidden = replica.Hidden(stream);
  const at::Tensor logits = replica.Logits(hidden);
  const at::Tensor rewards = at::sigmoid(replica.Rewards(hidden));

  Executor executor(1);
  const std::unique_ptr<PageMemory> memory = (*trunk)->NewPages();
  PagePool pool(*memory, int64_t{1} << 26);
  for (int n : {1, 2, 63, 64, 65, 150}) {
    std::vector<PageId> pages;
    for (int p = 0; p < n; p += kPageSlots) pages.push_back(pool.Allocate());
    std::vector<float> last(64), got(32);
    const Segment segment = {.pages = pages,
                             .start = 0,
                             .tokens = absl::MakeConstSpan(tokens.data(), n),
                             .last_hidden = last.data()};
    (*trunk)->Forward({segment}, *memory, executor);
    (*trunk)->Logits(last.data(), 1, got.data(), executor);
    for (int v = 0; v < 32; ++v) {
      EXPECT_NEAR(got[v], logits[n - 1][v].item<float>(), 1e-4) << n;
    }
    StepScores scores;
    (*trunk)->Rewards(last.data(), 1, &scores);
    EXPECT_NEAR(scores.step, rewards[n - 1][0].item<float>(), 1e-5);
    EXPECT_NEAR(scores.path, rewards[n - 1][1].item<float>(), 1e-5);
    for (PageId page : pages) pool.Release(page);
  }
}

}  // namespace
}  // namespace espalier
