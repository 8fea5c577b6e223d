#include "models/checkpoint/gguf_source.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "base/files.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/checkpoint/safetensors.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/gguf_builder.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kHidden = 32, kHeads = 4, kKvHeads = 2, kHeadDim = 8;
constexpr int kInner = 64, kVocab = 40, kLayers = 2;

// --- Files made by tools/write_gguf.py from a folder that the test writes. ---

using Folder = std::map<std::string, std::pair<std::vector<int64_t>,  // shape
                                               std::vector<float>>>;

void Add(Folder& folder, const std::string& name, std::vector<int64_t> shape,
         DType dtype) {
  RandomStream random(StreamKey(5, StableHash(name), 0, Purpose::kTest));
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    value = static_cast<float>(random.Normal());
    if (dtype == DType::kBF16) value = Bf16ToFloat(FloatToBf16(value));
    if (dtype == DType::kF16) value = Fp16ToFloat(FloatToFp16(value));
  }
  folder[name] = {std::move(shape), std::move(values)};
}

Folder LlamaFolder(DType dtype, bool biases, bool head_norms, bool tied) {
  Folder folder;
  const auto add = [&](const std::string& name, std::vector<int64_t> shape) {
    Add(folder, name, std::move(shape), dtype);
  };
  add("model.embed_tokens.weight", {kVocab, kHidden});
  add("model.norm.weight", {kHidden});
  if (!tied) add("lm_head.weight", {kVocab, kHidden});
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string at = absl::StrCat("model.layers.", layer, ".");
    const auto product = [&](const std::string& name, int rows, int columns) {
      add(at + name + ".weight", {rows, columns});
      if (biases && name[10] != 'o') add(at + name + ".bias", {rows});
    };
    add(at + "input_layernorm.weight", {kHidden});
    add(at + "post_attention_layernorm.weight", {kHidden});
    product("self_attn.q_proj", kHeads * kHeadDim, kHidden);
    product("self_attn.k_proj", kKvHeads * kHeadDim, kHidden);
    product("self_attn.v_proj", kKvHeads * kHeadDim, kHidden);
    product("self_attn.o_proj", kHidden, kHeads * kHeadDim);
    if (head_norms) add(at + "self_attn.q_norm.weight", {kHeadDim});
    if (head_norms) add(at + "self_attn.k_norm.weight", {kHeadDim});
    add(at + "mlp.gate_proj.weight", {kInner, kHidden});
    add(at + "mlp.up_proj.weight", {kInner, kHidden});
    add(at + "mlp.down_proj.weight", {kHidden, kInner});
  }
  return folder;
}

json LlamaJson(const std::string& architecture, bool tied) {
  return {{"architectures", {architecture}},
          {"hidden_size", kHidden},
          {"intermediate_size", kInner},
          {"num_hidden_layers", kLayers},
          {"num_attention_heads", kHeads},
          {"num_key_value_heads", kKvHeads},
          {"head_dim", kHeadDim},
          {"vocab_size", kVocab},
          {"max_position_embeddings", 512},
          {"rms_norm_eps", 1e-5},
          {"rope_theta", 50000.0},
          {"tie_word_embeddings", tied},
          {"eos_token_id", {3, 5}}};
}

std::string Bytes(const std::vector<float>& values, DType dtype) {
  std::string bytes;
  for (const float value : values) {
    if (dtype == DType::kF32) bytes += Little(value);
    if (dtype == DType::kBF16) bytes += Little(FloatToBf16(value));
    if (dtype == DType::kF16) bytes += Little(FloatToFp16(value));
  }
  return bytes;
}

bool HavePython() {
  return std::system("python3 -c 'import struct' > /dev/null 2>&1") == 0;
}
#define SKIP_WITHOUT_PYTHON() \
  if (!HavePython()) GTEST_SKIP() << "python3 is not there to write the file"

