#include "models/checkpoint/hf_names.h"

#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace espalier {
namespace {

struct Names {
  const char* rotary;
  const char* gpt2;
};

// In the order of TensorRole; names of layer parts follow the layer's prefix.
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
    {"post_attention_layernorm.weight", "ln_2.weight"},
    {nullptr, "ln_2.bias"},
    {"mlp.gate_proj.weight", nullptr},
    {"mlp.gate_proj.bias", nullptr},
    {"mlp.up_proj.weight", "mlp.c_fc.weight"},
    {"mlp.up_proj.bias", "mlp.c_fc.bias"},
    {"mlp.down_proj.weight", "mlp.c_proj.weight"},
    {"mlp.down_proj.bias", "mlp.c_proj.bias"},
    {"model.norm.weight", "ln_f.weight"},
    {nullptr, "ln_f.bias"},
    {"lm_head.weight", "lm_head.weight"},
    {"score.weight", nullptr},
    {"score.bias", nullptr},
}};

std::string NameOf(const TrunkConfig& config, TensorRole part, int layer) {
  if (config.head == HeadKind::kReward) {
    if (part == TensorRole::kHead) return "reward_head.weight";
    if (part == TensorRole::kHeadBias) return "reward_head.bias";
  }
  const bool gpt2 = config.architecture == Architecture::kGpt2;
  const Names& names = kNames[static_cast<size_t>(part)];
  const char* name = gpt2 ? names.gpt2 : names.rotary;
  ESP_CHECK(name != nullptr);
  if (!IsLayerTensor(part)) return name;
  return absl::StrCat(gpt2 ? "h." : "model.layers.", layer, ".", name);
}

bool IsTurned(const TrunkConfig& config, TensorRole part) {
  return config.architecture == Architecture::kGpt2 && IsLayerTensor(part) &&
         IsMatrix(part);
}

}  // namespace

HfPlace PlaceOf(const TrunkConfig& config, TensorRole part, int layer) {
  const TensorShape shape = ShapeOf(config, part);
  HfPlace out{.name = NameOf(config, part, layer),
              .shape = {},
              .turned = IsTurned(config, part),
              .outputs = shape.rows};
  if (config.architecture == Architecture::kGpt2 &&
      TensorRole::kQuery <= part && part <= TensorRole::kValueBias) {
    const int third =
        (static_cast<int>(part) - static_cast<int>(TensorRole::kQuery)) / 2;
    out.outputs = 3 * shape.rows;
    out.first = third * shape.rows;
  }
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
  if (config.architecture != Architecture::kGpt2) {
    return absl::EndsWith(name, ".rotary_emb.inv_freq");
  }
  return absl::EndsWith(name, ".attn.bias") ||
         absl::EndsWith(name, ".attn.masked_bias");
}

}  // namespace espalier
