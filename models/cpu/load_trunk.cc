#include <memory>
#include <string>

#include "models/checkpoint/llama_config.h"
#include "models/checkpoint/llama_weights.h"
#include "models/checkpoint/tensor_source.h"
#include "models/cpu/cpu_trunk.h"
#include "models/cpu/network.h"
#include "models/kernels/amx_path.h"
#include "src/base/bfloat16.h"
#include "src/base/status_macros.h"

namespace espalier {
namespace {

class TmpSource : public TensorSource {
 public:
  TmpSource(TrunkConfig c, LlamaWeights w) : c_(c), w_(std::move(w)) {}
  const TrunkConfig& config() const override { return c_; }
  Storage storage(Part, int) const override {
    for (float v : w_.layers[0].query)
      if (!IsBf16Exact(v)) return Storage::kFp32;
    return Storage::kBf16;
  }
  void Read(Part part, int layer, int64_t begin, int64_t end,
            float* out) const override {
    const auto& l = w_.layers[layer];
    const std::vector<float>* v = nullptr;
    switch (part) {
      case Part::kEmbedding:
        v = &w_.embedding;
        break;
      case Part::kInputNorm:
        v = &l.input_norm;
        break;
      case Part::kQuery:
        v = &l.query;
        break;
      case Part::kKey:
        v = &l.key;
        break;
      case Part::kValue:
        v = &l.value;
        break;
      case Part::kOutput:
        v = &l.output;
        break;
      case Part::kPostNorm:
        v = &l.post_norm;
        break;
      case Part::kGate:
        v = &l.gate;
        break;
      case Part::kUp:
        v = &l.up;
        break;
      case Part::kDown:
        v = &l.down;
        break;
      case Part::kFinalNorm:
        v = &w_.final_norm;
        break;
      case Part::kLmHead:
        v = &w_.lm_head;
        break;
      case Part::kHead:
        v = &w_.reward_weight;
        break;
      case Part::kHeadBias:
        v = &w_.reward_bias;
        break;
      default:
        return;
    }
    int64_t k = ShapeOf(c_, part).columns;
    std::copy(v->begin() + begin * k, v->begin() + end * k, out);
  }
  void Release(Part, int) const override {}
  int64_t bytes() const override { return 0; }
  TrunkConfig c_;
  LlamaWeights w_;
};

WeightKind Kind(const TensorSource& source, WeightChoice choice) {
  switch (choice) {
    case WeightChoice::kFp32:
      return WeightKind::kFp32;
    case WeightChoice::kBf16:
      return WeightKind::kBf16;
    case WeightChoice::kInt8:
      return WeightKind::kInt8;
    case WeightChoice::kAuto:
      break;
  }
  return source.storage(Part::kQuery, 0) == Storage::kFp32 ? WeightKind::kFp32
                                                           : WeightKind::kBf16;
}

// The path for weights of this kind.
const KernelPath& Choose(const TrunkConfig& config, WeightKind kind,
                         const TrunkOptions& options) {
  const KernelPath* amx = AmxPath();
  const bool fits =
      kind != WeightKind::kFp32 && config.head_dim <= kMostTileDims;
  return amx != nullptr && fits && !options.plain_kernels ? *amx : PlainPath();
}

}  // namespace

PartShape ShapeOf(const TrunkConfig& c, Part part) {
  int64_t d = c.hidden_size, f = c.intermediate_size, q = c.heads * c.head_dim,
          kv = c.kv_heads * c.head_dim;
  switch (part) {
    case Part::kEmbedding:
      return {c.vocab_size, d};
    case Part::kInputNorm:
      return {d};
    case Part::kQuery:
      return {q, d};
    case Part::kKey:
      return {kv, d};
    case Part::kValue:
      return {kv, d};
    case Part::kOutput:
      return {d, q};
    case Part::kPostNorm:
      return {d};
    case Part::kGate:
      return {f, d};
    case Part::kUp:
      return {f, d};
    case Part::kDown:
      return {d, f};
    case Part::kFinalNorm:
      return {d};
    case Part::kLmHead:
      return {c.tied_embeddings ? 0 : c.vocab_size, d};
    case Part::kHead:
      return {c.reward_head ? 2 : 0, d};
    case Part::kHeadBias:
      return {c.reward_head ? 2 : 0};
    default:
      return {};
  }
}
absl::StatusOr<std::unique_ptr<Trunk>> Trunk::Load(
    const std::string& path, const TrunkOptions& options) {
  ESP_ASSIGN_OR_RETURN(const TrunkConfig config, ReadLlamaConfig(path));
  ESP_ASSIGN_OR_RETURN(LlamaWeights weights, LoadLlamaWeights(path, config));
  TmpSource source(config, std::move(weights));
  const WeightKind kind = Kind(source, options.weights);
  const KernelPath& kernels = Choose(source.config(), kind, options);
  return std::make_unique<CpuTrunk>(Network::Pack(source, kernels, kind),
                                    kernels);
}

}  // namespace espalier