// Writes the folder and converts it to a file with the tool.
std::string Convert(const json& config, const Folder& folder, DType dtype,
                    const std::string& type) {
  const std::string path = TempFolder();
  EXPECT_TRUE(WriteFileAtomic(path + "/config.json", config.dump()).ok());
  std::vector<std::string> data;
  data.reserve(folder.size());
  std::vector<NamedTensor> tensors;
  for (const auto& [name, tensor] : folder) {
    data.push_back(Bytes(tensor.second, dtype));
    tensors.push_back(
        {name, dtype, tensor.first, std::as_bytes(std::span(data.back()))});
  }
  EXPECT_TRUE(WriteSafetensors(path + "/model.safetensors", tensors).ok());
  const std::string out = path + "/model.gguf";
  const std::string command = absl::StrCat("python3 tools/write_gguf.py ", path,
                                           " ", out, " --type ", type);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return out;
}

std::unique_ptr<TensorSource> Open(const std::string& path) {
  auto source = OpenGguf(path);
  EXPECT_TRUE(source.ok()) << source.status();
  return source.ok() ? *std::move(source) : nullptr;
}

std::vector<float> ReadTensors(const TensorSource& source, TensorRole part,
                               int layer) {
  const TensorShape shape = ShapeOf(source.config(), part);
  std::vector<float> values(static_cast<size_t>(shape.rows * shape.columns));
  source.Read(part, layer, 0, shape.rows, values.data());
  return values;
}

constexpr std::pair<TensorRole, const char*> kLlamaParts[] = {
    {TensorRole::kEmbedding, "model.embed_tokens.weight"},
    {TensorRole::kInputNorm, "input_layernorm.weight"},
    {TensorRole::kQuery, "self_attn.q_proj.weight"},
    {TensorRole::kQueryBias, "self_attn.q_proj.bias"},
    {TensorRole::kKey, "self_attn.k_proj.weight"},
    {TensorRole::kKeyBias, "self_attn.k_proj.bias"},
    {TensorRole::kValue, "self_attn.v_proj.weight"},
    {TensorRole::kValueBias, "self_attn.v_proj.bias"},
    {TensorRole::kQueryNorm, "self_attn.q_norm.weight"},
    {TensorRole::kKeyNorm, "self_attn.k_norm.weight"},
    {TensorRole::kOutput, "self_attn.o_proj.weight"},
    {TensorRole::kPostNorm, "post_attention_layernorm.weight"},
    {TensorRole::kGate, "mlp.gate_proj.weight"},
    {TensorRole::kUp, "mlp.up_proj.weight"},
    {TensorRole::kDown, "mlp.down_proj.weight"},
    {TensorRole::kFinalNorm, "model.norm.weight"},
    {TensorRole::kLmHead, "lm_head.weight"}};

using Compare = std::function<void(
    const std::string&, const std::vector<float>&, const std::vector<float>&)>;

// Calls `compare` with (name, folder's values, file's values) for every tensor
// of the folder, and expects that the file has no others.
void ForEachTensor(const TensorSource& source, const Folder& folder,
                   const Compare& compare) {
  size_t seen = 0;
  for (const auto& [part, stem] : kLlamaParts) {
    if (ShapeOf(source.config(), part).rows == 0) continue;
    for (int layer = 0; layer < (IsLayerTensor(part) ? kLayers : 1); ++layer) {
      const std::string name =
          IsLayerTensor(part) ? absl::StrCat("model.layers.", layer, ".", stem)
                              : stem;
      ASSERT_TRUE(folder.contains(name)) << name;
      compare(name, folder.at(name).second, ReadTensors(source, part, layer));
      source.Release(part, layer);
      ++seen;
    }
  }
  EXPECT_EQ(seen, folder.size());
}

