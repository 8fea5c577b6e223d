// Forward and backward passes of a Llama block on raw buffers: the kernels
// behind the autograd functions of llama_net.
//
// A kernel works on a packed stream: `rows` tokens of several sequences one
// after the other, padded at the end to a multiple of 32 with rows of zeros.
// Every size (hidden, intermediate, vocabulary, head_dim) is a multiple of 32,
// so that no kernel needs tail code.
//
// There are two families with one interface. In kernels<float> all values are
// fp32 and the products use sgemm. In the bf16 family, values kept for the
// backward pass are bf16 and the products run on AMX tiles with fp32 sums; the
// residual stream, the internals of norms and softmax, and the weights'
// gradients are fp32 in both. GetKernels picks what the machine can run.
//
// Gradients are added into KernelContext::grads in an order that depends only
// on the stream. Thread-safe if each thread has its own scratch and gradients.
#ifndef ESPALIER_MODELS_DIFFERENTIABLE_KERNELS_H_
#define ESPALIER_MODELS_DIFFERENTIABLE_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "models/differentiable/arena.h"

namespace espalier::net {

enum class Precision { kFp32, kBf16 };

struct Shape {
  int vocab = 0;
  int hidden = 0;
  int intermediate = 0;
  int layers = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  float eps = 1e-6f;

  int qkv_dim() const { return (heads + 2 * kv_heads) * head_dim; }
  int attn_dim() const { return heads * head_dim; }
};

// A weight [n, k], row-major, y = x W^T, as offsets into the flat buffers.
struct Matrix {
  int n = 0;
  int k = 0;
  size_t offset = 0;       // into weights and grads
  size_t pack_offset = 0;  // into packs: n*k for y, then n*k for dx
};

struct LayerWeights {
  size_t norm1 = 0;  // [hidden]
  Matrix qkv;        // q, k, v rows, concatenated
  Matrix out;
  size_t norm2 = 0;  // [hidden]
  Matrix gate_up;    // gate rows, then up rows
  Matrix down;
};

// One for each level of reward (espalier/scores.h) and each head of an ensemble
// (kMostHeads of models/checkpoint/reward_head_config.h).
inline constexpr int kMostOutputs = 6 * 16;

struct HeadWeights {
  size_t embedding = 0;    // [vocab, hidden]
  size_t norm = 0;         // [hidden]
  Matrix lm;               // the embedding if tied
  size_t reward = 0;       // [reward_outputs, hidden]
  size_t reward_bias = 0;  // [reward_outputs]
  int reward_outputs = 0;  // at most kMostOutputs; 0: no reward head
};

// Input of every kernel.
struct KernelContext {
  Shape shape;
  const float* weights = nullptr;
  const uint16_t* packs = nullptr;  // bf16 tiles; null in the fp32 family
  float* grads = nullptr;
  const float* rope_cos = nullptr;  // [positions, head_dim / 2]
  const float* rope_sin = nullptr;
  Arena* scratch = nullptr;  // reset by each kernel
};

struct StreamView {
  int rows = 0;                        // padded
  int tokens = 0;                      // without padding
  const int32_t* token_ids = nullptr;  // [tokens]
  const int32_t* positions = nullptr;  // [tokens]
  const int32_t* ends = nullptr;       // [tokens]; each sees the rows before it
  const int32_t* starts = nullptr;     // [sequences + 1]
  int sequences = 0;
};

// Values kept from forward for backward, except those that are cheap to
// recompute (norms, the gated activation). `void*` is fp32 or bf16, depending
// on the family.
struct AttentionSaved {
  const float* x = nullptr;  // [rows, hidden]
  float* rstd = nullptr;     // [rows]
  void* qkv = nullptr;       // [rows, qkv_dim], before RoPE
  void* attn = nullptr;      // [rows, attn_dim]
  float* lse = nullptr;      // [heads, rows] log-sum-exp, in the family's unit
};

struct MlpSaved {
  const float* x = nullptr;
  float* rstd = nullptr;
  void* gate_up = nullptr;  // [rows, 2 * intermediate]
};

// Targets of the fused loss. Row i's logits predict `next[i]`; with `rows`, row
// rows[i]'s do, as in a tree where a token has several successors.
struct LossTargets {
  const int32_t* rows = nullptr;  // [tokens], or null
  const int32_t* next = nullptr;  // [tokens]
  const float* weight = nullptr;  // [tokens], 0 = no loss
  // Of each reward output: [tokens], NaN = no label; null: no labels.
  const float* labels[kMostOutputs] = {};
  float lm_scale = 0;                      // loss = lm_scale * sum w CE
  float reward_scales[kMostOutputs] = {};  // + sum_j scale_j * sum BCE(j)
};

// Unscaled sums over the stream.
struct LossSums {
  double lm = 0;                      // sum of weight * CE
  double rewards[kMostOutputs] = {};  // BCE of each reward output
};

struct HeadSaved {
  const float* x = nullptr;
  float* rstd = nullptr;
  void* normed = nullptr;  // [rows, hidden]
  // [lm rows, vocab], gathered rows: first probabilities, then derivatives.
  void* dlogits = nullptr;
  int32_t* lm_rows = nullptr;     // rows with weight, [lm rows]
  int32_t* lm_targets = nullptr;  // their target indices
  float* logprobs = nullptr;      // [lm rows], ln p of the target
  float* entropies = nullptr;     // [lm rows], nats
  int lm_count = 0;
  int32_t* reward_rows = nullptr;  // rows with a label
  float* dreward = nullptr;        // [reward rows, reward_outputs]
  int reward_count = 0;
};

struct Kernels {
  Precision precision;
  const char* name;     // "amx-bf16", "avx512-fp32", ...
  size_t element_size;  // of saved activations

