// Forward passes of a net as chains of autograd functions.
#include <torch/torch.h>

#include <cstring>

#include "base/check.h"
#include "models/differentiable/llama_net.h"

namespace espalier::net {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

struct Replica::Op {
  const KernelContext* context;
  const Kernels* kernels;
  const StreamView* stream;
  Arena* saved;
  const LayerWeights* layer = nullptr;
  const HeadWeights* head = nullptr;
  float** gradient_rows = nullptr;  // the replica's two buffers
  int index = 0;                    // in the chain
  AttentionSaved attention;
  MlpSaved mlp;
  HeadSaved loss;

  at::Tensor NewRows() const {
    const int64_t rows = stream->rows;
    const int64_t d = context->shape.hidden;
    return torch::from_blob(saved->Get<float>(rows * d), {rows, d}, at::kFloat);
  }
  // Where this op's backward pass writes its result. The next op of the
  // backward pass reads it and writes to the other buffer.
  at::Tensor GradientRows() const {
    float*& rows = gradient_rows[index % 2];
    const int64_t n = stream->rows;
    const int64_t d = context->shape.hidden;
    if (rows == nullptr) rows = saved->Get<float>(n * d);
    return torch::from_blob(rows, {n, d}, at::kFloat);
  }
  void* Kept(size_t columns) const {
    return saved->Allocate(columns * stream->rows * kernels->element_size);
  }
};

namespace {

using Op = Replica::Op;

constexpr char kOp[] = "op";

// The op outlives the graph: both belong to one pass of one replica.
void Keep(AutogradContext* ctx, Op* op) {
  ctx->saved_data[kOp] = reinterpret_cast<int64_t>(op);
}
Op* Kept(AutogradContext* ctx) {
  return reinterpret_cast<Op*>(ctx->saved_data[kOp].toInt());
}

struct EmbedFunction : torch::autograd::Function<EmbedFunction> {
  static Variable forward(AutogradContext* ctx, Variable /*anchor*/, Op* op) {
    Keep(ctx, op);
    const size_t d = op->context->shape.hidden;
    at::Tensor out = op->NewRows();
    float* x = out.data_ptr<float>();
    const StreamView& stream = *op->stream;
    const float* table = op->context->weights + op->head->embedding;
    for (int i = 0; i < stream.tokens; ++i) {
      std::memcpy(x + i * d, table + stream.token_ids[i] * d,
                  d * sizeof(float));
    }
    std::memset(x + stream.tokens * d, 0,
                (stream.rows - stream.tokens) * d * sizeof(float));
    return out;
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const Op* op = Kept(ctx);
    const size_t d = op->context->shape.hidden;
    const at::Tensor grad = grads[0].contiguous();
    const float* dout = grad.data_ptr<float>();
    float* table = op->context->grads + op->head->embedding;
    for (int i = 0; i < op->stream->tokens; ++i) {
      float* row = table + op->stream->token_ids[i] * d;
      for (size_t c = 0; c < d; ++c) row[c] += dout[i * d + c];
    }
    return {Variable(), Variable()};
  }
};

struct AttentionFunction : torch::autograd::Function<AttentionFunction> {
  static Variable forward(AutogradContext* ctx, Variable x, Op* op) {
    Keep(ctx, op);
    const Shape& s = op->context->shape;
    op->attention = {.x = x.data_ptr<float>(),
                     .rstd = op->saved->Get<float>(op->stream->rows),
                     .qkv = op->Kept(s.qkv_dim()),
                     .attn = op->Kept(s.attn_dim()),
                     .lse = op->saved->Get<float>(
                         static_cast<size_t>(op->stream->rows) * s.heads)};
    at::Tensor out = op->NewRows();
    op->kernels->attention_forward(*op->context, *op->layer, *op->stream,
                                   op->attention, out.data_ptr<float>());
    return out;
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const Op* op = Kept(ctx);
    const at::Tensor dout = grads[0].contiguous();
    at::Tensor dx = op->GradientRows();
    op->kernels->attention_backward(*op->context, *op->layer, *op->stream,
                                    op->attention, dout.data_ptr<float>(),
                                    dx.data_ptr<float>());
    return {dx, Variable()};
  }
};

struct MlpFunction : torch::autograd::Function<MlpFunction> {
  static Variable forward(AutogradContext* ctx, Variable x, Op* op) {
    Keep(ctx, op);
    const Shape& s = op->context->shape;
    op->mlp = {.x = x.data_ptr<float>(),
               .rstd = op->saved->Get<float>(op->stream->rows),
               .gate_up = op->Kept(2 * s.intermediate)};
    at::Tensor out = op->NewRows();
    op->kernels->mlp_forward(*op->context, *op->layer, op->stream->rows,
                             op->mlp, out.data_ptr<float>());
    return out;
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const Op* op = Kept(ctx);
    const at::Tensor dout = grads[0].contiguous();
    at::Tensor dx = op->GradientRows();
    op->kernels->mlp_backward(*op->context, *op->layer, op->stream->rows,
                              op->mlp, dout.data_ptr<float>(),
                              dx.data_ptr<float>());
    return {dx, Variable()};
  }
};

struct LossFunction : torch::autograd::Function<LossFunction> {
  static Variable forward(AutogradContext* ctx, Variable /*x*/, Op* op,
                          const LossTargets* targets, LossSums* sums) {
    Keep(ctx, op);
    *sums = op->kernels->loss_forward(*op->context, *op->head, *op->stream,
                                      *targets, op->loss);
    double loss = sums->lm * targets->lm_scale;
    for (int j = 0; j < op->head->reward_outputs; ++j) {
      loss += sums->rewards[j] * targets->reward_scales[j];
    }
    return at::scalar_tensor(static_cast<float>(loss), at::kFloat);
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const Op* op = Kept(ctx);
    at::Tensor dx = op->GradientRows();
    op->kernels->loss_backward(*op->context, *op->head, op->stream->rows,
                               op->loss, grads[0].item<float>(),
                               dx.data_ptr<float>());
    return {dx, Variable(), Variable(), Variable()};
  }
};

}  // namespace

Replica::Replica(const LlamaNet& net, float* grads) : net_(net) {
  context_ = {.shape = net.shape_,
              .weights = net.weights_.data_ptr<float>(),
              .packs = reinterpret_cast<const uint16_t*>(
                  net.packs_.data_ptr<int16_t>()),
              .grads = grads,
              .rope_cos = net.cos_.data_ptr<float>(),
              .rope_sin = net.sin_.data_ptr<float>(),
              .scratch = &scratch_};
  anchor_ = at::zeros({1}, at::kFloat);
  set_grads(grads);
}

void Replica::set_grads(float* grads) {
  context_.grads = grads;
  anchor_.set_requires_grad(grads != nullptr);
}

Replica::~Replica() = default;

at::Tensor Replica::Hidden(const PackedStream& stream) {
  ops_.clear();
  policy_done_ = false;
  saved_.Reset();
  gradient_rows_[0] = gradient_rows_[1] = nullptr;
  stream_ = {.rows = stream.rows(),
             .tokens = stream.size(),
             .token_ids = stream.tokens.data(),
             .positions = stream.positions.data(),
             .ends = stream.ends.data(),
             .starts = stream.starts.data(),
             .sequences = static_cast<int>(stream.starts.size()) - 1};
  const auto add = [this](const LayerWeights* layer) {
    Op& op = ops_.emplace_back();
    op.context = &context_;
    op.kernels = &net_.kernels_;
    op.stream = &stream_;
    op.saved = &saved_;
    op.layer = layer;
    op.head = &net_.head_;
    op.gradient_rows = gradient_rows_;
    op.index = static_cast<int>(ops_.size());
    return &op;
  };
  at::Tensor x = EmbedFunction::apply(anchor_, add(nullptr));
  for (const LayerWeights& layer : net_.layers_) {
    x = AttentionFunction::apply(x, add(&layer));
    x = MlpFunction::apply(x, add(&layer));
  }
  return x;
}

PolicyView Replica::Policy(const at::Tensor& hidden,
                           const LossTargets& targets) {
  Op& op = ops_.emplace_back(ops_.back());
  ++op.index;
  const Shape& s = net_.shape_;
  const size_t rows = static_cast<size_t>(stream_.rows);
  op.loss = {.x = hidden.data_ptr<float>(),
             .rstd = saved_.Get<float>(rows),
             .normed = op.Kept(s.hidden),
             .dlogits = op.Kept(s.vocab),
             .lm_rows = saved_.Get<int32_t>(rows),
             .lm_targets = saved_.Get<int32_t>(rows),
             .logprobs = saved_.Get<float>(rows),
             .entropies = saved_.Get<float>(rows),
             .reward_rows = saved_.Get<int32_t>(rows),
             .dreward = saved_.Get<float>(
                 static_cast<size_t>(net_.head_.reward_outputs) * rows)};
  net_.kernels_.policy_forward(context_, net_.head_, stream_, targets, op.loss);
  policy_done_ = true;
  return {.count = op.loss.lm_count,
          .targets = op.loss.lm_targets,
          .logprobs = op.loss.logprobs,
          .entropies = op.loss.entropies};
}

at::Tensor Replica::Loss(const at::Tensor& hidden, const LossTargets& targets,
                         LossSums* sums) {
  for (int j = net_.head_.reward_outputs; j < kMostOutputs; ++j) {
    ESP_CHECK(targets.labels[j] == nullptr);
  }
  if (!policy_done_) Policy(hidden, targets);
  policy_done_ = false;
  return LossFunction::apply(hidden, &ops_.back(), &targets, sums);
}

at::Tensor Replica::Logits(const at::Tensor& hidden) {
  at::Tensor out = at::empty({hidden.size(0), net_.shape_.vocab}, at::kFloat);
  net_.kernels_.heads_forward(
      context_, net_.head_, static_cast<int>(hidden.size(0)),
      hidden.data_ptr<float>(), out.data_ptr<float>(), nullptr);
  return out;
}

at::Tensor Replica::Rewards(const at::Tensor& hidden) {
  ESP_CHECK(net_.config_.reward_head);
  at::Tensor out =
      at::empty({hidden.size(0), net_.head_.reward_outputs}, at::kFloat);
  net_.kernels_.heads_forward(
      context_, net_.head_, static_cast<int>(hidden.size(0)),
      hidden.data_ptr<float>(), nullptr, out.data_ptr<float>());
  return out;
}

}  // namespace espalier::net
