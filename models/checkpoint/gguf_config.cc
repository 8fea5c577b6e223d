#include "models/checkpoint/gguf_config.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "models/checkpoint/layer_kinds.h"

namespace espalier {
namespace {

// Larger extents are corrupt files, not models; products of two still fit 64
// bits.
constexpr int64_t kMaxExtent = int64_t{1} << 24;
// Llama 3's context; files of its descendants keep the scaling for it.
constexpr int kLlama3Context = 8192;

// Reads typed keys of one file and keeps the first error. Names that begin with
// a dot get the architecture's prefix: ".block_count" is "llama.block_count".
class Reader {
 public:
  Reader(const GgufFile& file, std::string_view architecture)
      : file_(file), architecture_(architecture) {}

  const absl::Status& status() const { return status_; }

  std::string Key(std::string_view name) const {
    return name[0] == '.' ? absl::StrCat(architecture_, AbslView(name))
                          : std::string(name);
  }
  const GgufValue* Find(std::string_view name) const {
    return file_.Find(Key(name));
  }
  bool Has(const std::string& tensor) const {
    return file_.FindTensor(tensor) != nullptr;
  }
  void Refuse(std::string_view name, const std::string& found,
              const std::string& supported) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(
        absl::StrCat(file_.path(), ": key ", Key(name), ": found ", found,
                     ", supported: ", supported));
  }

  // Some keys may list a value per layer: all must be equal. `fallback` < 0:
  // the key is required.
  int Extent(std::string_view name, int fallback) {
    const GgufValue* value = Find(name);
    if (value == nullptr) {
      if (fallback < 0) Refuse(name, "nothing", "a whole number");
      return fallback;
    }
    const int64_t first = value->Whole().value_or(0);
    if (first < 1 || first > kMaxExtent) {
      Refuse(name, value->Describe(),
             absl::StrCat("whole numbers 1 to ", kMaxExtent));
      return 1;
    }
    for (size_t i = 1; i < value->size(); ++i) {
      if (value->Whole(i) == first) continue;
      Refuse(name, absl::StrCat("values that differ between layers"),
             "one value for all layers");
    }
    return static_cast<int>(first);
  }

  double Positive(std::string_view name, double fallback) {
    const GgufValue* value = Find(name);
    if (value == nullptr) return fallback;
    const double found = value->is_array() ? 0 : value->Number().value_or(0);
    // Not (x > 0), so that NaN is rejected too. What is 0 in fp32 is not above
    // 0.
    if (!(static_cast<float>(found) > 0) || !(found < 1e30)) {
      Refuse(name, value->Describe(), "numbers above 0");
      return fallback;
    }
    return found;
  }

  // 0 if the key is missing or 0.
  double PositiveOrZero(std::string_view name) {
    const GgufValue* value = Find(name);
    return value == nullptr || value->Number() == 0 ? 0 : Positive(name, 1);
  }

  // A key of an unsupported feature: must be absent or zero.
  void Neutral(std::string_view name) {
    const GgufValue* value = Find(name);
    if (value != nullptr && (value->is_array() || value->Number() != 0)) {
      Refuse(name, value->Describe(), "0 or absent");
    }
  }

