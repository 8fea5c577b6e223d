#include "models/kernel_executor/network.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace espalier {
namespace {

class Packer {
 public:
  Packer(const TensorSource& source, const KernelPath& path, WeightKind kind)
      : source_(source),
        path_(path),
        c_(source.config()),
        kind_(kind),
        outer_kind_(kind == WeightKind::kInt4 ? WeightKind::kInt8 : kind) {}

  // Each matrix outside the layers and each whole layer is packed by one
  // thread.
  Network Run(Executor* executor) {
    Network net;
    net.config = c_;
    net.layers.resize(static_cast<size_t>(c_.layers));
    const auto pack = [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        if (i >= 2) {
          net.layers[static_cast<size_t>(i - 2)] = Layer(i - 2);
        } else if (i == 0) {
          net.embedding = Matrix({TensorRole::kEmbedding}, 0, outer_kind_);
        } else if (c_.lm_head && !c_.tied_embeddings) {
          net.lm_head = Matrix({TensorRole::kLmHead}, 0, outer_kind_);
        }
      }
    };
    if (executor != nullptr) {
      executor->ParallelFor(c_.layers + 2, 1, pack);
    } else {
      pack(0, c_.layers + 2);
    }
    net.positions = Vector(TensorRole::kPositions, 0);
    net.final_norm = Vector(TensorRole::kFinalNorm, 0);
    net.final_norm_bias = Vector(TensorRole::kFinalNormBias, 0);
    net.head = ReadLabelHead(source_);
    net.bytes = Bytes(net);
    return net;
  }

 private:
  static int64_t Bytes(const Network& net) {
    int64_t bytes = net.embedding->bytes();
    if (net.lm_head) bytes += net.lm_head->bytes();
    for (const NetworkLayer& layer : net.layers) {
      bytes += layer.qkv->bytes() + layer.output->bytes();
      if (layer.up) bytes += layer.up->bytes() + layer.down->bytes();
      if (layer.router) bytes += layer.router->bytes();
      for (const ExpertWeights& expert : layer.experts) {
        bytes += expert.up->bytes() + expert.down->bytes();
      }
    }
    return bytes;
  }

  NetworkLayer Layer(int i) const {
    NetworkLayer out;
    out.input_norm = Vector(TensorRole::kInputNorm, i);
    out.input_norm_bias = Vector(TensorRole::kInputNormBias, i);
    out.query_norm = Vector(TensorRole::kQueryNorm, i);
    out.key_norm = Vector(TensorRole::kKeyNorm, i);
    out.qkv =
        Matrix({TensorRole::kQuery, TensorRole::kKey, TensorRole::kValue}, i);
    out.qkv_bias = Joined(
        {TensorRole::kQueryBias, TensorRole::kKeyBias, TensorRole::kValueBias},
        i);
    out.output = Output(i);
    out.output_bias = Vector(TensorRole::kOutputBias, i);
    out.post_norm = Vector(TensorRole::kPostNorm, i);
    out.post_norm_bias = Vector(TensorRole::kPostNormBias, i);
    out.attended_norm = Vector(TensorRole::kAttendedNorm, i);
    out.forwarded_norm = Vector(TensorRole::kForwardedNorm, i);
    if (c_.experts > 0) {
      AddExperts(i, out);
      return out;
    }
    if (c_.gated) {
      out.up = GateUp(TensorRole::kGate, TensorRole::kUp, i, 0);
      out.up_bias = GateUpBias(i);
    } else {
      out.up = Matrix({TensorRole::kUp}, i);
      out.up_bias = Vector(TensorRole::kUpBias, i);
    }
    out.down = Matrix({TensorRole::kDown}, i);
    out.down_bias = Vector(TensorRole::kDownBias, i);
    return out;
  }

  void AddExperts(int layer, NetworkLayer& out) const {
    const int d = c_.hidden_size, f = c_.intermediate_size;
    out.router = std::make_unique<PackedMatrix>(
        c_.experts, d, WeightKind::kFp32, [&](int begin, int count, float* to) {
          source_.Read(TensorRole::kRouter, layer, begin, begin + count, to);
        });
    for (int e = 0; e < c_.experts; ++e) {
      ExpertWeights& expert = out.experts.emplace_back();
      expert.up =
          GateUp(TensorRole::kExpertGate, TensorRole::kExpertUp, layer, e);
      expert.down =
          path_.Pack(d, f, kind_, [&](int begin, int count, float* to) {
            const int64_t from = int64_t{e} * d + begin;
            source_.Read(TensorRole::kExpertDown, layer, from, from + count,
                         to);
          });
    }
    for (const TensorRole part :
         {TensorRole::kRouter, TensorRole::kExpertGate, TensorRole::kExpertUp,
          TensorRole::kExpertDown}) {
      source_.Release(part, layer);
    }
  }

  // Empty if the network has no such part.
  std::vector<float> Vector(TensorRole part, int layer) const {
    const TensorShape shape = ShapeOf(c_, part);
    std::vector<float> out(static_cast<size_t>(shape.rows * shape.columns));
    if (!out.empty()) source_.Read(part, layer, 0, shape.rows, out.data());
    return out;
  }