TEST(GgufSourceTest, RowsEqualTheFolderTheFileWasMadeFrom) {
  SKIP_WITHOUT_PYTHON();
  struct Case {
    const char* name;
    bool biases, head_norms, tied;
  };
  constexpr std::pair<DType, const char*> kTypes[] = {
      {DType::kF32, "f32"}, {DType::kF16, "f16"}, {DType::kBF16, "bf16"}};
  for (const Case& c : {Case{"LlamaForCausalLM", false, false, false},
                        Case{"MistralForCausalLM", false, false, true},
                        Case{"Qwen2ForCausalLM", true, false, true},
                        Case{"Qwen3ForCausalLM", false, true, false}}) {
    for (const auto& [dtype, type] : kTypes) {
      SCOPED_TRACE(absl::StrCat(c.name, " ", type));
      const Folder folder = LlamaFolder(dtype, c.biases, c.head_norms, c.tied);
      const auto source =
          Open(Convert(LlamaJson(c.name, c.tied), folder, dtype, type));
      ASSERT_NE(source, nullptr);
      EXPECT_EQ(source->config().qkv_bias, c.biases);
      EXPECT_EQ(source->config().qk_norm, c.head_norms);
      EXPECT_EQ(source->config().tied_embeddings, c.tied);
      EXPECT_EQ(source->storage(TensorRole::kInputNorm, 1), Storage::kFp32);
      EXPECT_EQ(source->storage(TensorRole::kUp, 1),
                dtype == DType::kF32   ? Storage::kFp32
                : dtype == DType::kF16 ? Storage::kFp16
                                       : Storage::kBf16);
      ForEachTensor(*source, folder,
                    [](const std::string& name, const auto& a, const auto& b) {
                      EXPECT_EQ(a, b) << name;
                    });
    }
  }
}

TEST(GgufSourceTest, AnyRangeOfRowsIsThatOfTheWhole) {
  SKIP_WITHOUT_PYTHON();
  const Folder folder = LlamaFolder(DType::kBF16, false, false, true);
  const auto source = Open(Convert(LlamaJson("LlamaForCausalLM", true), folder,
                                   DType::kBF16, "q8_0"));
  ASSERT_NE(source, nullptr);
  for (const TensorRole part :
       {TensorRole::kQuery, TensorRole::kUp, TensorRole::kEmbedding}) {
    const std::vector<float> whole = ReadTensors(*source, part, 0);
    const TensorShape shape = ShapeOf(source->config(), part);
    for (int64_t begin = 0; begin < shape.rows; begin += 3) {
      const int64_t end = std::min(begin + 5, shape.rows);
      std::vector<float> rows(
          static_cast<size_t>((end - begin) * shape.columns));
      source->Read(part, 0, begin, end, rows.data());
      EXPECT_TRUE(std::equal(rows.begin(), rows.end(),
                             whole.begin() + begin * shape.columns));
    }
  }
}

TEST(GgufSourceTest, QuantisedRowsAreWithinHalfAStepOfTheFolders) {
  SKIP_WITHOUT_PYTHON();
  const Folder folder = LlamaFolder(DType::kBF16, false, false, false);
  // A step is the block's largest magnitude over 127 or 8. Q4_0 has no +8, so a
  // value there may be off by a whole step.
  for (const auto& [type, off] :
       {std::pair("q8_0", 0.5f / 127), std::pair("q4_0", 1.0f / 8)}) {
    const auto source = Open(Convert(LlamaJson("LlamaForCausalLM", false),
                                     folder, DType::kBF16, type));
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->storage(TensorRole::kKey, 0), Storage::kQuantised);
    ForEachTensor(
        *source, folder,
        [&](const std::string& name, const std::vector<float>& exact,
            const std::vector<float>& found) {
          ASSERT_EQ(exact.size(), found.size());
          if (name.find("norm") != std::string::npos) {
            EXPECT_EQ(exact, found);  // vectors stay fp32
            return;
          }
          for (size_t i = 0; i < exact.size(); i += 32) {
            float largest = 0;
            for (size_t k = i; k < i + 32; ++k) {
              largest = std::max(largest, std::abs(exact[k]));
            }
            for (size_t k = i; k < i + 32; ++k) {
              // The scale is rounded to fp16.
              ASSERT_NEAR(exact[k], found[k], largest * (off + 0x1p-11f))
                  << name << " " << k;
            }
          }
        });
  }
}

