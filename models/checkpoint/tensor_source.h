// The tensors of a checkpoint under one set of names, whatever its format: a
// Hugging Face folder (one safetensors file or several) or a GGUF file.
//
//   ESP_ASSIGN_OR_RETURN(auto source, TensorSource::Open(path));
//   const TensorShape shape = ShapeOf(source->config(), TensorRole::kQuery);
//   std::vector<float> rows(shape.columns * 16);
//   source->Read(TensorRole::kQuery, 3, 0, 16, rows.data());
//   source->Release(TensorRole::kQuery, 3);
//
// Open checks everything before it returns: each part that the configuration
// requires is present with its shape and a known type, and nothing else is. The
// data are mapped, not read: Read converts the requested rows, Release returns
// the memory of parts already packed to the system.
//
// Matrices are [outputs, inputs], row-major, rotary pairs (i, i + rotary/2), as
// in Hugging Face's Llama; other formats are converted on reading.
//
// Thread-safe after Open.
#ifndef ESPALIER_MODELS_CHECKPOINT_TENSOR_SOURCE_H_
#define ESPALIER_MODELS_CHECKPOINT_TENSOR_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

// d hidden_size, f intermediate_size, h head_dim, v vocab_size.
enum class TensorRole : uint8_t {
  kEmbedding,  // [v, d]
  kPositions,  // [context, d], if learned
  // Per layer.
  kInputNorm,      // [d]
  kInputNormBias,  // [d], layer norm
  kQuery,          // [heads h, d]
  kQueryBias,
  kKey,  // [kv_heads h, d]
  kKeyBias,
  kValue,  // [kv_heads h, d]
  kValueBias,
  kQueryNorm,  // [h], qk_norm; qk_norm_rows: [heads h]
  kKeyNorm,    // [h]; [kv_heads h]
  kOutput,     // [d, heads h]
  kOutputBias,
  kAttendedNorm,  // [d], norms_after: of attention's output
  kPostNorm,      // [d], of the feed-forward's input
  kPostNormBias,
  kGate,  // [f, d], if gated
  kGateBias,
  kUp,  // [f, d]
  kUpBias,
  kDown,  // [d, f]
  kDownBias,
  // With experts, which have no kGate, kUp and kDown. Expert e's rows are the
  // e-th part of the matrix.
  kRouter,         // [experts, d]
  kExpertGate,     // [experts f, d]
  kExpertUp,       // [experts f, d]
  kExpertDown,     // [experts d, f]
  kForwardedNorm,  // [d], norms_after: of the feed-forward's output
  // Once per network.
  kFinalNorm,  // [d]
  kFinalNormBias,
  kLmHead,  // [v, d], if not tied
  kHead,    // [labels, d]
  kHeadBias,
};
inline constexpr int kTensorRoles = static_cast<int>(TensorRole::kHeadBias) + 1;

// Vectors have one column.
struct TensorShape {
  int64_t rows = 0;
  int64_t columns = 1;
};

// The shape of `part` in a network of this configuration, 0 rows if it has no
// such part.
TensorShape ShapeOf(const TrunkConfig& config, TensorRole part);
// Parts from kInputNorm to kForwardedNorm exist once per layer.
bool IsLayerTensor(TensorRole part);
// All other parts are vectors.
bool IsMatrix(TensorRole part);
bool IsExpertPart(TensorRole part);  // kExpertGate, kExpertUp, kExpertDown

// Where row `row` of a query or key matrix is in a file that keeps the two
// dimensions of a rotary pair side by side: in each head of `head` rows, of
// which the first `rotary` rotate, row t rotary/2 + i is stored at 2 i + t.
int64_t PairedRow(int64_t row, int64_t head, int64_t rotary);

// How a part is stored.
enum class Storage : uint8_t { kFp32, kFp16, kBf16, kQuantised };

class TensorSource {
 public:
  // Opens a folder with config.json, or a file that ends in .gguf.
  //
  // `part`, kBody or kBodyAndLmHead: a view of the network that a reward model
  // of any class was made from. The class in config.json need only begin with
  // the network's name (Qwen2ForProcessRewardModel), or model_type names it;
  // tensors may be stored under "pretrained_model."; heads are ignored.
  static absl::StatusOr<std::unique_ptr<TensorSource>> Open(
      const std::string& path, CheckpointPart part = CheckpointPart::kAll);
  virtual ~TensorSource() = default;

  virtual const TrunkConfig& config() const = 0;
  virtual Storage storage(TensorRole part, int layer) const = 0;
  // Reads rows [begin, end) as fp32, out[(end - begin) * columns]. Exact for
  // every storage. `layer` is 0 for parts outside the layers.
  virtual void Read(TensorRole part, int layer, int64_t begin, int64_t end,
                    float* out) const = 0;
  // Tells the system that the part's memory is no longer needed.
  virtual void Release(TensorRole part, int layer) const = 0;
  // Total size of the files.
  virtual int64_t bytes() const = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_TENSOR_SOURCE_H_
