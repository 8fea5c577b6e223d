#include "tests/models/testing/plain_network.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

json ReadJson(const std::string& path) {
  std::ifstream in(path);
  ESP_CHECK(in.good());
  return json::parse(in);
}

// IEEE 754 binary16, by definition.
double Half(uint16_t bits) {
  const double sign = bits >> 15 ? -1 : 1;
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

double Element(const std::string& dtype, const char* data, size_t i) {
  if (dtype == "F32") {
    float value;
    std::memcpy(&value, data + 4 * i, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, data + 2 * i, sizeof(bits));
  if (dtype == "F16") return Half(bits);
  ESP_CHECK(dtype == "BF16");
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// A number, or `fallback` where the key is missing or null.
double Get(const json& object, const char* key, double fallback) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? fallback
                                                   : found->get<double>();
}

double Silu(double x) { return x / (1 + std::exp(-x)); }

double GeluNew(double x) {
  return 0.5 * x *
         (1 + std::tanh(std::sqrt(2 / std::numbers::pi) *
                        (x + 0.044715 * x * x * x)));
}

double Gelu(double x) {
  return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
}

// The window of a sliding-window configuration; 0 for full attention.
int Window(const json& config) {
  const std::string type = config.at("model_type");
  const int found = static_cast<int>(Get(config, "sliding_window", 0));
  if (type == "mistral" && !config.contains("sliding_window")) return 4096;
  const bool asked = config.value("use_sliding_window", false);
  if (type == "qwen2" || type == "qwen3" || type == "smollm3") {
    return asked ? config.value("sliding_window", 4096) : 0;
  }
  return found;
}

// config.value(key, ...), where the newer configurations have it among the
// rope's parameters.
double PartialRotaryFactor(const json& config, double fallback) {
  if (config.contains("rope_parameters")) {
    const json& rope = config.at("rope_parameters");
    if (rope.is_object() && rope.contains("partial_rotary_factor")) {
      return rope.at("partial_rotary_factor");
    }
  }
  return Get(config, "partial_rotary_factor", fallback);
}

}  // namespace

PlainNetwork::PlainNetwork(const std::string& folder)
    : config_(ReadJson(folder + "/config.json")) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") ReadTensors(entry.path());
  }
  type_ = config_.at("model_type");
  gpt2_ = type_ == "gpt2";
  layers_ = config_.at(gpt2_ ? "n_layer" : "num_hidden_layers");
  heads_ = config_.at(gpt2_ ? "n_head" : "num_attention_heads");
  kv_heads_ = static_cast<int>(Get(config_, "num_key_value_heads", heads_));
  const int hidden = config_.at(gpt2_ ? "n_embd" : "hidden_size");
  head_dim_ = static_cast<int>(Get(config_, "head_dim", hidden / heads_));
  window_ = Window(config_);
  rotary_ = static_cast<int>(
      head_dim_ * PartialRotaryFactor(config_, IsType("glm") ? 0.5 : 1.0));
  epsilon_ = gpt2_ ? Get(config_, "layer_norm_epsilon", 1e-5)
                   : Get(config_, "rms_norm_eps", 1e-6);
  scaling_ = config_.value("rope_scaling", json());
  if (scaling_.is_null()) scaling_ = config_.value("rope_parameters", json());
  theta_ = Get(config_, "rope_theta", 10000);
  if (scaling_.is_object()) theta_ = Get(scaling_, "rope_theta", theta_);
}

void PlainNetwork::ReadTensors(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  uint64_t header_bytes = 0;
  in.read(reinterpret_cast<char*>(&header_bytes), sizeof(header_bytes));
  std::string header(header_bytes, '\0');
  in.read(header.data(), static_cast<std::streamsize>(header.size()));
  const std::string data(std::istreambuf_iterator<char>(in), {});
  const json entries = json::parse(header);
  for (const auto& [name, entry] : entries.items()) {
    if (name == "__metadata__") continue;
    const std::string dtype = entry.at("dtype");
    Tensor tensor{.shape = entry.at("shape"), .values = {}};
    const size_t begin = entry.at("data_offsets")[0];
    const size_t end = entry.at("data_offsets")[1];
    const size_t count = (end - begin) / (dtype == "F32" ? 4 : 2);
    ESP_CHECK(end <= data.size());
    for (size_t i = 0; i < count; ++i) {
      tensor.values.push_back(Element(dtype, data.data() + begin, i));
    }
    tensors_[name] = std::move(tensor);
  }
}

