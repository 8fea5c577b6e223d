#include "models/checkpoint/tensor_source.h"

#include "absl/strings/match.h"
#include "models/checkpoint/gguf_source.h"
#include "models/checkpoint/hf_source.h"

namespace espalier {

TensorShape ShapeOf(const TrunkConfig& c, TensorRole part) {
  const int64_t d = c.hidden_size, f = c.intermediate_size;
  const int64_t q = int64_t{c.heads} * c.head_dim;
  const int64_t kv = int64_t{c.kv_heads} * c.head_dim;
  const bool dense = c.experts == 0;
  const bool layer_norm = c.norm == NormKind::kLayer;
  const auto vector = [](bool there, int64_t n) {
    return TensorShape{there ? n : 0};
  };
  const auto matrix = [](bool there, int64_t rows, int64_t columns) {
    return TensorShape{there ? rows : 0, columns};
  };
  switch (part) {
    case TensorRole::kEmbedding:
      return matrix(true, c.vocab_size, d);
    case TensorRole::kPositions:
      return matrix(c.learned_positions, c.context_length, d);
    case TensorRole::kInputNorm:
    case TensorRole::kPostNorm:
      return vector(c.norms_before, d);
    case TensorRole::kAttendedNorm:
    case TensorRole::kForwardedNorm:
      return vector(c.norms_after, d);
    case TensorRole::kFinalNorm:
      return vector(true, d);
    case TensorRole::kInputNormBias:
    case TensorRole::kPostNormBias:
    case TensorRole::kFinalNormBias:
      return vector(layer_norm, d);
    case TensorRole::kQuery:
      return matrix(true, q, d);
    case TensorRole::kQueryBias:
      return vector(c.qkv_bias, q);
    case TensorRole::kKey:
    case TensorRole::kValue:
      return matrix(true, kv, d);
    case TensorRole::kKeyBias:
    case TensorRole::kValueBias:
      return vector(c.qkv_bias, kv);
    case TensorRole::kQueryNorm:
      return vector(c.qk_norm, c.qk_norm_rows ? q : c.head_dim);
    case TensorRole::kKeyNorm:
      return vector(c.qk_norm, c.qk_norm_rows ? kv : c.head_dim);
    case TensorRole::kOutput:
      return matrix(true, d, q);
    case TensorRole::kOutputBias:
      return vector(c.output_bias, d);
    case TensorRole::kGate:
      return matrix(c.gated && dense, f, d);
    case TensorRole::kGateBias:
      return vector(c.gated && c.mlp_bias, f);
    case TensorRole::kUp:
      return matrix(dense, f, d);
    case TensorRole::kUpBias:
      return vector(c.mlp_bias, f);
    case TensorRole::kDown:
      return matrix(dense, d, f);
    case TensorRole::kDownBias:
      return vector(c.mlp_bias, d);
    case TensorRole::kRouter:
      return matrix(!dense, c.experts, d);
    case TensorRole::kExpertGate:
    case TensorRole::kExpertUp:
      return matrix(!dense, c.experts * f, d);
    case TensorRole::kExpertDown:
      return matrix(!dense, c.experts * d, f);
    case TensorRole::kLmHead:
      return matrix(c.lm_head && !c.tied_embeddings, c.vocab_size, d);
    case TensorRole::kHead:
      return matrix(c.head != HeadKind::kNone, c.head_labels, d);
    case TensorRole::kHeadBias:
      return vector(c.head_bias, c.head_labels);
  }
  return {};
}

bool IsLayerTensor(TensorRole part) {
  return TensorRole::kInputNorm <= part && part <= TensorRole::kForwardedNorm;
}

bool IsMatrix(TensorRole part) {
  switch (part) {
    case TensorRole::kEmbedding:
    case TensorRole::kPositions:
    case TensorRole::kQuery:
    case TensorRole::kKey:
    case TensorRole::kValue:
    case TensorRole::kOutput:
    case TensorRole::kGate:
    case TensorRole::kUp:
    case TensorRole::kDown:
    case TensorRole::kRouter:
    case TensorRole::kExpertGate:
    case TensorRole::kExpertUp:
    case TensorRole::kExpertDown:
    case TensorRole::kLmHead:
    case TensorRole::kHead:
      return true;
    default:
      return false;
  }
}

bool IsExpertPart(TensorRole part) {
  return part == TensorRole::kExpertGate || part == TensorRole::kExpertUp ||
         part == TensorRole::kExpertDown;
}

int64_t PairedRow(int64_t row, int64_t head, int64_t rotary) {
  const int64_t within = row % head, half = rotary / 2;
  if (within >= rotary) return row;
  return row - within + within % half * 2 + within / half;
}

absl::StatusOr<std::unique_ptr<TensorSource>> TensorSource::Open(
    const std::string& path, CheckpointPart part) {
  // A GGUF file holds no other heads.
  if (absl::EndsWith(path, ".gguf")) return OpenGguf(path);
  return OpenHuggingFace(path, part);
}

}  // namespace espalier