TEST(GgufSourceTest, Gpt2IsTakenApartAndTurned) {
  SKIP_WITHOUT_PYTHON();
  Folder folder;
  const auto add = [&](const std::string& name, std::vector<int64_t> shape) {
    Add(folder, name, std::move(shape), DType::kF32);
  };
  constexpr int d = kHidden, f = 4 * kHidden;
  add("wte.weight", {kVocab, d});
  add("wpe.weight", {16, d});
  for (const char* norm : {"ln_f", "h.0.ln_1", "h.0.ln_2"}) {
    add(absl::StrCat(norm, ".weight"), {d});
    add(absl::StrCat(norm, ".bias"), {d});
  }
  for (const auto& [name, in, out] :
       {std::tuple("attn.c_attn", d, 3 * d), std::tuple("attn.c_proj", d, d),
        std::tuple("mlp.c_fc", d, f), std::tuple("mlp.c_proj", f, d)}) {
    add(absl::StrCat("h.0.", name, ".weight"), {in, out});
    add(absl::StrCat("h.0.", name, ".bias"), {out});
  }
  const json config = {{"architectures", {"GPT2LMHeadModel"}},
                       {"n_embd", d},
                       {"n_head", kHeads},
                       {"n_layer", 1},
                       {"n_positions", 16},
                       {"layer_norm_epsilon", 1e-4},
                       {"vocab_size", kVocab}};
  const auto source = Open(Convert(config, folder, DType::kF32, "f32"));
  ASSERT_NE(source, nullptr);
  const TrunkConfig& c = source->config();
  EXPECT_EQ(c.architecture, Architecture::kGpt2);
  EXPECT_EQ(c.norm, NormKind::kLayer);
  EXPECT_EQ(c.activation, Activation::kGeluTanh);
  EXPECT_TRUE(c.learned_positions && c.tied_embeddings && !c.gated);
  EXPECT_TRUE(c.qkv_bias && c.output_bias && c.mlp_bias);
  EXPECT_FLOAT_EQ(c.rms_norm_eps, 1e-4f);
  EXPECT_EQ(c.context_length, 16);

  // Row r of the tensor is column `from + r` of the folder's tensor.
  const auto column = [&](const std::string& name, int64_t at) {
    const auto& [shape, values] = folder.at(name);
    std::vector<float> result;
    for (int64_t r = 0; r < shape[0]; ++r) {
      result.push_back(values[static_cast<size_t>(r * shape[1] + at)]);
    }
    return result;
  };
  for (const auto& [part, name, from] :
       {std::tuple(TensorRole::kQuery, "h.0.attn.c_attn.weight", 0),
        std::tuple(TensorRole::kKey, "h.0.attn.c_attn.weight", d),
        std::tuple(TensorRole::kValue, "h.0.attn.c_attn.weight", 2 * d),
        std::tuple(TensorRole::kOutput, "h.0.attn.c_proj.weight", 0),
        std::tuple(TensorRole::kUp, "h.0.mlp.c_fc.weight", 0),
        std::tuple(TensorRole::kDown, "h.0.mlp.c_proj.weight", 0)}) {
    const TensorShape shape = ShapeOf(c, part);
    for (int64_t r = 0; r < shape.rows; ++r) {
      std::vector<float> row(static_cast<size_t>(shape.columns));
      source->Read(part, 0, r, r + 1, row.data());
      ASSERT_EQ(row, column(name, from + r)) << name << " row " << r;
    }
  }
  const std::vector<float>& fused = folder.at("h.0.attn.c_attn.bias").second;
  EXPECT_EQ(ReadTensors(*source, TensorRole::kKeyBias, 0),
            std::vector<float>(fused.begin() + d, fused.begin() + 2 * d));
  EXPECT_EQ(ReadTensors(*source, TensorRole::kPositions, 0),
            folder.at("wpe.weight").second);
  EXPECT_EQ(ReadTensors(*source, TensorRole::kFinalNormBias, 0),
            folder.at("ln_f.bias").second);
}

// --- Files made by hand. ----------------------------------------------------