const PlainNetwork::Tensor& PlainNetwork::Find(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  const auto prefixed = tensors_.find("transformer." + name);
  ESP_CHECK(prefixed != tensors_.end());
  return prefixed->second;
}

PlainNetwork::Row PlainNetwork::Product(const std::string& name,
                                        const Row& x) const {
  const Row& w = Find(name + ".weight").values;
  // GPT-2's Conv1D stores its matrices as [inputs, outputs].
  const bool turned = gpt2_ && name != "lm_head" && name != "wte";
  Row y(w.size() / x.size(), 0);
  for (size_t r = 0; r < y.size(); ++r) {
    for (size_t i = 0; i < x.size(); ++i) {
      y[r] += (turned ? w[i * y.size() + r] : w[r * x.size() + i]) * x[i];
    }
  }
  const auto bias = tensors_.find(name + ".bias");
  const auto prefixed = tensors_.find("transformer." + name + ".bias");
  const auto found = bias != tensors_.end() ? bias : prefixed;
  if (found != tensors_.end()) {
    for (size_t r = 0; r < y.size(); ++r) y[r] += found->second.values[r];
  }
  return y;
}

PlainNetwork::Row PlainNetwork::Norm(const std::string& name,
                                     const Row& x) const {
  const Row& weight = Find(name + ".weight").values;
  const double n = static_cast<double>(x.size());
  double mean = 0, square = 0;
  if (gpt2_) {
    for (const double v : x) mean += v / n;
  }
  for (const double v : x) square += (v - mean) * (v - mean) / n;
  Row y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    // Gemma's weights are stored less 1.
    const double w = weight[i] + (IsType("gemma") ? 1 : 0);
    y[i] = (x[i] - mean) / std::sqrt(square + epsilon_) * w;
    if (gpt2_) y[i] += Find(name + ".bias").values[i];
  }
  return y;
}

void PlainNetwork::NormHeads(const std::string& name, Row& row) const {
  const auto weight = tensors_.find(name + ".weight");
  if (weight == tensors_.end()) return;
  const auto n = static_cast<std::ptrdiff_t>(weight->second.values.size());
  for (auto head = row.begin(); head != row.end(); head += n) {
    const Row y = Norm(name, Row(head, head + n));
    std::copy(y.begin(), y.end(), head);
  }
}

bool PlainNetwork::IsType(const char* prefix) const {
  return type_.rfind(prefix, 0) == 0;
}

PlainNetwork::NormNames PlainNetwork::Norms() const {
  if (gpt2_) return {"ln_1", "", "ln_2", ""};
  if (IsType("olmo")) {
    return {"", "post_attention_layernorm", "", "post_feedforward_layernorm"};
  }
  if (type_ == "glm4") {
    return {"input_layernorm", "post_self_attn_layernorm",
            "post_attention_layernorm", "post_mlp_layernorm"};
  }
  if (IsType("gemma")) {
    return {"input_layernorm", "post_attention_layernorm",
            "pre_feedforward_layernorm", "post_feedforward_layernorm"};
  }
  return {"input_layernorm", "", "post_attention_layernorm", ""};
}

bool PlainNetwork::IsWindowed(int l) const {
  if (window_ == 0) return false;
  if (config_.contains("layer_types")) {
    return config_.at("layer_types").at(static_cast<size_t>(l)) ==
           "sliding_attention";
  }
  if (type_ == "qwen2" || type_ == "qwen3") {
    return l >= config_.value("max_window_layers", 28);
  }
  if (type_ == "smollm3") return !IsRotated(l);
  if (type_ == "olmo3") return (l + 1) % 4 != 0;
  if (type_ == "gemma2") return l % 2 == 0;
  if (IsType("gemma3")) {
    return (l + 1) % config_.value("sliding_window_pattern", 6) != 0;
  }
  return true;
}

bool PlainNetwork::IsRotated(int l) const {
  if (gpt2_) return false;
  if (type_ != "smollm3") return true;
  if (config_.contains("no_rope_layers")) {
    return config_.at("no_rope_layers").at(static_cast<size_t>(l)) == 1;
  }
  return (l + 1) % config_.value("no_rope_layer_interval", 4) != 0;
}

bool PlainNetwork::IsLocal(int l) const {
  return (type_ == "olmo3" || IsType("gemma3")) && IsWindowed(l);
}

