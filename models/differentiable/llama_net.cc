#include "models/differentiable/llama_net.h"

#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/random.h"
#include "base/text.h"

namespace espalier::net {
namespace {

absl::Status CheckSizes(const TrunkConfig& c) {
  const struct {
    const char* name;
    int value;
  } sizes[] = {{"vocab_size", c.vocab_size},
               {"hidden_size", c.hidden_size},
               {"intermediate_size", c.intermediate_size},
               {"head_dim", c.head_dim}};
  for (const auto& size : sizes) {
    if (size.value <= 0 || size.value % 32 != 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s is %d: the training kernels need a multiple of 32", size.name,
          size.value));
    }
  }
  if (c.layers <= 0 || c.context_length <= 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d layers and a context of %d: expected at least 1 of each", c.layers,
        c.context_length));
  }
  if (c.heads <= 0 || c.kv_heads <= 0 || c.heads % c.kv_heads != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d heads share %d key-value heads: expected a divisor of the heads",
        c.heads, c.kv_heads));
  }
  return absl::OkStatus();
}

}  // namespace

void PackedStream::Add(absl::Span<const int32_t> sequence) {
  tokens.insert(tokens.end(), sequence.begin(), sequence.end());
  const size_t first = positions.size();
  positions.resize(tokens.size());
  std::iota(positions.begin() + first, positions.end(), 0);
  ends.resize(tokens.size(), static_cast<int32_t>(tokens.size()));
  starts.push_back(static_cast<int32_t>(tokens.size()));
}

absl::StatusOr<std::unique_ptr<LlamaNet>> LlamaNet::Create(
    const TrunkConfig& config, uint64_t seed, Precision precision) {
  if (absl::Status status = CheckSizes(config); !status.ok()) return status;
  std::unique_ptr<LlamaNet> net(new LlamaNet(config, GetKernels(precision)));
  net->Lay();
  net->Initialise(seed);
  return net;
}

size_t LlamaNet::Add(std::string name, std::vector<int64_t> shape,
                     float init_std, float init_value, bool decay) {
  size_t size = 1;
  for (int64_t n : shape) size *= n;
  const size_t offset = flat_size_;
  parameters_.push_back({std::move(name), std::move(shape), offset, size, decay,
                         init_std, init_value});
  flat_size_ += (size + 15) / 16 * 16;
  return offset;
}

Matrix LlamaNet::AddMatrix(absl::Span<const std::string> names,
                           absl::Span<const int> rows, int k, float init_std) {
  Matrix out;
  out.k = k;
  out.offset = flat_size_;
  for (size_t i = 0; i < names.size(); ++i) {
    Add(names[i], {rows[i], k}, init_std, 0, /*decay=*/true);
    out.n += rows[i];
  }
  out.pack_offset = pack_size_;
  pack_size_ += static_cast<size_t>(2) * out.n * k;
  matrices_.push_back(out);
  return out;
}