 private:
  const GgufFile& file_;
  const std::string architecture_;
  absl::Status status_;
};

void ReadSizes(Reader& in, const GgufFile& file, TrunkConfig& config) {
  const GgufTensor* embedding = file.FindTensor("token_embd.weight");
  if (embedding == nullptr || embedding->rows() > kMaxExtent) {
    in.Refuse("general.architecture",
              embedding == nullptr ? "no tensor token_embd.weight"
                                   : "a vocabulary too large",
              absl::StrCat("models with an embedding of at most ", kMaxExtent,
                           " tokens"));
    return;
  }
  config.vocab_size = static_cast<int>(embedding->rows());
  config.hidden_size = in.Extent(".embedding_length", -1);
  config.intermediate_size = in.Extent(".feed_forward_length", -1);
  config.layers = in.Extent(".block_count", -1);
  config.heads = in.Extent(".attention.head_count", -1);
  config.context_length = in.Extent(".context_length", -1);
  if (!in.status().ok()) return;
  config.kv_heads = in.Extent(".attention.head_count_kv", config.heads);
  if (in.Find(".attention.key_length") == nullptr &&
      config.hidden_size % config.heads != 0) {
    in.Refuse(
        ".attention.head_count", absl::StrCat(config.heads),
        absl::StrCat("divisors of the embedding length ", config.hidden_size));
  }
  config.head_dim = in.Extent(".attention.key_length",
                              std::max(1, config.hidden_size / config.heads));
  const int value_dim = in.Extent(".attention.value_length", config.head_dim);
  if (value_dim != config.head_dim) {
    in.Refuse(".attention.value_length", absl::StrCat(value_dim),
              absl::StrCat("the key length ", config.head_dim));
  }
  if (config.heads % config.kv_heads != 0) {
    in.Refuse(".attention.head_count_kv", absl::StrCat(config.kv_heads),
              absl::StrCat("divisors of the head count ", config.heads));
  }
}

// The divisor of each frequency by Llama 3's formula (Meta's reference code;
// transformers calls the kind "llama3").
std::vector<double> Llama3Divisors(const TrunkConfig& config,
                                   const RopeScaling& rope) {
  std::vector<double> divisors;
  for (int i = 0; i < config.head_dim; i += 2) {
    const double turn = 2 * std::numbers::pi *
                        std::pow(static_cast<double>(config.rope_theta),
                                 static_cast<double>(i) / config.head_dim);
    const double blend = (rope.original_context / turn - rope.low_freq_factor) /
                         (rope.high_freq_factor - rope.low_freq_factor);
    const double smooth = std::clamp(blend, 0.0, 1.0);
    divisors.push_back(1 / ((1 - smooth) / rope.factor + smooth));
  }
  return divisors;
}

// Reads rope_freqs.weight, if it exists.
absl::Status ReadDivisors(const GgufFile& file, TrunkConfig& config) {
  const GgufTensor* tensor = file.FindTensor("rope_freqs.weight");
  if (tensor == nullptr) return absl::OkStatus();
  const auto bad = [&](const std::string& found) {
    return absl::UnimplementedError(absl::StrCat(
        file.path(), ": tensor rope_freqs.weight: found ", found,
        ", supported: F32 [", config.head_dim / 2,
        "] with the rope scaling of Llama 3 (original context ", kLlama3Context,
        ", low and high frequency factors 1 and 4)"));
  };
  if (tensor->type != GgufTensorType::kF32 || tensor->extents.size() != 1 ||
      tensor->columns() != config.head_dim / 2) {
    return bad(
        absl::StrCat(GgufTensorTypeName(static_cast<uint32_t>(tensor->type)),
                     " of ", tensor->rows(), " x ", tensor->columns()));
  }
  std::vector<float> found(static_cast<size_t>(tensor->columns()));
  ReadGgufBlocks(tensor->type, file.data(*tensor).data(), tensor->columns(),
                 found.data());
  const bool plain = std::all_of(found.begin(), found.end(),
                                 [](float divisor) { return divisor == 1; });
  if (plain) return absl::OkStatus();
  if (config.rope.kind != RopeKind::kDefault) {
    return bad("divisors together with another rope scaling");
  }
  RopeScaling rope;
  rope.kind = RopeKind::kLlama3;
  rope.factor = found.back();
  rope.original_context = kLlama3Context;
  if (!(rope.factor > 1) || !(rope.factor < 1e6)) {
    return bad(absl::StrCat("a last divisor of ", rope.factor));
  }
  const std::vector<double> expected = Llama3Divisors(config, rope);
  for (size_t i = 0; i < found.size(); ++i) {
    // Writers compute in fp32, some with the rounding of a cosine.
    if (!(std::abs(found[i] - expected[i]) <= 1e-4 * expected[i])) {
      return bad(absl::StrCat("divisor ", found[i], " at ", i,
                              " where that formula gives ", expected[i]));
    }
  }
  config.rope = rope;
  return absl::OkStatus();
}

void ReadRope(Reader& in, TrunkConfig& config) {
  config.rope_theta =
      static_cast<float>(in.Positive(".rope.freq_base", 10000.0));
  const int rotated = in.Extent(".rope.dimension_count", config.head_dim);
  const bool partly = config.architecture == Architecture::kPhi3 ||
                      config.architecture == Architecture::kGlm4;
  if ((partly ? rotated > config.head_dim : rotated != config.head_dim) ||
      rotated % 2 != 0) {
    in.Refuse(".rope.dimension_count", absl::StrCat(rotated),
              absl::StrCat(partly ? "at most" : "all of", " a head's ",
                           config.head_dim, " dimensions, in pairs"));
  }
  if (rotated != config.head_dim) config.rotary_dim = rotated;
  in.Neutral(".rope.scaling.yarn_log_multiplier");
  double factor = in.Positive(".rope.scale_linear", 1.0);
  factor = in.Positive(".rope.scaling.factor", factor);
  const GgufValue* type = in.Find(".rope.scaling.type");
  // In files older than this key a factor means linear scaling.
  const std::string_view kind =
      type == nullptr ? "linear" : type->Text().value_or("");
  config.rope.factor = factor;
  if (kind == "linear") {
    if (factor != 1) config.rope.kind = RopeKind::kLinear;
  } else if (kind == "yarn") {
    config.rope.kind = RopeKind::kYarn;
    config.rope.original_context = in.Extent(
        ".rope.scaling.original_context_length", config.context_length);
    config.rope.beta_fast =
        in.Positive(".rope.scaling.yarn_beta_fast", config.rope.beta_fast);
    config.rope.beta_slow =
        in.Positive(".rope.scaling.yarn_beta_slow", config.rope.beta_slow);
    // The file's factor multiplies the formula's.
    const double by = in.Positive(".rope.scaling.attn_factor", 1.0);
    if (by != 1)
      config.rope.attention_factor = by * (0.1 * std::log(factor) + 1);
  } else if (kind == "none" || kind == "longrope") {
    config.rope = {};  // longrope: ReadLongRope
  } else {
    in.Refuse(".rope.scaling.type", type->Describe(),
              "none, linear, yarn, longrope");
  }
}

void ReadEndTokens(Reader& in, TrunkConfig& config) {
  for (const char* name :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
        "tokenizer.ggml.eom_token_id"}) {
    const GgufValue* value = in.Find(name);
    if (value == nullptr) continue;
    const int64_t id = value->is_array() ? -1 : value->Whole().value_or(-1);
    if (id < 0 || id >= config.vocab_size) {
      in.Refuse(name, value->Describe(),
                absl::StrCat("an id below the vocabulary's size ",
                             config.vocab_size));
    } else if (config.end_token < 0) {
      config.end_token = static_cast<int32_t>(id);
    } else if (!config.IsEnd(static_cast<int32_t>(id))) {
      config.more_end_tokens.push_back(static_cast<int32_t>(id));
    }
  }
}

