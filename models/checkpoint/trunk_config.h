// The configuration of a decoder-only transformer, whatever file it came from.
//
// The networks of all supported classes (hf_network.cc lists them), optionally
// with further heads, are settings of one network:
//
//   x = embedding[token] e (+ position[p], if positions are learned)
//   each layer:  x += r After(Output(Attention(Before(x))))
//                x += r After(FeedForward(Before(x)))
//   FeedForward(y) = Down(act(Gate(y)) * Up(y))   gated
//                  = Down(act(Up(y)))             not gated
//                  = sum of the chosen experts' shares of such products
//   hidden = Norm(x);  logits = cap(l lm_head hidden)
//
// Before and After are norms, or nothing; e, r and l are constants.
#ifndef ESPALIER_MODELS_CHECKPOINT_TRUNK_CONFIG_H_
#define ESPALIER_MODELS_CHECKPOINT_TRUNK_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "espalier/scores.h"

namespace espalier {

enum class Architecture : uint8_t {
  kLlama,
  kMistral,
  kQwen2,
  kQwen3,
  kGpt2,
  kGranite,
  kSmolLm3,
  kOlmo2,
  kOlmo3,
  kPhi3,
  kGlm,
  kGlm4,
  kGemma2,
  kGemma3,
  kQwen3Moe,
  kMixtral,
};

enum class NormKind : uint8_t {
  kRms,    // x / sqrt(mean(x^2) + eps) * weight
  kLayer,  // (x - mean) / sqrt(variance + eps) * weight + bias
};

enum class Activation : uint8_t {
  kSilu,      // x / (1 + exp(-x))
  kGeluTanh,  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), "gelu_new"
  kGelu,      // x/2 (1 + erf(x / sqrt(2)))
};

enum class RopeKind : uint8_t {
  kDefault,
  kLinear,    // positions divided by factor (Chen et al. 2023)
  kDynamic,   // base grows with the length beyond original_context (NTK)
  kLlama3,    // low frequencies divided by factor, smooth transition
  kYarn,      // interpolated by wavelength, attention scaled (Peng et al. 2023)
  kLongRope,  // a divisor per frequency (Ding et al. 2024)
};

// The fields of "rope_scaling" under the same names.
struct RopeScaling {
  RopeKind kind = RopeKind::kDefault;
  double factor = 1;
  int original_context = 0;  // original_max_position_embeddings
  double low_freq_factor = 1, high_freq_factor = 4;  // llama3
  double beta_fast = 32, beta_slow = 1;              // yarn
  // yarn, longrope: multiplies both queries and keys; 0 (yarn): 0.1 ln(factor)
  // + 1.
  double attention_factor = 0;
  // longrope: short_factor, the divisors within original_context. Longer texts
  // would need all earlier keys rotated anew by long_factor: not supported.
  std::vector<double> divisors;
};

// What differs between the layers of one network.
struct LayerKind {
  bool windowed = true;  // TrunkConfig::sliding_window applies
  bool rotated = true;   // false: the layer sees no positions
  bool local = false;    // rotated by local_rope_theta, without scaling
};

// A head in addition to, or instead of, the language model's.
enum class HeadKind : uint8_t {
  kNone,
  kReward,                  // Espalier's: levels (scores.h), at the last token
  kSequenceClassification,  // one row of labels, at the last token
  kTokenClassification,     // a row of labels per token
};

// What is read of a checkpoint.
enum class CheckpointPart : uint8_t {
  kAll,   // what the class in config.json has, and nothing else may be stored
  kBody,  // the network up to its final norm, whatever heads are stored
  kBodyAndLmHead,
};

struct TrunkConfig {
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int layers = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int context_length = 0;
  float rms_norm_eps = 1e-6f;  // of either norm
  float rope_theta = 10000.0f;
  float local_rope_theta = 10000.0f;  // of LayerKind::local
  // Rotated dimensions, the first of each head; 0: all of them.
  int rotary_dim = 0;
  bool tied_embeddings = true;
  bool reward_head = false;  // tensors reward_head.weight [rows, d], .bias
  // Levels that each output of the reward head gives. No level is given twice.
  std::vector<LevelSet> reward_outputs = {Level::kStep, Level::kPath};
  // Heads that each give all outputs: rows k outputs, k outputs + 1, ... of the
  // tensors are head k's. Scores are their means; more than one also gives a
  // spread.
  int reward_ensemble = 1;
  LevelWeights level_weights;  // stored with the reward head, if any
  int32_t end_token = -1;      // the first of eos_token_id, -1 if none
  std::vector<int32_t> more_end_tokens;  // the others

  Architecture architecture = Architecture::kLlama;
  NormKind norm = NormKind::kRms;
  Activation activation = Activation::kSilu;
  bool gated = true;               // has a gate product in addition to up
  bool learned_positions = false;  // GPT-2: no rotation
  bool qkv_bias = false;
  bool output_bias = false;   // of the attention's output product
  bool mlp_bias = false;      // of all feed-forward products
  bool qk_norm = false;       // RMS norm of each head's query and key
  bool qk_norm_rows = false;  // qk_norm over all heads of a row together
  bool norms_before = true;   // of attention's and the feed-forward's input
  bool norms_after = false;   // of their outputs
  // Keys at distances of this and more are not attended to; 0: no window.
  int sliding_window = 0;
  std::vector<LayerKind> layer_kinds;  // one per layer; empty: all LayerKind()
  float embedding_scale = 1;           // of embedding rows
  float residual_scale = 1;            // of what attention and feed-forward add
  float attention_scale = 0;           // of scores; 0: 1 / sqrt(head_dim)
  float logit_scale = 1;               // of logits
  // x becomes cap * tanh(x / cap); 0: no cap.
  float attention_cap = 0;  // of scores
  float logit_cap = 0;      // of scaled logits
  // Experts per layer, each a gated product of intermediate_size; 0: one
  // feed-forward for all tokens.
  int experts = 0;
  int chosen_experts = 0;  // with the largest of a token's router logits
  // Shares are the softmax over the chosen experts' logits; otherwise over
  // all, so that their sum is below 1.
  bool expert_shares_sum_to_one = true;
  RopeScaling rope;

  // Made from a network with a part that reads images, which is not loaded.
  bool reads_images = false;

  bool lm_head = true;  // false: a classifier, which cannot generate
  HeadKind head = HeadKind::kNone;  // kReward if reward_head
  int head_labels = 0;
  bool head_bias = false;

  LayerKind kind(int layer) const {
    return layer_kinds.empty() ? LayerKind()
                               : layer_kinds[static_cast<size_t>(layer)];
  }
  // Of the layer; 0: none.
  int window(int layer) const {
    return kind(layer).windowed ? sliding_window : 0;
  }
  int rotary() const { return rotary_dim > 0 ? rotary_dim : head_dim; }

  // Rows of the reward head's tensors, if there is one.
  int reward_rows() const {
    return static_cast<int>(reward_outputs.size()) * reward_ensemble;
  }
  // All levels of the reward head; none without one.
  LevelSet reward_levels() const {
    LevelSet all;
    if (!reward_head) return all;
    for (const LevelSet output : reward_outputs) all = all | output;
    return reward_ensemble > 1 ? all.WithSpread() : all;
  }

  bool IsEnd(int32_t token) const {
    if (token == end_token) return token >= 0;
    for (const int32_t more : more_end_tokens) {
      if (token == more) return true;
    }
    return false;
  }
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_TRUNK_CONFIG_H_