// A llama file with one layer, without the given keys and tensors.
GgufBuilder Llama(const std::set<std::string>& without = {}) {
  GgufBuilder b;
  const auto whole = [&](const std::string& key, uint32_t value) {
    if (!without.contains(key)) b.Whole(key, value);
  };
  if (!without.contains("general.architecture")) {
    b.Text("general.architecture", "llama");
  }
  whole("llama.embedding_length", kHidden);
  whole("llama.feed_forward_length", kInner);
  whole("llama.block_count", 1);
  whole("llama.attention.head_count", kHeads);
  whole("llama.attention.head_count_kv", kKvHeads);
  whole("llama.context_length", 512);
  b.Float("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const auto tensor = [&](const std::string& name, std::vector<uint64_t> e) {
    uint64_t count = 1;
    for (const uint64_t extent : e) count *= extent;
    if (without.contains(name)) return;
    b.Floats32(name, e, std::vector<float>(count, 0.5f));
  };
  tensor("token_embd.weight", {kHidden, kVocab});
  tensor("output_norm.weight", {kHidden});
  tensor("blk.0.attn_norm.weight", {kHidden});
  tensor("blk.0.attn_q.weight", {kHidden, kHeads * kHeadDim});
  tensor("blk.0.attn_k.weight", {kHidden, kKvHeads * kHeadDim});
  tensor("blk.0.attn_v.weight", {kHidden, kKvHeads * kHeadDim});
  tensor("blk.0.attn_output.weight", {kHeads * kHeadDim, kHidden});
  tensor("blk.0.ffn_norm.weight", {kHidden});
  tensor("blk.0.ffn_gate.weight", {kHidden, kInner});
  tensor("blk.0.ffn_up.weight", {kHidden, kInner});
  tensor("blk.0.ffn_down.weight", {kInner, kHidden});
  return b;
}

std::string PutBytes(const GgufBuilder& builder) {
  return builder.Write(TempFolder() + "/m.gguf");
}

void ExpectFileRefused(const GgufBuilder& builder, const std::string& what) {
  const std::string path = PutBytes(builder);
  const auto source = OpenGguf(path);
  ASSERT_FALSE(source.ok()) << what;
  EXPECT_THAT(std::string(source.status().message()),
              testing::AllOf(HasSubstr(path), HasSubstr(what)));
}

TrunkConfig ConfigOf(const GgufBuilder& builder) {
  const auto source = Open(PutBytes(builder));
  return source == nullptr ? TrunkConfig() : source->config();
}

TEST(GgufSourceTest, KeysBecomeTheConfiguration) {
  GgufBuilder b = Llama();
  b.Float("llama.rope.freq_base", 500000.0f)
      .Whole("llama.rope.dimension_count", kHeadDim)
      .Whole("llama.attention.key_length", kHeadDim)
      .Whole("llama.attention.sliding_window", 64)
      .Whole("tokenizer.ggml.eos_token_id", 7)
      .Whole("tokenizer.ggml.eot_token_id", 9);
  const TrunkConfig c = ConfigOf(b);
  EXPECT_EQ(c.architecture, Architecture::kLlama);
  EXPECT_EQ(c.vocab_size, kVocab);
  EXPECT_EQ(c.hidden_size, kHidden);
  EXPECT_EQ(c.intermediate_size, kInner);
  EXPECT_EQ(c.layers, 1);
  EXPECT_EQ(c.heads, kHeads);
  EXPECT_EQ(c.kv_heads, kKvHeads);
  EXPECT_EQ(c.head_dim, kHeadDim);
  EXPECT_EQ(c.context_length, 512);
  EXPECT_EQ(c.rope_theta, 500000.0f);
  EXPECT_EQ(c.sliding_window, 64);
  EXPECT_EQ(c.end_token, 7);
  EXPECT_THAT(c.more_end_tokens, ElementsAre(9));
  EXPECT_TRUE(c.tied_embeddings && c.gated);
  EXPECT_EQ(c.rope.kind, RopeKind::kDefault);
  EXPECT_EQ(ConfigOf(Llama()).end_token, -1);

  GgufBuilder equal = Llama({"llama.attention.head_count_kv"});
  equal.Wholes("llama.attention.head_count_kv", {kKvHeads, kKvHeads});
  EXPECT_EQ(ConfigOf(equal).kv_heads, kKvHeads);
}