// modeling_rope_utils, _compute_yarn_parameters.
std::vector<double> PlainNetwork::YarnFrequencies(const json& scaling) const {
  const double original =
      Get(scaling, "original_max_position_embeddings",
          config_.at("max_position_embeddings").get<double>());
  const double factor = scaling.at("factor");
  const double dim = rotary_;
  const auto correction = [&](double rotations) {
    return dim * std::log(original / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(theta_));
  };
  const double low =
      std::max(std::floor(correction(Get(scaling, "beta_fast", 32))), 0.0);
  double high =
      std::min(std::ceil(correction(Get(scaling, "beta_slow", 1))), dim - 1);
  if (low == high) high += 0.001;
  std::vector<double> out;
  for (int i = 0; i < rotary_ / 2; ++i) {
    const double plain = std::pow(theta_, -2.0 * i / dim);
    const double ramp = std::clamp((i - low) / (high - low), 0.0, 1.0);
    out.push_back(plain / factor * ramp + plain * (1 - ramp));
  }
  return out;
}

std::vector<double> PlainNetwork::Frequencies(int position) const {
  std::string type = "default";
  if (scaling_.is_object()) {
    type = scaling_.value("rope_type", scaling_.value("type", "default"));
  }
  if (type == "yarn") return YarnFrequencies(scaling_);
  const double factor = scaling_.is_object() ? Get(scaling_, "factor", 1) : 1.0;
  double base = theta_;
  if (type == "dynamic") {
    const double trained = config_.at("max_position_embeddings");
    const double length = std::max(position + 1.0, trained);
    base *= std::pow(factor * length / trained - (factor - 1),
                     rotary_ / (rotary_ - 2.0));
  }
  std::vector<double> out;
  for (int i = 0; i < rotary_ / 2; ++i) {
    double frequency = std::pow(base, -2.0 * i / rotary_);
    if (type == "longrope") {
      // The long factors, for longer texts, are not computed here.
      ESP_CHECK(position <
                Get(config_, "original_max_position_embeddings", 1e9));
      frequency /= scaling_.at("short_factor").at(i).get<double>();
    }
    if (type == "linear") frequency /= factor;
    if (type == "llama3") {
      const double low = scaling_.at("low_freq_factor");
      const double high = scaling_.at("high_freq_factor");
      const double old = scaling_.at("original_max_position_embeddings");
      const double wavelength = 2 * std::numbers::pi / frequency;
      const double smooth = (old / wavelength - low) / (high - low);
      if (wavelength > old / low) {
        frequency /= factor;
      } else if (wavelength >= old / high) {
        frequency = (1 - smooth) * frequency / factor + smooth * frequency;
      }
    }
    out.push_back(frequency);
  }
  return out;
}

double PlainNetwork::AttentionFactor() const {
  if (scaling_.is_object() &&
      scaling_.value("rope_type", scaling_.value("type", "")) == "longrope") {
    const double given = Get(scaling_, "attention_factor", 0);
    if (given != 0) return given;
    const double original = config_.at("original_max_position_embeddings");
    const double ratio =
        config_.at("max_position_embeddings").get<double>() / original;
    return ratio <= 1 ? 1 : std::sqrt(1 + std::log(ratio) / std::log(original));
  }
  if (!scaling_.is_object() ||
      scaling_.value("rope_type", scaling_.value("type", "")) != "yarn") {
    return 1;
  }
  const double given = Get(scaling_, "attention_factor", 0);
  if (given != 0) return given;
  const double factor = scaling_.at("factor");
  const auto scale = [&](double mscale) {
    return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
  };
  const double mscale = Get(scaling_, "mscale", 0);
  const double all = Get(scaling_, "mscale_all_dim", 0);
  return mscale != 0 && all != 0 ? scale(mscale) / scale(all) : scale(1);
}

void PlainNetwork::Rotate(Row& row, int l, int position) const {
  if (!IsRotated(l)) return;
  std::vector<double> frequencies = Frequencies(position);
  double scale = AttentionFactor();
  const size_t half = frequencies.size();
  if (IsLocal(l)) {  // unscaled
    const double theta = Get(config_, "rope_local_base_freq", theta_);
    for (size_t i = 0; i < half; ++i) {
      frequencies[i] = std::pow(theta, -2.0 * static_cast<double>(i) / rotary_);
    }
    scale = 1;
  }
  const bool neighbours = IsType("glm");
  for (size_t head = 0; head < row.size();
       head += static_cast<size_t>(head_dim_)) {
    for (size_t i = 0; i < half; ++i) {
      const double angle = position * frequencies[i];
      const double c = std::cos(angle) * scale, s = std::sin(angle) * scale;
      double& first = row[head + (neighbours ? 2 * i : i)];
      double& second = row[head + (neighbours ? 2 * i + 1 : half + i)];
      const double a = first, b = second;
      first = a * c - b * s;
      second = b * c + a * s;
    }
  }
}

