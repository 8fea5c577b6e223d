#include "models/checkpoint/tensor_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/hf_layout.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using testing::HasSubstr;

using Values = std::vector<float>;

Values ReadSource(const TensorSource& source, TensorRole part, int layer) {
  const TensorShape shape = ShapeOf(source.config(), part);
  Values out(static_cast<size_t>(shape.rows * shape.columns));
  source.Read(part, layer, 0, shape.rows, out.data());
  return out;
}

// The values written under a name; GPT-2's matrices transposed.
class Written {
 public:
  explicit Written(const std::vector<RandomTensor>& tensors) {
    for (const RandomTensor& tensor : tensors) by_name_[tensor.name] = &tensor;
  }
  const Values& operator[](const std::string& name) const {
    return by_name_.at(name)->values;
  }
  // Outputs [begin, begin + count) of an [inputs, outputs] matrix, one output
  // per row.
  Values Turned(const std::string& name, int64_t begin, int64_t count) const {
    const RandomTensor& tensor = *by_name_.at(name);
    Values out;
    for (int64_t r = begin; r < begin + count; ++r) {
      for (int64_t i = 0; i < tensor.shape[0]; ++i) {
        out.push_back(
            tensor.values[static_cast<size_t>(i * tensor.shape[1] + r)]);
      }
    }
    return out;
  }

 private:
  std::map<std::string, const RandomTensor*> by_name_;
};

// Whether every part of a layer has the name and the shape that it has in a
// Llama; own_layouts_test.cc and comparisons of whole networks cover others.
bool IsLaidOutLikeALlama(const TrunkConfig& c) {
  switch (c.architecture) {
    case Architecture::kOlmo2:
    case Architecture::kOlmo3:
    case Architecture::kPhi3:
    case Architecture::kGlm:
    case Architecture::kGlm4:
    case Architecture::kGemma2:
    case Architecture::kGemma3:
    case Architecture::kQwen3Moe:
    case Architecture::kMixtral:
      return false;
    default:
      return true;
  }
}

void ExpectRotaryLayer(const TensorSource& source, const Written& written,
                       int i) {
  const TrunkConfig& c = source.config();
  const auto expect = [&](bool there, TensorRole part, const char* name) {
    EXPECT_EQ(ShapeOf(c, part).rows > 0, there) << name;
    if (!there) return;
    EXPECT_EQ(ReadSource(source, part, i),
              written[absl::StrCat("model.layers.", i, ".", name)])
        << name;
  };
  expect(true, TensorRole::kInputNorm, "input_layernorm.weight");
  expect(true, TensorRole::kQuery, "self_attn.q_proj.weight");
  expect(c.qkv_bias, TensorRole::kQueryBias, "self_attn.q_proj.bias");
  expect(true, TensorRole::kKey, "self_attn.k_proj.weight");
  expect(c.qkv_bias, TensorRole::kKeyBias, "self_attn.k_proj.bias");
  expect(true, TensorRole::kValue, "self_attn.v_proj.weight");
  expect(c.qkv_bias, TensorRole::kValueBias, "self_attn.v_proj.bias");
  expect(c.qk_norm, TensorRole::kQueryNorm, "self_attn.q_norm.weight");
  expect(c.qk_norm, TensorRole::kKeyNorm, "self_attn.k_norm.weight");
  expect(true, TensorRole::kOutput, "self_attn.o_proj.weight");
  expect(c.output_bias, TensorRole::kOutputBias, "self_attn.o_proj.bias");
  expect(true, TensorRole::kPostNorm, "post_attention_layernorm.weight");
  expect(true, TensorRole::kGate, "mlp.gate_proj.weight");
  expect(c.mlp_bias, TensorRole::kGateBias, "mlp.gate_proj.bias");
  expect(true, TensorRole::kUp, "mlp.up_proj.weight");
  expect(c.mlp_bias, TensorRole::kUpBias, "mlp.up_proj.bias");
  expect(true, TensorRole::kDown, "mlp.down_proj.weight");
  expect(c.mlp_bias, TensorRole::kDownBias, "mlp.down_proj.bias");
}

