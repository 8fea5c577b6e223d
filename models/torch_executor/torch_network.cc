#include "models/torch_executor/torch_network.h"

#include <algorithm>

namespace espalier {
namespace {

// Floats of a matrix on the host at a time.
constexpr int64_t kStripFloats = int64_t{4} << 20;

class Loader {
 public:
  Loader(const TensorSource& source, at::Device device, at::ScalarType dtype)
      : source_(source), c_(source.config()), device_(device), dtype_(dtype) {}

  TorchNetwork Run() {
    TorchNetwork net;
    net.config = c_;
    net.embedding = Matrix({TensorRole::kEmbedding}, 0);
    net.lm_head = c_.lm_head && !c_.tied_embeddings
                      ? Matrix({TensorRole::kLmHead}, 0)
                      : net.embedding;
    net.positions =
        Joined({TensorRole::kPositions}, 0, at::kFloat, c_.hidden_size);
    for (int i = 0; i < c_.layers; ++i) net.layers.push_back(Layer(i));
    net.final_norm = Vector({TensorRole::kFinalNorm}, 0);
    net.final_norm_bias = Vector({TensorRole::kFinalNormBias}, 0);
    net.head = ReadLabelHead(source_);
    return net;
  }

 private:
  using Parts = std::vector<TensorRole>;

  TorchLayer Layer(int i) {
    const auto gate = [&](TensorRole gate, TensorRole up) {
      return c_.gated ? Parts{gate, up} : Parts{up};
    };
    TorchLayer out;
    out.input_norm = Vector({TensorRole::kInputNorm}, i);
    out.input_norm_bias = Vector({TensorRole::kInputNormBias}, i);
    out.query_norm = Vector({TensorRole::kQueryNorm}, i);
    out.key_norm = Vector({TensorRole::kKeyNorm}, i);
    out.qkv =
        Matrix({TensorRole::kQuery, TensorRole::kKey, TensorRole::kValue}, i);
    out.qkv_bias = Vector(
        {TensorRole::kQueryBias, TensorRole::kKeyBias, TensorRole::kValueBias},
        i);
    out.output = Matrix({TensorRole::kOutput}, i);
    out.output_bias = Vector({TensorRole::kOutputBias}, i);
    out.attended_norm = Vector({TensorRole::kAttendedNorm}, i);
    out.forwarded_norm = Vector({TensorRole::kForwardedNorm}, i);
    out.post_norm = Vector({TensorRole::kPostNorm}, i);
    out.post_norm_bias = Vector({TensorRole::kPostNormBias}, i);
    out.up = Matrix(gate(TensorRole::kGate, TensorRole::kUp), i);
    out.up_bias = Vector(gate(TensorRole::kGateBias, TensorRole::kUpBias), i);
    out.down = Matrix({TensorRole::kDown}, i);
    out.down_bias = Vector({TensorRole::kDownBias}, i);
    return out;
  }

  at::Tensor Matrix(const Parts& parts, int layer) {
    return Joined(parts, layer, dtype_, ShapeOf(c_, parts[0]).columns);
  }
  at::Tensor Vector(const Parts& parts, int layer) {
    const at::Tensor out = Joined(parts, layer, at::kFloat, 1);
    return out.defined() ? out.flatten() : out;
  }

  // The rows of `parts`, concatenated; undefined if there are none.
  at::Tensor Joined(const Parts& parts, int layer, at::ScalarType dtype,
                    int64_t columns) {
    int64_t rows = 0;
    for (const TensorRole part : parts) rows += ShapeOf(c_, part).rows;
    if (rows == 0) return {};
    at::Tensor out = at::empty(
        {rows, columns}, at::TensorOptions().dtype(dtype).device(device_));
    int64_t to = 0;
    for (const TensorRole part : parts) {
      const int64_t count = ShapeOf(c_, part).rows;
      const int64_t strip = std::max<int64_t>(1, kStripFloats / columns);
      for (int64_t row = 0; row < count; row += strip) {
        const int64_t n = std::min(strip, count - row);
        at::Tensor host = at::empty({n, columns}, at::kFloat);
        source_.Read(part, layer, row, row + n, host.data_ptr<float>());
        out.narrow(0, to + row, n).copy_(host);
      }
      to += count;
      source_.Release(part, layer);
    }
    return out;
  }

  const TensorSource& source_;
  const TrunkConfig& c_;
  const at::Device device_;
  const at::ScalarType dtype_;
};

}  // namespace

TorchNetwork TorchNetwork::Load(const TensorSource& source, at::Device device,
                                at::ScalarType dtype) {
  return Loader(source, device, dtype).Run();
}

}  // namespace espalier