PlainNetwork::Row PlainNetwork::Attend(const Row& queries, int l,
                                       const Cache& cache) const {
  const size_t h = static_cast<size_t>(head_dim_);
  const size_t count = cache.keys.size();
  const size_t window = static_cast<size_t>(window_);
  const size_t first = IsWindowed(l) && count > window ? count - window : 0;
  const double length = IsType("gemma")
                            ? Get(config_, "query_pre_attn_scalar", 256)
                            : static_cast<double>(head_dim_);
  const double scale = type_ == "granite"
                           ? Get(config_, "attention_multiplier", 1)
                           : 1 / std::sqrt(length);
  Row mixed(queries.size(), 0);
  for (int head = 0; head < heads_; ++head) {
    const size_t q = static_cast<size_t>(head) * h;
    const size_t kv = static_cast<size_t>(head / (heads_ / kv_heads_)) * h;
    std::vector<double> weights;
    double largest = -INFINITY, total = 0;
    for (size_t j = first; j < count; ++j) {
      double sum = 0;
      for (size_t i = 0; i < h; ++i) {
        sum += queries[q + i] * cache.keys[j][kv + i];
      }
      weights.push_back(Capped("attn_logit_softcapping", sum * scale));
      largest = std::max(largest, weights.back());
    }
    for (double& weight : weights) total += weight = std::exp(weight - largest);
    for (size_t j = first; j < count; ++j) {
      for (size_t i = 0; i < h; ++i) {
        mixed[q + i] += weights[j - first] / total * cache.values[j][kv + i];
      }
    }
  }
  return mixed;
}

std::string PlainNetwork::LayerName(int l) const {
  return (gpt2_ ? "h." : "model.layers.") + std::to_string(l) + ".";
}

PlainNetwork::Row PlainNetwork::Attention(int l, const Row& x, int position,
                                          Cache& cache) const {
  const std::string layer = LayerName(l);
  const auto part = [](const Row& row, int begin, int count) {
    return Row(row.begin() + begin, row.begin() + begin + count);
  };
  const int q = heads_ * head_dim_, kv = kv_heads_ * head_dim_;
  if (gpt2_) {
    const Row fused = Product(layer + "attn.c_attn", x);
    cache.keys.push_back(part(fused, q, kv));
    cache.values.push_back(part(fused, q + kv, kv));
    return Product(layer + "attn.c_proj", Attend(part(fused, 0, q), l, cache));
  }
  Row query, key, value;
  if (type_ == "phi3") {
    const Row fused = Product(layer + "self_attn.qkv_proj", x);
    query = part(fused, 0, q);
    key = part(fused, q, kv);
    value = part(fused, q + kv, kv);
  } else {
    query = Product(layer + "self_attn.q_proj", x);
    key = Product(layer + "self_attn.k_proj", x);
    value = Product(layer + "self_attn.v_proj", x);
  }
  NormHeads(layer + "self_attn.q_norm", query);
  NormHeads(layer + "self_attn.k_norm", key);
  Rotate(query, l, position);
  Rotate(key, l, position);
  cache.keys.push_back(std::move(key));
  cache.values.push_back(std::move(value));
  return Product(layer + "self_attn.o_proj", Attend(query, l, cache));
}

PlainNetwork::Row PlainNetwork::Gated(const Row& gate, const Row& up) const {
  Row out(gate.size());
  const bool gelu = IsType("gemma");
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = (gelu ? GeluNew(gate[i]) : Silu(gate[i])) * up[i];
  }
  return out;
}

double PlainNetwork::Capped(const char* key, double x) const {
  const double cap = Get(config_, key, 0);
  return cap == 0 ? x : cap * std::tanh(x / cap);
}

