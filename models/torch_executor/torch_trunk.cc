#include "models/torch_executor/torch_trunk.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "models/torch_executor/torch_api.h"
#include "models/torch_executor/torch_pages.h"

namespace espalier {
namespace {

at::Tensor OnHost(const float* data, int64_t rows, int64_t columns) {
  return at::from_blob(const_cast<float*>(data), {rows, columns}, at::kFloat);
}

// x / sqrt(mean(x^2) + eps) * weight, over the last dimension.
at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const at::Tensor mean = x.square().mean({-1}, /*keepdim=*/true);
  return x * (mean + eps).rsqrt() * weight;
}

// Indices of the rows whose final norm is requested, segment by segment.
std::vector<int64_t> WantedRows(absl::Span<const Segment> segments) {
  std::vector<int64_t> out;
  int64_t first = 0;
  for (const Segment& s : segments) {
    const int64_t count = static_cast<int64_t>(s.tokens.size());
    if (s.all_hidden != nullptr) {
      for (int64_t t = 0; t < count; ++t) out.push_back(first + t);
    } else if (s.last_hidden != nullptr && count > 0) {
      out.push_back(first + count - 1);
    }
    first += count;
  }
  return out;
}

}  // namespace

TorchTrunk::TorchTrunk(TorchNetwork network, int64_t reserve_bytes)
    : net_(std::move(network)),
      device_(net_.embedding.device()),
      dtype_(net_.embedding.scalar_type()),
      reserve_bytes_(reserve_bytes),
      ropes_(net_.config) {}

std::unique_ptr<PageMemory> TorchTrunk::NewPages() const {
  return std::make_unique<TorchPages>(
      net_.config, at::TensorOptions().dtype(dtype_).device(device_),
      reserve_bytes_);
}

void TorchTrunk::Forward(absl::Span<const Segment> segments, PageMemory& pages,
                         Executor& executor) {
  SetThreads(executor.threads());
  OnDevice(device_.str(),
           [&] { RunTrunk(segments, static_cast<TorchPages&>(pages)); });
}

// 1. Rows of all segments; 2. the attention plan; 3. one copy of all indices;
// 4. layers; 5. the final norm of the requested rows.
void TorchTrunk::RunTrunk(absl::Span<const Segment> segments,
                          TorchPages& pages) {
  const TrunkConfig& c = net_.config;
  std::vector<int64_t> tokens, positions, slots;
  int length = 0;
  for (const Segment& s : segments) {
    for (size_t t = 0; t < s.tokens.size(); ++t) {
      const int position = s.start + static_cast<int>(t);
      const PageId page = s.pages[static_cast<size_t>(position / kPageSlots)];
      tokens.push_back(s.tokens[t]);
      positions.push_back(position);
      slots.push_back(int64_t{page} * c.kv_heads * kPageSlots +
                      position % kPageSlots);
      length = std::max(length, position + 1);
    }
  }
  if (tokens.empty()) return;

  IndexUpload upload;
  const auto tokens_at = upload.Add(tokens);
  const auto positions_at = upload.Add(positions);
  const auto slots_at = upload.Add(slots);
  const auto wanted_at = upload.Add(WantedRows(segments));
  std::map<int, TorchAttention> attention;  // by the layers' windows
  for (int i = 0; i < c.layers; ++i) {
    const int window = c.window(i);
    if (attention.contains(window)) continue;
    attention.try_emplace(
        window, c, window,
        PlanAttention(segments, LimitsFor(c, window, device_, dtype_)), upload);
  }
  upload.Send(device_);
  for (auto& [window, of_window] : attention) of_window.Prepare(upload);

  Rows rows;
  rows.positions = upload.at(positions_at);
  const at::Tensor heads = at::arange(c.kv_heads, rows.positions.options());
  rows.slots =
      (upload.at(slots_at).unsqueeze(1) + heads * kPageSlots).flatten();
  Reach(length);
  for (const auto& [rope, all] : angles_) {
    rows.angles[rope] = {all.cos.index_select(0, rows.positions).unsqueeze(1),
                         all.sin.index_select(0, rows.positions).unsqueeze(1)};
  }
  at::Tensor x = Embed(upload.at(tokens_at), rows);
  for (int i = 0; i < c.layers; ++i) {
    Attend(i, rows, pages, attention.at(c.window(i)), x);
    FeedForward(net_.layers[static_cast<size_t>(i)], x);
  }
  if (wanted_at.size == 0) return;
  WriteHidden(segments, Norm(x.index_select(0, upload.at(wanted_at)),
                             net_.final_norm, net_.final_norm_bias)
                            .to(at::kCPU)
                            .contiguous());
}