void ExpectGpt2Layer(const TensorSource& source, const Written& written,
                     int i) {
  const int64_t d = source.config().hidden_size;
  const int64_t f = source.config().intermediate_size;
  const std::string h = absl::StrCat("transformer.h.", i, ".");
  const auto read = [&](TensorRole part) {
    return ReadSource(source, part, i);
  };
  const auto third = [&](size_t n) {
    const Values& all = written[h + "attn.c_attn.bias"];
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(n) * d;
    return Values(at, at + d);
  };
  EXPECT_EQ(read(TensorRole::kInputNorm), written[h + "ln_1.weight"]);
  EXPECT_EQ(read(TensorRole::kInputNormBias), written[h + "ln_1.bias"]);
  EXPECT_EQ(read(TensorRole::kQuery),
            written.Turned(h + "attn.c_attn.weight", 0, d));
  EXPECT_EQ(read(TensorRole::kKey),
            written.Turned(h + "attn.c_attn.weight", d, d));
  EXPECT_EQ(read(TensorRole::kValue),
            written.Turned(h + "attn.c_attn.weight", 2 * d, d));
  EXPECT_EQ(read(TensorRole::kQueryBias), third(0));
  EXPECT_EQ(read(TensorRole::kKeyBias), third(1));
  EXPECT_EQ(read(TensorRole::kValueBias), third(2));
  EXPECT_EQ(read(TensorRole::kOutput),
            written.Turned(h + "attn.c_proj.weight", 0, d));
  EXPECT_EQ(read(TensorRole::kOutputBias), written[h + "attn.c_proj.bias"]);
  EXPECT_EQ(read(TensorRole::kPostNorm), written[h + "ln_2.weight"]);
  EXPECT_EQ(read(TensorRole::kPostNormBias), written[h + "ln_2.bias"]);
  EXPECT_EQ(read(TensorRole::kUp), written.Turned(h + "mlp.c_fc.weight", 0, f));
  EXPECT_EQ(read(TensorRole::kUpBias), written[h + "mlp.c_fc.bias"]);
  EXPECT_EQ(read(TensorRole::kDown),
            written.Turned(h + "mlp.c_proj.weight", 0, d));
  EXPECT_EQ(read(TensorRole::kDownBias), written[h + "mlp.c_proj.bias"]);
  EXPECT_EQ(ShapeOf(source.config(), TensorRole::kGate).rows, 0);
}

void ExpectAll(const TensorSource& source, const Written& written) {
  const TrunkConfig& c = source.config();
  const bool gpt2 = c.architecture == Architecture::kGpt2;
  const std::string model = gpt2 ? "transformer." : "model.";
  EXPECT_EQ(ReadSource(source, TensorRole::kEmbedding, 0),
            written[model + (gpt2 ? "wte.weight" : "embed_tokens.weight")]);
  for (int i = 0; i < c.layers; ++i) {
    if (gpt2) {
      ExpectGpt2Layer(source, written, i);
    } else if (IsLaidOutLikeALlama(c)) {
      ExpectRotaryLayer(source, written, i);
    }
  }
  Values norm = written[model + (gpt2 ? "ln_f.weight" : "norm.weight")];
  if (c.architecture == Architecture::kGemma2 ||
      c.architecture == Architecture::kGemma3) {
    for (float& weight : norm) weight += 1;
  }
  EXPECT_EQ(ReadSource(source, TensorRole::kFinalNorm, 0), norm);
  if (gpt2) {
    EXPECT_EQ(ReadSource(source, TensorRole::kPositions, 0),
              written["transformer.wpe.weight"]);
    EXPECT_EQ(ReadSource(source, TensorRole::kFinalNormBias, 0),
              written["transformer.ln_f.bias"]);
  }
  if (ShapeOf(c, TensorRole::kLmHead).rows > 0) {
    EXPECT_EQ(ReadSource(source, TensorRole::kLmHead, 0),
              written["lm_head.weight"]);
  }
  if (c.head != HeadKind::kNone) {
    const std::string head = c.reward_head ? "reward_head" : "score";
    EXPECT_EQ(ReadSource(source, TensorRole::kHead, 0),
              written[head + ".weight"]);
    if (c.head_bias) {
      EXPECT_EQ(ReadSource(source, TensorRole::kHeadBias, 0),
                written[head + ".bias"]);
    }
  }
}

