// A Llama in plain ATen operations with ATen's own autograd: the reference for
// the hand-written passes. One sequence at a time.
#ifndef ESPALIER_TESTS_LEARN_REFERENCE_NET_H_
#define ESPALIER_TESTS_LEARN_REFERENCE_NET_H_

#include <torch/torch.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "models/differentiable/llama_net.h"
#include "src/learn/packer.h"

namespace espalier {

struct ReferenceNet {
  explicit ReferenceNet(const net::LlamaNet& from) : config(from.config()) {
    for (const net::NetParameter& p : from.parameters()) {
      w[p.name] = from.Parameter(p.name)->clone().set_requires_grad(true);
    }
  }

  at::Tensor Norm(const at::Tensor& x, const std::string& name) {
    return x * (x.pow(2).mean(-1, true) + config.rms_norm_eps).rsqrt() *
           w.at(name);
  }

  // x [heads, n, head_dim].
  at::Tensor Rope(const at::Tensor& x) {
    const int64_t half = config.head_dim / 2;
    const at::Tensor i = at::arange(half, at::kDouble) / double(half);
    const at::Tensor rate =
        at::pow(at::scalar_tensor(config.rope_theta, at::kDouble), -i);
    const at::Tensor angle =
        at::outer(at::arange(x.size(1), at::kDouble), rate).repeat({1, 2});
    const at::Tensor turned =
        at::cat({-x.narrow(2, half, half), x.narrow(2, 0, half)}, 2);
    return x * angle.cos().to(at::kFloat) + turned * angle.sin().to(at::kFloat);
  }

  at::Tensor Attention(const at::Tensor& x, const std::string& at) {
    const int64_t n = x.size(0);
    const int64_t hd = config.head_dim;
    const auto heads = [&](const char* name, int64_t count) {
      return at::matmul(x, w.at(at + "self_attn." + name + ".weight").t())
          .view({n, count, hd})
          .transpose(0, 1);
    };
    const int64_t group = config.heads / config.kv_heads;
    const at::Tensor q = Rope(heads("q_proj", config.heads));
    const at::Tensor k =
        Rope(heads("k_proj", config.kv_heads)).repeat_interleave(group, 0);
    const at::Tensor v =
        heads("v_proj", config.kv_heads).repeat_interleave(group, 0);
    const at::Tensor hidden =
        at::ones({n, n}, at::kFloat).triu(1).to(at::kBool);
    const at::Tensor scores =
        (at::matmul(q, k.transpose(1, 2)) / std::sqrt(double(hd)))
            .masked_fill(hidden, -INFINITY);
    const at::Tensor out = at::matmul(at::softmax(scores, -1), v)
                               .transpose(0, 1)
                               .reshape({n, config.heads * hd});
    return at::matmul(out, w.at(at + "self_attn.o_proj.weight").t());
  }

  // The residual stream before the final norm.
  at::Tensor Hidden(const std::vector<int32_t>& tokens) {
    const at::Tensor ids = at::tensor(
        std::vector<int64_t>(tokens.begin(), tokens.end()), at::kLong);
    at::Tensor x = w.at("model.embed_tokens.weight").index_select(0, ids);
    for (int i = 0; i < config.layers; ++i) {
      const std::string at = "model.layers." + std::to_string(i) + ".";
      x = x + Attention(Norm(x, at + "input_layernorm.weight"), at);
      const at::Tensor h = Norm(x, at + "post_attention_layernorm.weight");
      const at::Tensor gate =
          at::matmul(h, w.at(at + "mlp.gate_proj.weight").t());
      const at::Tensor up = at::matmul(h, w.at(at + "mlp.up_proj.weight").t());
      x = x + at::matmul(at::silu(gate) * up,
                         w.at(at + "mlp.down_proj.weight").t());
    }
    return x;
  }

  at::Tensor Logits(const at::Tensor& hidden) {
    const std::string head =
        config.tied_embeddings ? "model.embed_tokens.weight" : "lm_head.weight";
    return at::matmul(Norm(hidden, "model.norm.weight"), w.at(head).t());
  }

  at::Tensor Rewards(const at::Tensor& hidden) {
    return at::matmul(Norm(hidden, "model.norm.weight"),
                      w.at("reward_head.weight").t()) +
           w.at("reward_head.bias");
  }

  // sum w CE * lm + sum BCE(step) * step + sum BCE(path) * path.
  at::Tensor Loss(const TrainSequence& s, double lm, double step, double path) {
    const at::Tensor hidden = Hidden(s.tokens);
    const at::Tensor logp = at::log_softmax(Logits(hidden), -1);
    const at::Tensor rewards = Rewards(hidden);
    at::Tensor loss = at::zeros({1});
    const double scales[2] = {step, path};
    for (size_t i = 0; i < s.tokens.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (i > 0 && s.lm_weight[i] != 0) {
        loss = loss - logp[row - 1][s.tokens[i]] * s.lm_weight[i] * lm;
      }
      for (int j = 0; j < 2; ++j) {
        const float label =
            j == 0 ? s.labels[Level::kStep][i] : s.labels[Level::kPath][i];
        if (std::isnan(label)) continue;
        const at::Tensor z = rewards[row][j];
        loss = loss - (label * at::log_sigmoid(z) +
                       (1 - label) * at::log_sigmoid(-z)) *
                          scales[j];
      }
    }
    return loss;
  }

  TrunkConfig config;
  std::map<std::string, at::Tensor> w;
};

}  // namespace espalier

#endif  // ESPALIER_TESTS_LEARN_REFERENCE_NET_H_