// Which layers have the window: ".attention.sliding_window_pattern" lists them
// or gives the interval of those without; by default all but each
// `interval`-th.
void ReadWindows(Reader& in, int interval, TrunkConfig& config) {
  constexpr char kKey[] = ".attention.sliding_window_pattern";
  std::vector<LayerKind>& kinds = EveryLayerKind(config);
  const GgufValue* value = in.Find(kKey);
  if (value == nullptr || !value->is_array()) {
    return SlideAllButEach(
        value == nullptr ? interval : in.Extent(kKey, interval), config);
  }
  bool good = value->size() == kinds.size();
  for (size_t i = 0; good && i < kinds.size(); ++i) {
    good = value->Flag(i).has_value();
    kinds[i].windowed = value->Flag(i).value_or(false);
  }
  if (!good) {
    in.Refuse(kKey, value->Describe(),
              absl::StrCat("a number, or flags of ", config.layers, " layers"));
  }
}

void ReadGranite(Reader& in, TrunkConfig& config) {
  config.embedding_scale =
      static_cast<float>(in.Positive(".embedding_scale", 1));
  config.residual_scale = static_cast<float>(in.Positive(".residual_scale", 1));
  config.attention_scale =
      static_cast<float>(in.PositiveOrZero(".attention.scale"));
  config.logit_scale = static_cast<float>(1 / in.Positive(".logit_scale", 1));
}

// Files do not say which layers are not rotated: each fourth.
void ReadSmolLm3(Reader& in, TrunkConfig& config) {
  in.Neutral(".attention.sliding_window");
  std::vector<LayerKind>& kinds = EveryLayerKind(config);
  for (size_t i = 0; i < kinds.size(); ++i) kinds[i].rotated = (i + 1) % 4 != 0;
}

// OLMo 3 is OLMo 2 with a window in three of four layers, which are rotated
// without scaling.
void ReadOlmo(Reader& in, TrunkConfig& config) {
  config.norms_before = false;
  config.norms_after = true;
  config.qk_norm = config.qk_norm_rows = true;
  if (config.sliding_window == 0) return;
  config.architecture = Architecture::kOlmo3;
  constexpr char kFactor[] = ".rope.scaling.attn_factor";
  if (config.rope.kind == RopeKind::kYarn && in.Positive(kFactor, 1) != 1) {
    in.Refuse(kFactor, in.Find(kFactor)->Describe(),
              "1 or absent in an OLMo 3, as readers disagree on what it "
              "multiplies; use the Hugging Face folder");
  }
  ReadWindows(in, 4, config);
  config.local_rope_theta = config.rope_theta;
  for (LayerKind& kind : config.layer_kinds) kind.local = kind.windowed;
}