TEST(GgufSourceTest, RopeScalingComesFromKeys) {
  GgufBuilder linear = Llama();
  linear.Text("llama.rope.scaling.type", "linear")
      .Float("llama.rope.scaling.factor", 4);
  EXPECT_EQ(ConfigOf(linear).rope.kind, RopeKind::kLinear);
  EXPECT_EQ(ConfigOf(linear).rope.factor, 4);
  GgufBuilder old = Llama();
  old.Float("llama.rope.scale_linear", 2);
  EXPECT_EQ(ConfigOf(old).rope.kind, RopeKind::kLinear);
  GgufBuilder none = Llama();
  none.Text("llama.rope.scaling.type", "none")
      .Float("llama.rope.scaling.factor", 4);
  EXPECT_EQ(ConfigOf(none).rope.kind, RopeKind::kDefault);
  GgufBuilder yarn = Llama();
  yarn.Text("llama.rope.scaling.type", "yarn")
      .Float("llama.rope.scaling.factor", 4)
      .Whole("llama.rope.scaling.original_context_length", 128);
  EXPECT_EQ(ConfigOf(yarn).rope.kind, RopeKind::kYarn);
  EXPECT_EQ(ConfigOf(yarn).rope.original_context, 128);
  EXPECT_EQ(ConfigOf(yarn).rope.attention_factor, 0);
  yarn.Float("llama.rope.scaling.attn_factor", 2);
  EXPECT_NEAR(ConfigOf(yarn).rope.attention_factor,
              2 * (0.1 * std::log(4.0) + 1), 1e-6);
  GgufBuilder unknown = Llama();
  unknown.Text("llama.rope.scaling.type", "longrope");
  ExpectFileRefused(unknown, "longrope");
}

// Divisors for a head of 64, rope_theta 500000 and factor 32, with Llama 3's
// published constants and the branches of Meta's code.
std::vector<float> PublishedDivisors() {
  std::vector<float> divisors;
  for (int i = 0; i < 64; i += 2) {
    const double frequency = std::pow(500000.0, -i / 64.0);
    const double wavelength = 2 * std::numbers::pi / frequency;
    double scaled;
    if (wavelength < 8192 / 4.0) {
      scaled = frequency;
    } else if (wavelength > 8192 / 1.0) {
      scaled = frequency / 32;
    } else {
      const double smooth = (8192 / wavelength - 1) / (4 - 1);
      scaled = (1 - smooth) * frequency / 32 + smooth * frequency;
    }
    divisors.push_back(static_cast<float>(frequency / scaled));
  }
  return divisors;
}

GgufBuilder WideLlama(const std::vector<float>& divisors) {
  const std::set<std::string> heads = {
      "llama.attention.head_count", "llama.attention.head_count_kv",
      "blk.0.attn_q.weight",        "blk.0.attn_k.weight",
      "blk.0.attn_v.weight",        "blk.0.attn_output.weight"};
  GgufBuilder b = Llama(heads);
  b.Whole("llama.attention.head_count", 1)
      .Whole("llama.attention.key_length", 64)
      .Whole("llama.attention.value_length", 64)
      .Float("llama.rope.freq_base", 500000.0f);
  for (const char* name : {"attn_q", "attn_k", "attn_v"}) {
    b.Floats32(absl::StrCat("blk.0.", name, ".weight"), {kHidden, 64},
               std::vector<float>(kHidden * 64, 1));
  }
  b.Floats32("blk.0.attn_output.weight", {64, kHidden},
             std::vector<float>(kHidden * 64, 1));
  b.Floats32("rope_freqs.weight", {divisors.size()}, divisors);
  return b;
}

TEST(GgufSourceTest, DivisorsOfLlama3AreRecognisedAndOthersRefused) {
  std::vector<float> divisors = PublishedDivisors();
  ASSERT_EQ(divisors.back(), 32);
  const RopeScaling rope = ConfigOf(WideLlama(divisors)).rope;
  EXPECT_EQ(rope.kind, RopeKind::kLlama3);
  EXPECT_EQ(rope.factor, 32);
  EXPECT_EQ(rope.original_context, 8192);
  EXPECT_EQ(rope.low_freq_factor, 1);
  EXPECT_EQ(rope.high_freq_factor, 4);
  EXPECT_EQ(ConfigOf(WideLlama(std::vector<float>(32, 1))).rope.kind,
            RopeKind::kDefault);

  std::vector<float> other = divisors;
  other[17] *= 1.01f;
  ExpectFileRefused(WideLlama(other), "rope_freqs.weight: found divisor");
  ExpectFileRefused(WideLlama({1, 2, 3}), "F32 of 1 x 3");
  divisors.back() = NAN;
  ExpectFileRefused(WideLlama(divisors), "rope_freqs.weight");
}