at::Tensor TorchTrunk::Embed(const at::Tensor& tokens, const Rows& rows) const {
  at::Tensor x = net_.embedding.index_select(0, tokens).to(at::kFloat);
  if (net_.config.embedding_scale != 1) x.mul_(net_.config.embedding_scale);
  if (net_.config.learned_positions) {
    x.add_(net_.positions.index_select(0, rows.positions));
  }
  return x;
}

void TorchTrunk::Attend(int index, const Rows& rows, TorchPages& pages,
                        TorchAttention& attention, at::Tensor& x) const {
  const TrunkConfig& c = net_.config;
  const TorchLayer& layer = net_.layers[static_cast<size_t>(index)];
  const int64_t h = c.head_dim;
  const at::Tensor qkv =
      Product(Norm(x, layer.input_norm, layer.input_norm_bias), layer.qkv,
              layer.qkv_bias)
          .view({-1, c.heads + 2 * c.kv_heads, h});
  at::Tensor queries = qkv.narrow(1, 0, c.heads);
  at::Tensor keys = qkv.narrow(1, c.heads, c.kv_heads);
  if (c.qk_norm) {
    queries = NormHeads(queries, layer.query_norm);
    keys = NormHeads(keys, layer.key_norm);
  }
  if (const Rope* rope = ropes_.of(index)) {
    const Angles& angles = rows.angles.at(rope);
    queries = Rotated(queries, angles);
    keys = Rotated(keys, angles);
  }
  const auto store = [&](at::Tensor blocks, const at::Tensor& y) {
    blocks.view({-1, h}).index_copy_(0, rows.slots,
                                     y.reshape({-1, h}).to(dtype_));
  };
  store(pages.key_blocks(index), keys);
  store(pages.value_blocks(index),
        qkv.narrow(1, c.heads + c.kv_heads, c.kv_heads));
  const double scale = c.attention_scale > 0
                           ? c.attention_scale
                           : 1 / std::sqrt(static_cast<double>(h));
  const at::Tensor attended =
      attention.Run((queries * scale).to(dtype_), pages, index);
  AddBranch(Product(attended, layer.output, layer.output_bias),
            layer.attended_norm, x);
}

at::Tensor TorchTrunk::Rotated(const at::Tensor& y,
                               const Angles& angles) const {
  const int64_t rotary = net_.config.rotary(), half = rotary / 2;
  const at::Tensor a = y.narrow(2, 0, half), b = y.narrow(2, half, half);
  return at::cat(
      {a * angles.cos - b * angles.sin, b * angles.cos + a * angles.sin,
       y.narrow(2, rotary, y.size(2) - rotary)},
      2);
}

at::Tensor TorchTrunk::NormHeads(const at::Tensor& y,
                                 const at::Tensor& weight) const {
  const TrunkConfig& c = net_.config;
  if (!c.qk_norm_rows) return RmsNorm(y, weight, c.rms_norm_eps);
  return RmsNorm(y.flatten(1), weight, c.rms_norm_eps).view_as(y);
}

void TorchTrunk::AddBranch(const at::Tensor& y, const at::Tensor& weight,
                           at::Tensor& x) const {
  const TrunkConfig& c = net_.config;
  x.add_(weight.defined() ? RmsNorm(y, weight, c.rms_norm_eps) : y,
         c.residual_scale);
}

