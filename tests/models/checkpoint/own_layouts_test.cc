// Folders whose tensors are laid out otherwise than a Llama's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "models/checkpoint/safetensors.h"
#include "models/checkpoint/tensor_source.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/hf_layout.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TrunkConfig Network(const std::string& name) {
  for (const NamedConfig& network : EveryNetwork()) {
    if (network.name == name) return network.config;
  }
  ADD_FAILURE() << "no network " << name;
  return TinyConfig();
}

std::string Message(const std::string& folder) {
  const auto source = TensorSource::Open(folder);
  return source.ok() ? "" : std::string(source.status().message());
}

std::vector<float> Whole(const TensorSource& source, TensorRole part,
                         int layer) {
  const TensorShape shape = ShapeOf(source.config(), part);
  std::vector<float> out(static_cast<size_t>(shape.rows * shape.columns));
  source.Read(part, layer, 0, shape.rows, out.data());
  return out;
}

// Writes the network's tensors with one of them changed.
template <class Change>
std::string WriteChanged(const TrunkConfig& config, const Change& change) {
  std::vector<RandomTensor> tensors = RandomTensors(config, 1, DType::kF32);
  change(tensors);
  const std::string folder = TempFolder();
  EXPECT_TRUE(WriteTensors(folder, config, tensors, DType::kF32).ok());
  return folder;
}

TEST(OwnLayoutsTest, AMissingExpertIsNamed) {
  const std::string name = "model.layers.1.mlp.experts.5.up_proj.weight";
  const std::string folder =
      WriteChanged(Network("Qwen3Moe"), [&](auto& tensors) {
        std::erase_if(tensors, [&](const auto& t) { return t.name == name; });
      });
  EXPECT_THAT(Message(folder), HasSubstr(name));
}

TEST(OwnLayoutsTest, WrongShapesAreNamedWithTheExpectedOne) {
  const auto shorten = [](const char* name) {
    return [name](std::vector<RandomTensor>& tensors) {
      for (RandomTensor& t : tensors) {
        if (t.name != name) continue;
        t.values.resize(t.values.size() -
                        t.values.size() / static_cast<size_t>(t.shape[0]));
        --t.shape[0];
      }
    };
  };
  const TrunkConfig phi = Network("Phi3");  // 4 + 2 + 2 heads of 10
  EXPECT_THAT(Message(WriteChanged(
                  phi, shorten("model.layers.0.self_attn.qkv_proj.weight"))),
              HasSubstr("qkv_proj.weight: expected shape [80, 40]"));
  EXPECT_THAT(Message(WriteChanged(
                  phi, shorten("model.layers.0.mlp.gate_up_proj.weight"))),
              HasSubstr("gate_up_proj.weight: expected shape [108, 40]"));
  EXPECT_THAT(
      Message(WriteChanged(Network("Olmo2"),
                           shorten("model.layers.0.self_attn.k_norm.weight"))),
      HasSubstr("k_norm.weight: expected shape [20]"));
  EXPECT_THAT(
      Message(WriteChanged(Network("Mixtral"),
                           shorten("model.layers.0.block_sparse_moe.experts."
                                   "2.w2.weight"))),
      HasSubstr("experts.2.w2.weight: expected shape [40, 54]"));
}

TEST(OwnLayoutsTest, AnyRangeOfExpertsRowsIsThatOfTheWhole) {
  const TrunkConfig config = Network("Qwen3Moe");
  const std::string folder = TempFolder();
  ASSERT_TRUE(WriteRandomCheckpoint(folder, config, 1).ok());
  const auto source = TensorSource::Open(folder).value();
  const TensorRole part = TensorRole::kExpertGate;
  const TensorShape shape = ShapeOf(config, part);
  const std::vector<float> whole = Whole(*source, part, 1);
  for (int64_t begin = 0; begin < shape.rows; begin += 29) {
    const int64_t end = std::min(begin + 90, shape.rows);  // over experts
    std::vector<float> rows(static_cast<size_t>((end - begin) * shape.columns));
    source->Read(part, 1, begin, end, rows.data());
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(),
                           whole.begin() + begin * shape.columns));
  }
}

// Both layouts in which Gemma 3 is published together with what reads images.
TEST(OwnLayoutsTest, TheTextPartOfANetworkThatReadsImages) {
  const TrunkConfig config = Network("Gemma3");
  const std::string plain = TempFolder();
  ASSERT_TRUE(WriteRandomCheckpoint(plain, config, 1, DType::kF32).ok());
  const auto expected = TensorSource::Open(plain).value();
  for (const bool newer : {false, true}) {
    const std::string folder = WriteChanged(config, [&](std::vector<
                                                        RandomTensor>&
                                                            tensors) {
      for (RandomTensor& t : tensors) {
        t.name = newer ? absl::StrCat("model.language_model.",
                                      t.name.substr(6))  // after "model."
                       : "language_model." + t.name;
      }
      const std::string body = newer ? "model." : "";
      tensors.push_back({body + "vision_tower.x.weight", {2}, {1, 2}});
      tensors.push_back({body + "multi_modal_projector.y.weight", {1}, {3}});
    });
    json text = HfConfigJson(config);
    const json whole = {{"architectures", {"Gemma3ForConditionalGeneration"}},
                        {"model_type", "gemma3"},
                        {"text_config", text}};
    ASSERT_TRUE(WriteFileAtomic(folder + "/config.json", whole.dump()).ok());
    const auto source = TensorSource::Open(folder);
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_TRUE((*source)->config().reads_images);
    for (const TensorRole part :
         {TensorRole::kEmbedding, TensorRole::kKey, TensorRole::kPostNorm,
          TensorRole::kDown, TensorRole::kFinalNorm}) {
      EXPECT_EQ(Whole(**source, part, 0), Whole(*expected, part, 0));
    }
  }
}

// Gemma's norms are stored less 1.
TEST(OwnLayoutsTest, OffsetNormsAreRead) {
  const std::string folder =
      WriteChanged(Network("Gemma2"), [](std::vector<RandomTensor>& tensors) {
        for (RandomTensor& t : tensors) {
          if (t.name == "model.norm.weight") t.values.assign(40, 0.25f);
        }
      });
  EXPECT_EQ(
      Whole(*TensorSource::Open(folder).value(), TensorRole::kFinalNorm, 0),
      std::vector<float>(40, 1.25f));
}

}  // namespace
}  // namespace espalier