void ReadGlm4(Reader&, TrunkConfig& config) { config.norms_after = true; }

// `odd_layers` layers has the model whose queries are scaled by another
// length than a head's.
void ReadGemma(Reader& in, int odd_layers, TrunkConfig& config) {
  config.activation = Activation::kGeluTanh;
  config.norms_after = true;
  config.embedding_scale = std::sqrt(static_cast<float>(config.hidden_size));
  if (config.layers == odd_layers) {
    config.attention_scale =
        1 / std::sqrt(static_cast<float>(config.hidden_size / config.heads));
  }
  config.logit_cap =
      static_cast<float>(in.PositiveOrZero(".final_logit_softcapping"));
  config.sliding_window = in.Extent(".attention.sliding_window", 4096);
}

void ReadGemma2(Reader& in, TrunkConfig& config) {
  ReadGemma(in, 46, config);
  config.attention_cap =
      static_cast<float>(in.Positive(".attn_logit_softcapping", 50));
  config.logit_cap =
      static_cast<float>(in.Positive(".final_logit_softcapping", 30));
  ReadWindows(in, 2, config);
}

void ReadGemma3(Reader& in, TrunkConfig& config) {
  ReadGemma(in, 62, config);
  config.qk_norm = true;
  ReadWindows(in, 6, config);
  config.local_rope_theta =
      static_cast<float>(in.Positive(".rope.freq_base_swa", 10000));
  for (LayerKind& kind : config.layer_kinds) kind.local = kind.windowed;
}

void ReadExperts(Reader& in, TrunkConfig& config) {
  constexpr int kMostExperts = 1024;
  config.experts = in.Extent(".expert_count", -1);
  if (config.experts > kMostExperts) {
    in.Refuse(".expert_count", absl::StrCat(config.experts),
              absl::StrCat("1 to ", kMostExperts));
  }
  config.chosen_experts = in.Extent(".expert_used_count", -1);
  if (config.chosen_experts > config.experts) {
    in.Refuse(".expert_used_count", absl::StrCat(config.chosen_experts),
              absl::StrCat("at most the ", config.experts, " experts"));
  }
  config.intermediate_size =
      in.Extent(".expert_feed_forward_length", config.intermediate_size);
}

void ReadQwen3(Reader&, TrunkConfig& config) { config.qk_norm = true; }

void ReadQwen3Moe(Reader& in, TrunkConfig& config) {
  config.qk_norm = true;
  ReadExperts(in, config);
}

// A Llama with experts is a Mixtral.
void ReadLlama(Reader& in, TrunkConfig& config) {
  const GgufValue* experts = in.Find(".expert_count");
  if (experts == nullptr || experts->Whole() == 0) return;
  config.architecture = Architecture::kMixtral;
  ReadExperts(in, config);
}

struct GgufArchitecture {
  std::string_view name;
  Architecture architecture;
  // Reads what only this architecture has; may be null.
  void (*own)(Reader& in, TrunkConfig& config);
};
constexpr GgufArchitecture kGgufArchitectures[] = {
    {"llama", Architecture::kLlama, &ReadLlama},
    {"qwen2", Architecture::kQwen2, nullptr},
    {"qwen3", Architecture::kQwen3, &ReadQwen3},
    {"gpt2", Architecture::kGpt2, nullptr},
    {"granite", Architecture::kGranite, &ReadGranite},
    {"smollm3", Architecture::kSmolLm3, &ReadSmolLm3},
    {"olmo2", Architecture::kOlmo2, &ReadOlmo},
    {"phi3", Architecture::kPhi3, nullptr},
    {"glm4", Architecture::kGlm4, &ReadGlm4},
    {"gemma2", Architecture::kGemma2, &ReadGemma2},
    {"gemma3", Architecture::kGemma3, &ReadGemma3},
    {"qwen3moe", Architecture::kQwen3Moe, &ReadQwen3Moe},
};

absl::StatusOr<GgufArchitecture> FindArchitecture(const GgufFile& file) {
  const GgufValue* value = file.Find("general.architecture");
  std::string names;
  for (const GgufArchitecture& row : kGgufArchitectures) {
    if (value != nullptr && value->Text() == row.name) return row;
    absl::StrAppend(&names, names.empty() ? "" : ", ", AbslView(row.name));
  }
  return absl::UnimplementedError(
      absl::StrCat(file.path(), ": key general.architecture: found ",
                   value == nullptr ? "nothing" : value->Describe(),
                   ", supported: ", names));
}