void TorchTrunk::FeedForward(const TorchLayer& layer, at::Tensor& x) const {
  const TrunkConfig& c = net_.config;
  at::Tensor y = Product(Norm(x, layer.post_norm, layer.post_norm_bias),
                         layer.up, layer.up_bias);
  const int64_t f = c.intermediate_size;
  y = c.gated ? Activate(y.narrow(1, 0, f)).mul_(y.narrow(1, f, f))
              : Activate(y);
  AddBranch(Product(y, layer.down, layer.down_bias), layer.forwarded_norm, x);
}

void TorchTrunk::WriteHidden(absl::Span<const Segment> segments,
                             const at::Tensor& hidden) const {
  const float* row = hidden.data_ptr<float>();
  const size_t d = static_cast<size_t>(net_.config.hidden_size);
  for (const Segment& s : segments) {
    if (s.tokens.empty()) continue;
    if (s.all_hidden != nullptr) {
      std::copy_n(row, s.tokens.size() * d, s.all_hidden);
      row += (s.tokens.size() - 1) * d;
    } else if (s.last_hidden == nullptr) {
      continue;
    }
    if (s.last_hidden != nullptr) std::copy_n(row, d, s.last_hidden);
    row += d;
  }
}

at::Tensor TorchTrunk::Norm(const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias) const {
  const TrunkConfig& c = net_.config;
  if (!weight.defined()) return x;
  if (c.norm == NormKind::kRms) return RmsNorm(x, weight, c.rms_norm_eps);
  return at::layer_norm(x, {c.hidden_size}, weight, bias, c.rms_norm_eps);
}

at::Tensor TorchTrunk::Product(const at::Tensor& x, const at::Tensor& weight,
                               const at::Tensor& bias) const {
  at::Tensor y = at::linear(x.to(dtype_), weight).to(at::kFloat);
  if (bias.defined()) y.add_(bias);
  return y;
}

at::Tensor TorchTrunk::Activate(const at::Tensor& x) const {
  switch (net_.config.activation) {
    case Activation::kSilu:
      return at::silu(x);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kGelu:
      break;
  }
  return at::gelu(x);
}

void TorchTrunk::Reach(int length) {
  // All tables are equally long.
  for (int i = 0; i < net_.config.layers; ++i) {
    const Rope* rope = ropes_.of(i);
    if (rope == nullptr) continue;
    const at::Tensor& known = angles_[rope].cos;
    if (known.defined() && length <= known.size(0)) return;
    // In large steps: the whole table is uploaded each time.
    length = std::max(length, 1024);
    if (known.defined()) length = std::max<int>(length, 2 * known.size(0));
    break;
  }
  ropes_.Reach(length);
  const int64_t half = net_.config.rotary() / 2;
  for (int i = 0; i < net_.config.layers; ++i) {
    const Rope* rope = ropes_.of(i);
    if (rope == nullptr) continue;
    Angles& angles = angles_[rope];
    if (angles.cos.defined() && angles.cos.size(0) == length) continue;
    angles.cos = OnHost(rope->cos(0), length, half).clone().to(device_);
    angles.sin = OnHost(rope->sin(0), length, half).clone().to(device_);
  }
}

void TorchTrunk::Logits(const float* hidden, int n, float* logits,
                        Executor& executor) {
  const TrunkConfig& c = net_.config;
  SetThreads(executor.threads());
  OnDevice(device_.str(), [&] {
    const at::Tensor rows = OnHost(hidden, n, c.hidden_size).to(device_);
    at::Tensor out = Product(rows, net_.lm_head, {});
    if (c.logit_scale != 1) out.mul_(c.logit_scale);
    if (c.logit_cap > 0) out.div_(c.logit_cap).tanh_().mul_(c.logit_cap);
    OnHost(logits, n, c.vocab_size).copy_(out);
  });
}

void TorchTrunk::Head(const float* hidden, int n, float* out) {
  net_.head.Apply(hidden, n, out);
}

void TorchTrunk::Rewards(const float* hidden, int n, StepScores* scores) {
  ESP_CHECK(net_.config.reward_head);
  net_.head.Rewards(hidden, n, scores);
}

}  // namespace espalier
