#include "models/checkpoint/tensor_source.h"

#include "absl/strings/match.h"
#include "models/checkpoint/gguf_source.h"
#include "models/checkpoint/hf_source.h"

namespace espalier {

PartShape ShapeOf(const TrunkConfig& c, Part part) {
  const int64_t d = c.hidden_size, f = c.intermediate_size;
  const int64_t q = int64_t{c.heads} * c.head_dim;
  const int64_t kv = int64_t{c.kv_heads} * c.head_dim;
  const bool layer_norm = c.norm == NormKind::kLayer;
  const auto vector = [](bool there, int64_t n) {
    return PartShape{there ? n : 0};
  };
  const auto matrix = [](bool there, int64_t rows, int64_t columns) {
    return PartShape{there ? rows : 0, columns};
  };
  switch (part) {
    case Part::kEmbedding:
      return matrix(true, c.vocab_size, d);
    case Part::kPositions:
      return matrix(c.learned_positions, c.context_length, d);
    case Part::kInputNorm:
    case Part::kPostNorm:
    case Part::kFinalNorm:
      return vector(true, d);
    case Part::kInputNormBias:
    case Part::kPostNormBias:
    case Part::kFinalNormBias:
      return vector(layer_norm, d);
    case Part::kQuery:
      return matrix(true, q, d);
    case Part::kQueryBias:
      return vector(c.qkv_bias, q);
    case Part::kKey:
    case Part::kValue:
      return matrix(true, kv, d);
    case Part::kKeyBias:
    case Part::kValueBias:
      return vector(c.qkv_bias, kv);
    case Part::kQueryNorm:
    case Part::kKeyNorm:
      return vector(c.qk_norm, c.head_dim);
    case Part::kOutput:
      return matrix(true, d, q);
    case Part::kOutputBias:
      return vector(c.output_bias, d);
    case Part::kGate:
      return matrix(c.gated, f, d);
    case Part::kGateBias:
      return vector(c.gated && c.mlp_bias, f);
    case Part::kUp:
      return matrix(true, f, d);
    case Part::kUpBias:
      return vector(c.mlp_bias, f);
    case Part::kDown:
      return matrix(true, d, f);
    case Part::kDownBias:
      return vector(c.mlp_bias, d);
    case Part::kLmHead:
      return matrix(c.lm_head && !c.tied_embeddings, c.vocab_size, d);
    case Part::kHead:
      return matrix(c.head != HeadKind::kNone, c.head_labels, d);
    case Part::kHeadBias:
      return vector(c.head_bias, c.head_labels);
  }
  return {};
}

bool IsLayerPart(Part part) {
  return Part::kInputNorm <= part && part <= Part::kDownBias;
}

bool IsMatrix(Part part) {
  switch (part) {
    case Part::kEmbedding:
    case Part::kPositions:
    case Part::kQuery:
    case Part::kKey:
    case Part::kValue:
    case Part::kOutput:
    case Part::kGate:
    case Part::kUp:
    case Part::kDown:
    case Part::kLmHead:
    case Part::kHead:
      return true;
    default:
      return false;
  }
}

absl::StatusOr<std::unique_ptr<TensorSource>> TensorSource::Open(
    const std::string& path) {
  if (absl::EndsWith(path, ".gguf")) return OpenGguf(path);
  return OpenHuggingFace(path);
}

}  // namespace espalier