class EverySourceTest : public testing::TestWithParam<NamedConfig> {};

TEST_P(EverySourceTest, GivesWhatWasWritten) {
  const TrunkConfig& config = GetParam().config;
  const std::pair<DType, Storage> types[] = {{DType::kBF16, Storage::kBf16},
                                             {DType::kF16, Storage::kFp16},
                                             {DType::kF32, Storage::kFp32}};
  for (const auto& [dtype, storage] : types) {
    for (const int shards : {1, 3}) {
      const std::string folder = TempFolder();
      const std::vector<RandomTensor> tensors = RandomTensors(config, 3, dtype);
      ASSERT_TRUE(WriteTensors(folder, config, tensors, dtype, shards).ok());
      const auto source = TensorSource::Open(folder);
      ASSERT_TRUE(source.ok()) << source.status();
      EXPECT_EQ((*source)->storage(TensorRole::kOutput, 1), storage);
      ExpectAll(**source, Written(tensors));
      int64_t bytes = 0;
      for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().extension() == ".safetensors") {
          bytes += static_cast<int64_t>(file.file_size());
        }
      }
      EXPECT_EQ((*source)->bytes(), bytes);
    }
  }
}

TEST_P(EverySourceTest, AnyRowsAreThoseOfTheWhole) {
  const std::string folder = TempFolder();
  ASSERT_TRUE(WriteRandomCheckpoint(folder, GetParam().config, 3).ok());
  const auto source = TensorSource::Open(folder);
  ASSERT_TRUE(source.ok()) << source.status();
  for (int i = 0; i < kTensorRoles; ++i) {
    const TensorRole part = static_cast<TensorRole>(i);
    const TensorShape shape = ShapeOf((*source)->config(), part);
    if (shape.rows == 0) continue;
    const int layer = IsLayerTensor(part) ? 1 : 0;
    const Values all = ReadSource(**source, part, layer);
    (*source)->Release(part, layer);
    for (int64_t begin = 0; begin < shape.rows; begin += 7) {
      const int64_t end = std::min(begin + 16, shape.rows);
      Values rows(static_cast<size_t>((end - begin) * shape.columns));
      (*source)->Read(part, layer, begin, end, rows.data());
      const auto at = all.begin() + begin * shape.columns;
      EXPECT_EQ(rows, Values(at, at + (end - begin) * shape.columns)) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EverySourceTest,
                         testing::ValuesIn(EveryNetwork()),
                         [](const auto& info) { return info.param.name; });

// A folder with config.json and tensor list editable after the draw.
struct SourceFolder {
  TrunkConfig config = TinyConfig();
  nlohmann::json json = HfConfigJson(config);
  std::vector<RandomTensor> tensors = RandomTensors(config, 5);
  DType dtype = DType::kBF16;

  RandomTensor& operator[](const std::string& name) {
    for (RandomTensor& tensor : tensors) {
      if (tensor.name == name) return tensor;
    }
    ADD_FAILURE() << name;
    return tensors[0];
  }
  void Remove(const std::string& name) {
    std::erase_if(tensors, [&](const auto& t) { return t.name == name; });
  }
  std::string Write(int shards = 1) const {
    const std::string folder = TempFolder();
    EXPECT_TRUE(WriteTensors(folder, config, tensors, dtype, shards).ok());
    EXPECT_TRUE(WriteFileAtomic(folder + "/config.json", json.dump()).ok());
    return folder;
  }
};

SourceFolder FolderOf(const std::string& name) {
  for (const NamedConfig& named : EveryNetwork()) {
    if (named.name != name) continue;
    return {named.config, HfConfigJson(named.config),
            RandomTensors(named.config, 5)};
  }
  ADD_FAILURE() << name;
  return {};
}

std::string Error(const std::string& folder) {
  return std::string(TensorSource::Open(folder).status().message());
}

TEST(TensorSourceTest, ANamedTensorThatIsMissingExtraOrMisshapenIsRefused) {
  EXPECT_EQ(Error(SourceFolder().Write()), "");
  {
    SourceFolder folder;
    folder.Remove("model.layers.1.self_attn.k_proj.weight");
    const std::string at = folder.Write();
    EXPECT_THAT(Error(at),
                HasSubstr(at + "/model.safetensors: expected tensor "
                               "model.layers.1.self_attn.k_proj.weight [20, "
                               "40], found no such tensor"));
  }
  {
    SourceFolder folder;
    folder.tensors.push_back({"model.layers.2.extra", {2}, {1, 2}});
    EXPECT_THAT(Error(folder.Write()),
                HasSubstr("/model.safetensors: found tensor "
                          "model.layers.2.extra [2] that a LlamaForCausalLM"));
  }
  {
    SourceFolder folder;
    folder["model.layers.0.mlp.up_proj.weight"].shape = {40, 54};
    EXPECT_THAT(Error(folder.Write()),
                HasSubstr("/model.safetensors: tensor "
                          "model.layers.0.mlp.up_proj.weight: expected shape "
                          "[54, 40] from config.json, found [40, 54]"));
  }
  {
    SourceFolder folder;
    folder.json["tie_word_embeddings"] = false;
    EXPECT_THAT(Error(folder.Write()),
                HasSubstr("lm_head.weight [67, 40], found no such tensor "
                          "(tie_word_embeddings is false)"));
  }
  {
    SourceFolder folder = FolderOf("LlamaBiased");
    folder.json["attention_bias"] = false;
    EXPECT_THAT(Error(folder.Write()), HasSubstr("self_attn.k_proj.bias [20]"));
  }
  {
    SourceFolder folder;
    folder.json["num_hidden_layers"] = 1 << 20;
    EXPECT_THAT(Error(folder.Write()),
                HasSubstr("expected the tensors of 1048576 layers"));
  }
  {
    SourceFolder folder;
    folder.json["architectures"] = {"FalconForCausalLM"};
    EXPECT_THAT(Error(folder.Write()), HasSubstr("FalconForCausalLM"));
  }
}

TEST(TensorSourceTest, ATensorOfNoFloatsIsRefused) {
  SourceFolder folder;
  const std::string at = folder.Write();
  std::vector<NamedTensor> tensors;
  for (const RandomTensor& t : folder.tensors) {
    tensors.push_back(
        {t.name, DType::kF32, t.shape, std::as_bytes(std::span(t.values))});
  }
  tensors[2].dtype = DType::kI32;
  ASSERT_TRUE(WriteSafetensors(at + "/model.safetensors", tensors).ok());
  EXPECT_THAT(Error(at),
              HasSubstr("expected dtype BF16, F16 or F32, found I32"));
}

TEST(TensorSourceTest, WhatHoldsNothingOfItsOwnIsPassedOver) {
  SourceFolder llama;
  llama.tensors.push_back(
      {"model.layers.0.self_attn.rotary_emb.inv_freq", {2}, {1, 2}});
  llama.tensors.push_back(llama["model.embed_tokens.weight"]);
  llama.tensors.back().name = "lm_head.weight";
  EXPECT_EQ(Error(llama.Write()), "");
  llama.tensors.back().values[5] += 1;
  EXPECT_THAT(Error(llama.Write()),
              HasSubstr("tensor lm_head.weight: expected the same bytes as "
                        "model.embed_tokens.weight"));
  SourceFolder gpt2 = FolderOf("Gpt2");
  gpt2.tensors.push_back({"transformer.h.0.attn.bias", {1}, {1}});
  gpt2.tensors.push_back({"transformer.h.1.attn.masked_bias", {1}, {1}});
  EXPECT_EQ(Error(gpt2.Write()), "");
}

TEST(TensorSourceTest, Gpt2MayGoWithoutThePrefix) {
  SourceFolder folder = FolderOf("Gpt2");
  const std::vector<RandomTensor> prefixed = folder.tensors;
  for (RandomTensor& tensor : folder.tensors) {
    tensor.name = tensor.name.substr(std::string("transformer.").size());
  }
  const auto source = TensorSource::Open(folder.Write());
  ASSERT_TRUE(source.ok()) << source.status();
  ExpectAll(**source, Written(prefixed));
}

TEST(TensorSourceTest, AFolderWithoutTensorsIsRefused) {
  const std::string folder = SourceFolder().Write();
  std::filesystem::remove(folder + "/model.safetensors");
  EXPECT_THAT(Error(folder),
              HasSubstr("expected model.safetensors or "
                        "model.safetensors.index.json, found neither"));
  ASSERT_TRUE(WriteFileAtomic(folder + "/pytorch_model.bin", "x").ok());
  EXPECT_THAT(Error(folder), HasSubstr("convert it to safetensors"));
  EXPECT_THAT(Error(folder + "/none"), HasSubstr("expected a model folder"));
}

TEST(TensorSourceTest, ATruncatedFileIsRefused) {
  const std::string folder = SourceFolder().Write();
  const std::string path = folder + "/model.safetensors";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_THAT(Error(folder), HasSubstr("the file is truncated"));
  std::filesystem::resize_file(path, 100);
  EXPECT_THAT(Error(folder), HasSubstr("the file is truncated"));
}

// Edits the index of a folder with two shards; returns the error.
std::string IndexError(const std::function<void(nlohmann::json&)>& change) {
  const std::string folder = SourceFolder().Write(2);
  const std::string path = folder + "/model.safetensors.index.json";
  auto index = nlohmann::json::parse(std::ifstream(path));
  change(index);
  EXPECT_TRUE(WriteFileAtomic(path, index.dump()).ok());
  return Error(folder);
}

TEST(TensorSourceTest, AnIndexThatDisagreesWithItsShardsIsRefused) {
  using nlohmann::json;
  const char* norm = "model.norm.weight";
  EXPECT_EQ(IndexError([](json&) {}), "");
  EXPECT_THAT(IndexError([&](json& index) {
                index["weight_map"][norm] = "model-3.safetensors";
              }),
              HasSubstr("index.json: expected file model-3.safetensors beside "
                        "the index that names it, found none"));
  EXPECT_THAT(
      IndexError([&](json& index) {
        index["weight_map"][norm] = "model-00001-of-00002.safetensors";
      }),
      HasSubstr("tensor model.norm.weight: expected in "
                "model-00001-of-00002.safetensors as the index says, found in "
                "model-00002-of-00002.safetensors"));
  EXPECT_THAT(
      IndexError([&](json& index) { index["weight_map"].erase(norm); }),
      HasSubstr("tensor model.norm.weight: expected in none of the files"));
  EXPECT_THAT(IndexError([&](json& index) {
                index["weight_map"]["more"] =
                    "model-00001-of-00002.safetensors";
              }),
              HasSubstr("model-00001-of-00002.safetensors: expected tensor "
                        "more as the index says, found no such tensor"));
  for (const char* name : {"../model.safetensors", "/etc/passwd", "", "."}) {
    EXPECT_THAT(
        IndexError([&](json& index) { index["weight_map"][norm] = name; }),
        HasSubstr("expected the name of a file in this folder"));
  }
  EXPECT_THAT(IndexError([&](json& index) { index["weight_map"] = 3; }),
              HasSubstr("expected \"weight_map\""));
  EXPECT_THAT(IndexError([&](json& index) { index = json::array(); }),
              HasSubstr("expected a JSON object"));
}

TEST(TensorSourceTest, ATensorInTwoShardsIsRefused) {
  const std::string folder = SourceFolder().Write(2);
  std::filesystem::copy_file(folder + "/model-00001-of-00002.safetensors",
                             folder + "/model-00002-of-00002.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(Error(folder),
              HasSubstr("model-00002-of-00002.safetensors: tensor model."));
  EXPECT_THAT(Error(folder), HasSubstr("expected in one file, found in"));
  // Duplicate keys in the index are just as wrong.
  const std::string other = SourceFolder().Write();
  std::filesystem::remove(other + "/model.safetensors");
  ASSERT_TRUE(WriteFileAtomic(other + "/model.safetensors.index.json",
                              R"({"weight_map": {"a": "x", "a": "y"}})")
                  .ok());
  EXPECT_THAT(Error(other), HasSubstr("tensor a appears twice"));
}

TEST(TensorSourceTest, ATruncatedShardIsRefused) {
  const std::string folder = SourceFolder().Write(2);
  const std::string path = folder + "/model-00002-of-00002.safetensors";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_THAT(Error(folder),
              HasSubstr("model-00002-of-00002.safetensors: tensor "));
  EXPECT_THAT(Error(folder), HasSubstr("the file is truncated"));
}

// Bytes of mapped files that are resident in memory.
int64_t MappedResident() {
  int64_t size = 0, resident = 0, shared = 0;
  std::ifstream("/proc/self/statm") >> size >> resident >> shared;
  return shared * ::sysconf(_SC_PAGESIZE);
}

TEST(TensorSourceTest, ReleaseGivesMemoryBack) {
  TrunkConfig config = TinyConfig();
  config.vocab_size = 100000;  // the embedding has 8 MB
  const std::string folder = TempFolder();
  ASSERT_TRUE(WriteRandomCheckpoint(folder, config, 5).ok());
  const auto source = TensorSource::Open(folder);
  ASSERT_TRUE(source.ok()) << source.status();
  const int64_t before = MappedResident();
  const Values values = ReadSource(**source, TensorRole::kEmbedding, 0);
  const int64_t read = MappedResident();
  (*source)->Release(TensorRole::kEmbedding, 0);
  const int64_t released = MappedResident();
  EXPECT_GT(read - before, 4'000'000);  // the kernel updates the counter late
  EXPECT_LT(released - before, 1'000'000);
  EXPECT_EQ(ReadSource(**source, TensorRole::kEmbedding, 0), values);
}

TEST(TensorSourceTest, PublishedFoldersAreOpened) {
  const char* data = std::getenv("ESPALIER_DATA");
  if (data == nullptr) GTEST_SKIP() << "set ESPALIER_DATA to the data folder";
  const std::string models = std::string(data) + "/models/";
  const auto llama = TensorSource::Open(models + "tiny-llama");
  ASSERT_TRUE(llama.ok()) << llama.status();
  EXPECT_EQ((*llama)->config().layers, 4);
  EXPECT_EQ((*llama)->storage(TensorRole::kLmHead, 0), Storage::kBf16);
  EXPECT_EQ(ReadSource(**llama, TensorRole::kLmHead, 0).size(), 16u * 128u);
  const auto gpt2 = TensorSource::Open(models + "tiny-random-gpt2");
  ASSERT_TRUE(gpt2.ok()) << gpt2.status();
  EXPECT_EQ((*gpt2)->config().layers, 5);
  EXPECT_EQ((*gpt2)->storage(TensorRole::kDown, 4), Storage::kFp32);
  EXPECT_EQ(ReadSource(**gpt2, TensorRole::kDown, 4).size(), 32u * 128u);
}

}  // namespace
}  // namespace espalier