  std::vector<float> Joined(absl::Span<const TensorRole> parts,
                            int layer) const {
    std::vector<float> out;
    for (const TensorRole part : parts) {
      const std::vector<float> one = Vector(part, layer);
      out.insert(out.end(), one.begin(), one.end());
    }
    return out;
  }

  // The rows of all `parts`, concatenated.
  std::unique_ptr<Weights> Matrix(std::vector<TensorRole> parts,
                                  int layer) const {
    return Matrix(std::move(parts), layer, kind_);
  }
  std::unique_ptr<Weights> Matrix(std::vector<TensorRole> parts, int layer,
                                  WeightKind kind) const {
    int n = 0;
    const int k = static_cast<int>(ShapeOf(c_, parts[0]).columns);
    std::vector<int> starts;
    for (const TensorRole part : parts) {
      starts.push_back(n);
      n += static_cast<int>(ShapeOf(c_, part).rows);
    }
    starts.push_back(n);
    auto out = path_.Pack(n, k, kind, [&](int begin, int count, float* to) {
      for (size_t p = 0; p < parts.size(); ++p) {
        const int from = std::max(begin, starts[p]);
        const int end = std::min(begin + count, starts[p + 1]);
        if (from >= end) continue;
        source_.Read(parts[p], layer, from - starts[p], end - starts[p],
                     to + static_cast<ptrdiff_t>(from - begin) * k);
      }
    });
    for (const TensorRole part : parts) source_.Release(part, layer);
    return out;
  }

  // Moves a head's columns to the place of its padded outputs.
  std::unique_ptr<Weights> Output(int layer) const {
    const int h = c_.head_dim, padded = path_.PadHead(h);
    if (h == padded) return Matrix({TensorRole::kOutput}, layer);
    const ptrdiff_t k = c_.heads * padded, columns = c_.heads * h;
    std::vector<float> rows;
    auto out = path_.Pack(c_.hidden_size, static_cast<int>(k), kind_,
                          [&](int begin, int count, float* to) {
                            rows.resize(static_cast<size_t>(count * columns));
                            source_.Read(TensorRole::kOutput, layer, begin,
                                         begin + count, rows.data());
                            std::fill(to, to + count * k, 0.0f);
                            for (int r = 0; r < count * c_.heads; ++r) {
                              std::copy_n(rows.data() + ptrdiff_t{r} * h, h,
                                          to + ptrdiff_t{r} * padded);
                            }
                          });
    source_.Release(TensorRole::kOutput, layer);
    return out;
  }

  int Half() const { return path_.column_block() / 2; }
  int GateUpRows() const {
    return (c_.intermediate_size + Half() - 1) / Half() * Half() * 2;
  }
  // Whether row `row` of the joined matrix is a gate's, and which row of its
  // part it is; that may lie beyond the part's last.
  std::pair<bool, int> GateUpRow(int row) const {
    const int block = row / (2 * Half()), in = row % (2 * Half());
    return {in < Half(), block * Half() + in % Half()};
  }

  // `expert` is 0 for parts that are not experts'.
  std::unique_ptr<Weights> GateUp(TensorRole gate, TensorRole up, int layer,
                                  int expert) const {
    const int64_t first = int64_t{expert} * c_.intermediate_size;
    const ptrdiff_t k = c_.hidden_size;
    auto out = path_.Pack(GateUpRows(), c_.hidden_size, kind_,
                          [&](int begin, int count, float* to) {
                            for (int r = 0; r < count; ++r, to += k) {
                              const auto [is_gate, row] = GateUpRow(begin + r);
                              if (row < c_.intermediate_size) {
                                source_.Read(is_gate ? gate : up, layer,
                                             first + row, first + row + 1, to);
                              } else {
                                std::fill(to, to + k, 0.0f);
                              }
                            }
                          });
    if (!IsExpertPart(up)) {
      source_.Release(gate, layer);
      source_.Release(up, layer);
    }
    return out;
  }

  std::vector<float> GateUpBias(int layer) const {
    const std::vector<float> gate = Vector(TensorRole::kGateBias, layer);
    const std::vector<float> up = Vector(TensorRole::kUpBias, layer);
    std::vector<float> out;
    if (up.empty()) return out;
    for (int r = 0; r < GateUpRows(); ++r) {
      const auto [is_gate, row] = GateUpRow(r);
      const size_t at = static_cast<size_t>(row);
      out.push_back(row >= c_.intermediate_size ? 0
                    : is_gate                   ? gate[at]
                                                : up[at]);
    }
    return out;
  }

  const TensorSource& source_;
  const KernelPath& path_;
  const TrunkConfig& c_;
  const WeightKind kind_;
  // For the embedding and the output, which tolerate 4 bits badly.
  const WeightKind outer_kind_;
};

}  // namespace

Network Network::Pack(const TensorSource& source, const KernelPath& path,
                      WeightKind kind, Executor* executor) {
  return Packer(source, path, kind).Run(executor);
}

}  // namespace espalier