void LlamaNet::Lay() {
  const TrunkConfig& c = config_;
  shape_ = {.vocab = c.vocab_size,
            .hidden = c.hidden_size,
            .intermediate = c.intermediate_size,
            .layers = c.layers,
            .heads = c.heads,
            .kv_heads = c.kv_heads,
            .head_dim = c.head_dim,
            .eps = c.rms_norm_eps};
  const int d = c.hidden_size;
  const int f = c.intermediate_size;
  const int attn = shape_.attn_dim();
  const int kv = c.kv_heads * c.head_dim;
  // Unit variance in, unit variance out; outputs added to the residual stream
  // shrink with depth so that the sum over layers does not grow.
  const auto fan_in = [](int n) { return 1.0f / std::sqrt(n); };
  const float depth = 1.0f / std::sqrt(2.0f * c.layers);
  const Matrix embedding =
      AddMatrix({"model.embed_tokens.weight"}, {c.vocab_size}, d, fan_in(d));
  head_.embedding = embedding.offset;
  for (int i = 0; i < c.layers; ++i) {
    const std::string at = absl::StrCat("model.layers.", i, ".");
    LayerWeights layer;
    layer.norm1 = Add(at + "input_layernorm.weight", {d}, 0, 1, false);
    layer.qkv = AddMatrix(
        {at + "self_attn.q_proj.weight", at + "self_attn.k_proj.weight",
         at + "self_attn.v_proj.weight"},
        {attn, kv, kv}, d, fan_in(d));
    layer.out = AddMatrix({at + "self_attn.o_proj.weight"}, {d}, attn,
                          fan_in(attn) * depth);
    layer.norm2 = Add(at + "post_attention_layernorm.weight", {d}, 0, 1, false);
    layer.gate_up =
        AddMatrix({at + "mlp.gate_proj.weight", at + "mlp.up_proj.weight"},
                  {f, f}, d, fan_in(d));
    layer.down =
        AddMatrix({at + "mlp.down_proj.weight"}, {d}, f, fan_in(f) * depth);
    layers_.push_back(layer);
  }
  head_.norm = Add("model.norm.weight", {d}, 0, 1, false);
  head_.lm = c.tied_embeddings
                 ? embedding
                 : AddMatrix({"lm_head.weight"}, {c.vocab_size}, d, fan_in(d));
  if (c.reward_head) {
    const int outputs = c.reward_rows();
    head_.reward = Add("reward_head.weight", {outputs, d}, fan_in(d), 0, true);
    head_.reward_bias = Add("reward_head.bias", {outputs}, 0, 0, false);
    head_.reward_outputs = outputs;
  }
}

void LlamaNet::Initialise(uint64_t seed) {
  weights_ = at::zeros({static_cast<int64_t>(flat_size_)}, at::kFloat);
  packs_ = at::zeros({static_cast<int64_t>(pack_size_)}, at::kShort);
  float* weights = weights_.data_ptr<float>();
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const NetParameter& p = parameters_[i];
    RandomStream rng(
        StreamKey(seed, StableHash(p.name), 0, Purpose::kTrain, 0));
    for (size_t j = 0; j < p.size; ++j) {
      weights[p.offset + j] =
          p.init_value +
          (p.init_std > 0 ? p.init_std * static_cast<float>(rng.Normal()) : 0);
    }
  }
  const int half = config_.head_dim / 2;
  cos_ = at::empty({config_.context_length, half}, at::kFloat);
  sin_ = at::empty_like(cos_);
  for (int t = 0; t < config_.context_length; ++t) {
    for (int i = 0; i < half; ++i) {
      const double angle = t * std::pow(static_cast<double>(config_.rope_theta),
                                        -i / double(half));
      cos_.data_ptr<float>()[t * half + i] =
          static_cast<float>(std::cos(angle));
      sin_.data_ptr<float>()[t * half + i] =
          static_cast<float>(std::sin(angle));
    }
  }
  Refresh();
}

size_t LlamaNet::parameter_count() const {
  size_t count = 0;
  for (const NetParameter& p : parameters_) count += p.size;
  return count;
}

absl::StatusOr<at::Tensor> LlamaNet::Parameter(std::string_view name) const {
  for (const NetParameter& p : parameters_) {
    if (p.name != name) continue;
    return weights_
        .narrow(0, static_cast<int64_t>(p.offset), static_cast<int64_t>(p.size))
        .view(p.shape);
  }
  return absl::NotFoundError(absl::StrCat(
      "no parameter '", AbslView(name), "'; the first is '",
      parameters_[0].name, "', the last '", parameters_.back().name, "'"));
}

void LlamaNet::Refresh() {
  for (int i = 0; i < matrices(); ++i) RefreshMatrix(i);
}

void LlamaNet::RefreshMatrix(int i) {
  kernels_.pack(matrices_[i], weights_.data_ptr<float>(),
                reinterpret_cast<uint16_t*>(packs_.data_ptr<int16_t>()));
}

}  // namespace espalier::net