TEST(GgufSourceTest, WhatTheNetworkCannotComputeIsRefused) {
  const auto with = [](const std::string& key, uint32_t value) {
    return Llama({key}).Whole(key, value);
  };
  ExpectFileRefused(Llama({"general.architecture"}), "found nothing");
  ExpectFileRefused(
      Llama({"general.architecture"}).Text("general.architecture", "mamba"),
      "\"mamba\", supported: llama");
  ExpectFileRefused(with("llama.expert_count", 8),
                    "llama.expert_used_count: found nothing");
  GgufBuilder experts = Llama();
  experts.Whole("llama.expert_count", 4).Whole("llama.expert_used_count", 5);
  ExpectFileRefused(experts, "llama.expert_used_count: found 5");
  ExpectFileRefused(with("split.count", 3), "merge the parts");
  ExpectFileRefused(with("llama.rope.dimension_count", 4), "dimension_count");
  ExpectFileRefused(with("llama.attention.value_length", 16), "value_length");
  ExpectFileRefused(with("llama.attention.head_count_kv", 3), "head_count_kv");
  ExpectFileRefused(with("llama.block_count", 0), "llama.block_count: found 0");
  ExpectFileRefused(with("llama.block_count", 1u << 24), "16777216 layers");
  ExpectFileRefused(with("tokenizer.ggml.eos_token_id", kVocab),
                    "eos_token_id");
  ExpectFileRefused(Llama({"llama.context_length"}), "llama.context_length");
  GgufBuilder differ = Llama({"llama.feed_forward_length"});
  differ.Wholes("llama.feed_forward_length", {kInner, 32});
  ExpectFileRefused(differ, "differ between layers");
}

TEST(GgufSourceTest, MissingExtraAndMisshapenTensorsAreNamed) {
  ExpectFileRefused(Llama({"token_embd.weight"}), "token_embd.weight");
  ExpectFileRefused(Llama({"blk.0.ffn_up.weight"}),
                    "tensor blk.0.ffn_up.weight [32, 64] is missing");
  GgufBuilder extra = Llama();
  extra.Floats32("blk.0.attn_q.bias2", {2}, {1, 2});
  ExpectFileRefused(extra, "tensor blk.0.attn_q.bias2 [2] does not belong");
  GgufBuilder shape = Llama({"blk.0.attn_k.weight"});
  shape.Floats32("blk.0.attn_k.weight", {16, 32}, std::vector<float>(512, 1));
  ExpectFileRefused(shape,
                    "blk.0.attn_k.weight: expected [32, 16], found F32 "
                    "[16, 32]");
  GgufBuilder packed = Llama({"output_norm.weight"});
  packed.Tensor("output_norm.weight", {32}, 8, std::string(34, '\1'));
  ExpectFileRefused(packed,
                    "output_norm.weight: expected [32] in F32 or F16, "
                    "found Q8_0");
  GgufBuilder half_biased = Llama();
  half_biased.Floats32("blk.0.attn_q.bias", {kHidden},
                       std::vector<float>(kHidden, 1));
  ExpectFileRefused(half_biased, "blk.0.attn_k.bias [16] is missing");
}

TEST(GgufSourceTest, DamagedBytesNeverDoMoreThanFail) {
  GgufBuilder builder = Llama();
  builder.Whole("tokenizer.ggml.eos_token_id", 7);
  const std::string whole = builder.Bytes();
  const size_t header = whole.find("blk.0.ffn_up.weight") + 60;
  RandomStream random(StreamKey(13, 0, 0, Purpose::kTest));
  const std::string path = TempFolder() + "/f.gguf";
  int opened = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string bytes = whole;
    const int changes = random.Range(1, 3);
    for (int i = 0; i < changes; ++i) {
      bytes[random.Below(static_cast<uint32_t>(header))] = static_cast<char>(
          random.Below(2) == 0 ? random.Below(64) : random.Next32());
    }
    WriteFast(path, bytes);
    const auto source = OpenGguf(path);
    if (!source.ok()) continue;
    ++opened;
    for (int part = 0; part < kTensorRoles; ++part) {
      const TensorRole p = static_cast<TensorRole>(part);
      if (ShapeOf((*source)->config(), p).rows == 0) continue;
      for (const float value : ReadTensors(**source, p, 0)) {
        EXPECT_EQ(value, value);  // every byte must be readable
      }
    }
  }
  EXPECT_GT(opened, 0);
  EXPECT_LT(opened, 1500);
}

}  // namespace
}  // namespace espalier