// MixtralSparseMoeBlock and Qwen3MoeSparseMoeBlock: the softmax over all
// experts, of which the largest are kept, and normalised if asked.
PlainNetwork::Row PlainNetwork::Experts(const std::string& layer,
                                        const Row& x) const {
  const bool mixtral = type_ == "mixtral";
  const std::string block = layer + (mixtral ? "block_sparse_moe." : "mlp.");
  Row shares = Product(block + "gate", x);
  double all = 0, kept = 0;
  for (double& share : shares) all += share = std::exp(share);
  for (double& share : shares) share /= all;
  std::vector<size_t> order(shares.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return shares[a] > shares[b]; });
  order.resize(config_.at("num_experts_per_tok"));
  for (const size_t e : order) kept += shares[e];
  if (!mixtral && !config_.value("norm_topk_prob", false)) kept = 1;
  Row out(x.size(), 0);
  for (const size_t e : order) {
    const std::string expert = block + "experts." + std::to_string(e) + ".";
    const Row y =
        Product(expert + (mixtral ? "w2" : "down_proj"),
                Gated(Product(expert + (mixtral ? "w1" : "gate_proj"), x),
                      Product(expert + (mixtral ? "w3" : "up_proj"), x)));
    for (size_t i = 0; i < y.size(); ++i) out[i] += shares[e] / kept * y[i];
  }
  return out;
}

PlainNetwork::Row PlainNetwork::FeedForward(int l, const Row& x) const {
  const std::string layer = LayerName(l);
  if (gpt2_) {
    const std::string act = config_.value("activation_function", "gelu_new");
    Row inner = Product(layer + "mlp.c_fc", x);
    for (double& v : inner) v = act == "gelu" ? Gelu(v) : GeluNew(v);
    return Product(layer + "mlp.c_proj", inner);
  }
  if (type_ == "mixtral" || type_ == "qwen3_moe") return Experts(layer, x);
  if (type_ == "phi3" || IsType("glm")) {
    const Row both = Product(layer + "mlp.gate_up_proj", x);
    const auto middle =
        both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2);
    return Product(layer + "mlp.down_proj",
                   Gated(Row(both.begin(), middle), Row(middle, both.end())));
  }
  return Product(layer + "mlp.down_proj",
                 Gated(Product(layer + "mlp.gate_proj", x),
                       Product(layer + "mlp.up_proj", x)));
}

PlainNetwork::Row PlainNetwork::Step(int32_t token, int position,
                                     std::vector<Cache>& caches) const {
  const auto row = [this](const std::string& name, int32_t r) {
    const Tensor& table = Find(name);
    ESP_CHECK(r >= 0 && r < table.shape[0]);
    const auto begin = table.values.begin() + r * table.shape[1];
    return Row(begin, begin + table.shape[1]);
  };
  const auto add = [](Row& x, const Row& y, double scale) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += scale * y[i];
  };
  const auto norm = [this](int l, const std::string& name, const Row& x) {
    return name.empty() ? x : Norm(LayerName(l) + name, x);
  };
  const NormNames norms = Norms();
  const double residual =
      type_ == "granite" ? Get(config_, "residual_multiplier", 1) : 1.0;
  Row x = row(gpt2_ ? "wte.weight" : "model.embed_tokens.weight", token);
  if (type_ == "granite") {
    for (double& v : x) v *= Get(config_, "embedding_multiplier", 1);
  }
  if (IsType("gemma")) {
    for (double& v : x) v *= std::sqrt(static_cast<double>(x.size()));
  }
  if (gpt2_) add(x, row("wpe.weight", position), 1);
  for (int l = 0; l < layers_; ++l) {
    const Row attended = Attention(l, norm(l, norms.before_attention, x),
                                   position, caches[static_cast<size_t>(l)]);
    add(x, norm(l, norms.after_attention, attended), residual);
    const Row forwarded = FeedForward(l, norm(l, norms.before_forward, x));
    add(x, norm(l, norms.after_forward, forwarded), residual);
  }
  return Norm(gpt2_ ? "ln_f" : "model.norm", x);
}

std::vector<PlainNetwork::Row> PlainNetwork::Hidden(
    std::span<const int32_t> tokens) const {
  std::vector<Cache> caches(static_cast<size_t>(layers_));
  std::vector<Row> out;
  for (const int32_t token : tokens) {
    out.push_back(Step(token, static_cast<int>(out.size()), caches));
  }
  return out;
}

PlainNetwork::Row PlainNetwork::Logits(const Row& hidden) const {
  Row out = Product(tensors_.contains("lm_head.weight") ? "lm_head"
                    : gpt2_                             ? "wte"
                                                        : "model.embed_tokens",
                    hidden);
  if (type_ == "granite") {
    for (double& v : out) v /= Get(config_, "logits_scaling", 1);
  }
  for (double& v : out) v = Capped("final_logit_softcapping", v);
  return out;
}

PlainNetwork::Row PlainNetwork::Scores(const Row& hidden) const {
  return Product(tensors_.contains("score.weight") ? "score" : "reward_head",
                 hidden);
}

}  // namespace espalier
