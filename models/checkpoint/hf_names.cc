#include "models/checkpoint/hf_names.h"

#include <array>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/check.h"

namespace espalier {
namespace {

struct Names {
  const char* rotary;
  const char* gpt2;
};

// In the order of TensorRole; names of layer parts follow the layer's prefix.
// Parts of one network that have the same name are stored in one tensor, one
// after the other. "#" stands for the number of an expert.
constexpr std::array<Names, kTensorRoles> kNames = {{
    {"model.embed_tokens.weight", "wte.weight"},
    {nullptr, "wpe.weight"},
    {"input_layernorm.weight", "ln_1.weight"},
    {nullptr, "ln_1.bias"},
    {"self_attn.q_proj.weight", "attn.c_attn.weight"},
    {"self_attn.q_proj.bias", "attn.c_attn.bias"},
    {"self_attn.k_proj.weight", "attn.c_attn.weight"},
    {"self_attn.k_proj.bias", "attn.c_attn.bias"},
    {"self_attn.v_proj.weight", "attn.c_attn.weight"},
    {"self_attn.v_proj.bias", "attn.c_attn.bias"},
    {"self_attn.q_norm.weight", nullptr},
    {"self_attn.k_norm.weight", nullptr},
    {"self_attn.o_proj.weight", "attn.c_proj.weight"},
    {"self_attn.o_proj.bias", "attn.c_proj.bias"},
    {"post_attention_layernorm.weight", nullptr},
    {"post_attention_layernorm.weight", "ln_2.weight"},
    {nullptr, "ln_2.bias"},
    {"mlp.gate_proj.weight", nullptr},
    {"mlp.gate_proj.bias", nullptr},
    {"mlp.up_proj.weight", "mlp.c_fc.weight"},
    {"mlp.up_proj.bias", "mlp.c_fc.bias"},
    {"mlp.down_proj.weight", "mlp.c_proj.weight"},
    {"mlp.down_proj.bias", "mlp.c_proj.bias"},
    {"mlp.gate.weight", nullptr},
    {"mlp.experts.#.gate_proj.weight", nullptr},
    {"mlp.experts.#.up_proj.weight", nullptr},
    {"mlp.experts.#.down_proj.weight", nullptr},
    {"post_feedforward_layernorm.weight", nullptr},
    {"model.norm.weight", "ln_f.weight"},
    {nullptr, "ln_f.bias"},
    {"lm_head.weight", "lm_head.weight"},
    {"score.weight", nullptr},
    {"score.bias", nullptr},
}};

// Names that differ from the table's.
struct OwnName {
  Architecture architecture;
  TensorRole part;
  const char* name;
};
constexpr char kQkv[] = "self_attn.qkv_proj.weight";
constexpr char kGateUp[] = "mlp.gate_up_proj.weight";
constexpr char kBeforeForward[] = "pre_feedforward_layernorm.weight";
constexpr OwnName kOwnNames[] = {
    {Architecture::kPhi3, TensorRole::kQuery, kQkv},
    {Architecture::kPhi3, TensorRole::kKey, kQkv},
    {Architecture::kPhi3, TensorRole::kValue, kQkv},
    {Architecture::kPhi3, TensorRole::kGate, kGateUp},
    {Architecture::kPhi3, TensorRole::kUp, kGateUp},
    {Architecture::kGlm, TensorRole::kGate, kGateUp},
    {Architecture::kGlm, TensorRole::kUp, kGateUp},
    {Architecture::kGlm4, TensorRole::kGate, kGateUp},
    {Architecture::kGlm4, TensorRole::kUp, kGateUp},
    {Architecture::kGlm4, TensorRole::kAttendedNorm,
     "post_self_attn_layernorm.weight"},
    {Architecture::kGlm4, TensorRole::kForwardedNorm,
     "post_mlp_layernorm.weight"},
    {Architecture::kGemma2, TensorRole::kPostNorm, kBeforeForward},
    {Architecture::kGemma3, TensorRole::kPostNorm, kBeforeForward},
    {Architecture::kMixtral, TensorRole::kRouter,
     "block_sparse_moe.gate.weight"},
    {Architecture::kMixtral, TensorRole::kExpertGate,
     "block_sparse_moe.experts.#.w1.weight"},
    {Architecture::kMixtral, TensorRole::kExpertUp,
     "block_sparse_moe.experts.#.w3.weight"},
    {Architecture::kMixtral, TensorRole::kExpertDown,
     "block_sparse_moe.experts.#.w2.weight"},
};

bool IsGpt2(const TrunkConfig& config) {
  return config.architecture == Architecture::kGpt2;
}

// Null if the architecture has no such part.
const char* NameInLayer(const TrunkConfig& config, TensorRole part) {
  if (config.head == HeadKind::kReward) {
    if (part == TensorRole::kHead) return "reward_head.weight";
    if (part == TensorRole::kHeadBias) return "reward_head.bias";
  }
  for (const OwnName& own : kOwnNames) {
    if (own.architecture == config.architecture && own.part == part) {
      return own.name;
    }
  }
  const Names& names = kNames[static_cast<size_t>(part)];
  return IsGpt2(config) ? names.gpt2 : names.rotary;
}

std::string FullName(const TrunkConfig& config, TensorRole part, int layer,
                     int expert) {
  const char* name = NameInLayer(config, part);
  ESP_CHECK(name != nullptr);
  if (!IsLayerTensor(part)) return name;
  const std::string out =
      absl::StrCat(IsGpt2(config) ? "h." : "model.layers.", layer, ".", name);
  return IsExpertPart(part)
             ? absl::StrReplaceAll(out, {{"#", absl::StrCat(expert)}})
             : out;
}

// Rotary pairs are side by side.
bool IsPaired(const TrunkConfig& config, TensorRole part) {
  const bool glm = config.architecture == Architecture::kGlm ||
                   config.architecture == Architecture::kGlm4;
  return glm && TensorRole::kQuery <= part && part <= TensorRole::kKeyBias;
}

bool IsNorm(TensorRole part) {
  switch (part) {
    case TensorRole::kInputNorm:
    case TensorRole::kQueryNorm:
    case TensorRole::kKeyNorm:
    case TensorRole::kAttendedNorm:
    case TensorRole::kPostNorm:
    case TensorRole::kForwardedNorm:
    case TensorRole::kFinalNorm:
      return true;
    default:
      return false;
  }
}

}  // namespace

HfPlace PlaceOf(const TrunkConfig& config, TensorRole part, int layer,
                int expert) {
  const TensorShape shape = ShapeOf(config, part);
  HfPlace out{.name = FullName(config, part, layer, expert), .shape = {}};
  out.turned = IsGpt2(config) && IsLayerTensor(part) && IsMatrix(part);
  out.paired = IsPaired(config, part);
  out.offset = IsNorm(part) && (config.architecture == Architecture::kGemma2 ||
                                config.architecture == Architecture::kGemma3);
  const std::string_view own = NameInLayer(config, part);
  for (int i = 0; i < kTensorRoles; ++i) {
    const TensorRole other = static_cast<TensorRole>(i);
    const int64_t rows = ShapeOf(config, other).rows;
    const char* name = rows > 0 ? NameInLayer(config, other) : nullptr;
    if (name == nullptr || name != own) continue;
    if (other < part) out.first += rows;
    out.outputs += rows;
  }
  if (IsExpertPart(part)) out.outputs /= config.experts;
  if (!IsMatrix(part)) {
    out.shape = {out.outputs};
  } else if (out.turned) {
    out.shape = {shape.columns, out.outputs};
  } else {
    out.shape = {out.outputs, shape.columns};
  }
  return out;
}

bool IsBuffer(const TrunkConfig& config, const std::string& name) {
  if (!IsGpt2(config)) return absl::EndsWith(name, ".rotary_emb.inv_freq");
  return absl::EndsWith(name, ".attn.bias") ||
         absl::EndsWith(name, ".attn.masked_bias");
}

}  // namespace espalier