void ReadNetwork(Reader& in, const GgufArchitecture& row, TrunkConfig& config) {
  const bool gpt2 = config.architecture == Architecture::kGpt2;
  config.norm = gpt2 ? NormKind::kLayer : NormKind::kRms;
  config.rms_norm_eps =
      static_cast<float>(in.Positive(gpt2 ? ".attention.layer_norm_epsilon"
                                          : ".attention.layer_norm_rms_epsilon",
                                     1e-5));
  config.activation = gpt2 ? Activation::kGeluTanh : Activation::kSilu;
  config.gated = !gpt2;
  config.learned_positions = gpt2;
  const auto biased = [&](const char* product) {
    return in.Has(absl::StrCat("blk.0.", product, ".bias"));
  };
  config.qkv_bias = biased(gpt2 ? "attn_qkv" : "attn_q");
  config.output_bias = biased("attn_output");
  config.mlp_bias = biased("ffn_up");
  config.tied_embeddings = !in.Has("output.weight");
  if (const GgufValue* window = in.Find(".attention.sliding_window");
      window != nullptr && window->Whole() != 0) {
    config.sliding_window = in.Extent(".attention.sliding_window", 1);
  }
  if (!config.learned_positions) ReadRope(in, config);
  if (row.own != nullptr) row.own(in, config);
  if (config.experts == 0) in.Neutral(".expert_count");
  if (!config.layer_kinds.empty() &&
      config.layer_kinds.size() != static_cast<size_t>(config.layers)) {
    in.Refuse(".block_count", absl::StrCat(config.layers),
              absl::StrCat("at most ", config.layer_kinds.size()));
  }
}

// Phi-3's divisors of frequencies within the original context.
absl::Status ReadLongRope(Reader& in, const GgufFile& file,
                          TrunkConfig& config) {
  constexpr char kName[] = "rope_factors_short.weight";
  const GgufTensor* tensor = file.FindTensor(kName);
  if (tensor == nullptr) {
    const GgufValue* type = in.Find(".rope.scaling.type");
    if (type != nullptr && type->Text() == "longrope") {
      in.Refuse(
          ".rope.scaling.type", type->Describe(),
          absl::StrCat("none, linear, yarn, longrope with a tensor ", kName));
    }
    return in.status();
  }
  const int64_t pairs = config.rotary() / 2;
  if (tensor->type != GgufTensorType::kF32 || tensor->extents.size() != 1 ||
      tensor->columns() != pairs ||
      config.architecture != Architecture::kPhi3 ||
      config.rope.kind != RopeKind::kDefault) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.path(), ": tensor ", kName, ": expected F32 [", pairs,
                     "] in a phi3 without other rope scaling, "
                     "found ",
                     GgufTensorTypeName(static_cast<uint32_t>(tensor->type)),
                     " of ", tensor->rows(), " x ", tensor->columns()));
  }
  std::vector<float> found(static_cast<size_t>(pairs));
  ReadGgufBlocks(tensor->type, file.data(*tensor).data(), pairs, found.data());
  for (const float divisor : found) {
    if (divisor > 0 && divisor < 1e30f) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file.path(), ": tensor ", kName,
                     ": expected numbers above 0, found ", divisor));
  }
  RopeScaling& rope = config.rope;
  rope.kind = RopeKind::kLongRope;
  rope.divisors.assign(found.begin(), found.end());
  rope.original_context =
      in.Extent(".rope.scaling.original_context_length", config.context_length);
  rope.factor =
      static_cast<double>(config.context_length) / rope.original_context;
  rope.attention_factor = in.Positive(".rope.scaling.attn_factor", 1);
  config.context_length =
      std::min(config.context_length, rope.original_context);
  return in.status();
}

}  // namespace

absl::StatusOr<TrunkConfig> ReadGgufConfig(const GgufFile& file) {
  absl::StatusOr<GgufArchitecture> row = FindArchitecture(file);
  if (!row.ok()) return row.status();
  Reader in(file, *file.Find("general.architecture")->Text());
  if (const GgufValue* parts = file.Find("split.count");
      parts != nullptr && parts->Whole().value_or(0) > 1) {
    in.Refuse("split.count", parts->Describe(),
              "one file; merge the parts first");
  }
  TrunkConfig config;
  config.architecture = row->architecture;
  ReadSizes(in, file, config);
  if (!in.status().ok()) return in.status();
  ReadNetwork(in, *row, config);
  ReadEndTokens(in, config);
  if (!in.status().ok()) return in.status();
  if (absl::Status divisors = ReadDivisors(file, config); !divisors.ok()) {
    return divisors;
  }
  if (absl::Status read = ReadLongRope(in, file, config); !read.ok()) {
    return read;
  }
  return config;
}

}  // namespace espalier