  // Updates the packed forms of a matrix after its weights changed.
  void (*pack)(const Matrix&, const float* weights, uint16_t* packs);
  // out = x + Attention(RmsNorm(x)).
  void (*attention_forward)(const KernelContext&, const LayerWeights&,
                            const StreamView&, const AttentionSaved&,
                            float* out);
  // dx = dout + (gradient through the block); dx may be dout.
  void (*attention_backward)(const KernelContext&, const LayerWeights&,
                             const StreamView&, const AttentionSaved&,
                             const float* dout, float* dx);
  void (*mlp_forward)(const KernelContext&, const LayerWeights&, int rows,
                      const MlpSaved&, float* out);
  void (*mlp_backward)(const KernelContext&, const LayerWeights&, int rows,
                       const MlpSaved&, const float* dout, float* dx);
  // Final norm and the policy's output for the targets with nonzero weight:
  // fills saved's rows, log-probs, entropies and probabilities.
  void (*policy_forward)(const KernelContext&, const HeadWeights&,
                         const StreamView&, const LossTargets&, HeadSaved&);
  // After policy_forward: losses and their gradients. Weights may differ from
  // those given there; targets that had weight 0 still do not count.
  LossSums (*loss_forward)(const KernelContext&, const HeadWeights&,
                           const StreamView&, const LossTargets&, HeadSaved&);
  // Scales the gradients of loss_forward by `scale`.
  void (*loss_backward)(const KernelContext&, const HeadWeights&, int rows,
                        const HeadSaved&, float scale, float* dx);
  // Final norm and heads without a loss. logits [rows, vocab] or null, rewards
  // [rows, reward_outputs] (before the sigmoid) or null.
  void (*heads_forward)(const KernelContext&, const HeadWeights&, int rows,
                        const float* x, float* logits, float* rewards);
  // One AdamW step over `n` values. Sums `replicas` buffers at `grads`,
  // `stride` apart, in order, then clips by `clip`.
  void (*adamw)(size_t n, const float* grads, int replicas, size_t stride,
                float clip, float rate, float beta1, float beta2, float eps,
                float decay, float correct1, float correct2, float* weights,
                float* moment1, float* moment2);
  // Sum of squares of the summed gradients.
  double (*grad_squares)(size_t n, const float* grads, int replicas,
                         size_t stride);
};

// The fastest kernels of this machine. For kBf16 without AMX that is the fp32
// family: check `precision` of the result.
const Kernels& GetKernels(Precision precision);

// Whether the processor has AMX bf16 tiles and the operating system permits
// them.
bool HaveAmx();

}  // namespace espalier::net

#endif  // ESPALIER_MODELS_DIFFERENTIABLE_KERNELS_H_
