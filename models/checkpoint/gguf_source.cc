#include "models/checkpoint/gguf_source.h"

#include <cstring>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/gguf_config.h"

namespace espalier {
namespace {

// A part's name in a file: after "blk.N." for layer parts, and the name of the
// three-in-one tensor if `fused`.
std::string GgufTensorName(TensorRole part, int layer, bool fused) {
  const auto name = [&]() -> const char* {
    switch (part) {
      case TensorRole::kEmbedding:
        return "token_embd.weight";
      case TensorRole::kPositions:
        return "position_embd.weight";
      case TensorRole::kInputNorm:
        return "attn_norm.weight";
      case TensorRole::kInputNormBias:
        return "attn_norm.bias";
      case TensorRole::kQuery:
        return fused ? "attn_qkv.weight" : "attn_q.weight";
      case TensorRole::kQueryBias:
        return fused ? "attn_qkv.bias" : "attn_q.bias";
      case TensorRole::kKey:
        return fused ? "attn_qkv.weight" : "attn_k.weight";
      case TensorRole::kKeyBias:
        return fused ? "attn_qkv.bias" : "attn_k.bias";
      case TensorRole::kValue:
        return fused ? "attn_qkv.weight" : "attn_v.weight";
      case TensorRole::kValueBias:
        return fused ? "attn_qkv.bias" : "attn_v.bias";
      case TensorRole::kQueryNorm:
        return "attn_q_norm.weight";
      case TensorRole::kKeyNorm:
        return "attn_k_norm.weight";
      case TensorRole::kOutput:
        return "attn_output.weight";
      case TensorRole::kOutputBias:
        return "attn_output.bias";
      case TensorRole::kAttendedNorm:
        return "post_attention_norm.weight";
      case TensorRole::kPostNorm:
        return "ffn_norm.weight";
      case TensorRole::kPostNormBias:
        return "ffn_norm.bias";
      case TensorRole::kGate:
        return "ffn_gate.weight";
      case TensorRole::kGateBias:
        return "ffn_gate.bias";
      case TensorRole::kUp:
        return "ffn_up.weight";
      case TensorRole::kUpBias:
        return "ffn_up.bias";
      case TensorRole::kDown:
        return "ffn_down.weight";
      case TensorRole::kDownBias:
        return "ffn_down.bias";
      case TensorRole::kRouter:
        return "ffn_gate_inp.weight";
      case TensorRole::kExpertGate:
        return "ffn_gate_exps.weight";
      case TensorRole::kExpertUp:
        return "ffn_up_exps.weight";
      case TensorRole::kExpertDown:
        return "ffn_down_exps.weight";
      case TensorRole::kForwardedNorm:
        return "post_ffw_norm.weight";
      case TensorRole::kFinalNorm:
        return "output_norm.weight";
      case TensorRole::kFinalNormBias:
        return "output_norm.bias";
      case TensorRole::kLmHead:
        return "output.weight";
      case TensorRole::kHead:
      case TensorRole::kHeadBias:
        return "";  // never occurs in a GGUF configuration
    }
    return "";
  };
  return IsLayerTensor(part) ? absl::StrCat("blk.", layer, ".", name())
                             : name();
}

Storage StorageOf(GgufTensorType type) {
  switch (type) {
    case GgufTensorType::kF32:
      return Storage::kFp32;
    case GgufTensorType::kF16:
      return Storage::kFp16;
    case GgufTensorType::kBF16:
      return Storage::kBf16;
    default:
      return Storage::kQuantised;
  }
}

bool IsQueryOrKey(TensorRole part) {
  return part == TensorRole::kQuery || part == TensorRole::kQueryBias ||
         part == TensorRole::kKey || part == TensorRole::kKeyBias;
}

// Rows of the parts that precede `part` in a fused tensor.
int64_t RowsBefore(const TrunkConfig& config, TensorRole part) {
  const int64_t queries = ShapeOf(config, TensorRole::kQuery).rows;
  const int64_t keys = ShapeOf(config, TensorRole::kKey).rows;
  if (part == TensorRole::kKey || part == TensorRole::kKeyBias) return queries;
  if (part == TensorRole::kValue || part == TensorRole::kValueBias)
    return queries + keys;
  return 0;
}

class GgufSource : public TensorSource {
 public:
  GgufSource(GgufFile file, TrunkConfig config)
      : file_(std::move(file)), config_(std::move(config)) {}

  // Finds every part; must be called first.
  absl::Status Index();

  const TrunkConfig& config() const override { return config_; }
  Storage storage(TensorRole part, int layer) const override {
    return StorageOf(At(part, layer).type);
  }
  void Read(TensorRole part, int layer, int64_t begin, int64_t end,
            float* out) const override;
  void Release(TensorRole part, int layer) const override {
    const Slot& slot = At(part, layer);
    file_.file().Release(
        slot.rows.first(static_cast<size_t>(slot.count) * slot.row_bytes));
  }
  int64_t bytes() const override {
    return static_cast<int64_t>(file_.file().bytes().size());
  }

 private:
  struct Slot {
    GgufTensorType type = GgufTensorType::kF32;
    std::span<const std::byte> rows;
    size_t row_bytes = 0;
    int64_t count = 0;    // rows
    int64_t columns = 0;  // 0: no such part
    // For heads of this size h, row t h/2 + i is stored at 2 i + t; 0: in
    // order.
    int64_t interleaved = 0;
  };
  const Slot& At(TensorRole part, int layer) const {
    const Slot& slot = slots_[SlotIndex(part, layer)];
    ESP_CHECK(slot.columns > 0);
    return slot;
  }
  static size_t SlotIndex(TensorRole part, int layer) {
    return static_cast<size_t>(layer) * kTensorRoles +
           static_cast<size_t>(part);
  }
  absl::Status Place(TensorRole part, int layer, std::set<std::string>& used);
  absl::Status CheckNothingElse(const std::set<std::string>& used) const;
  bool OutputIsEmbedding() const;

  const GgufFile file_;
  TrunkConfig config_;
  std::vector<Slot> slots_;  // by SlotIndex
};

// GPT-2's files repeat the embedding as the output.
bool GgufSource::OutputIsEmbedding() const {
  const GgufTensor* output = file_.FindTensor("output.weight");
  const GgufTensor* embedding = file_.FindTensor("token_embd.weight");
  return output != nullptr && output->type == embedding->type &&
         output->extents == embedding->extents &&
         std::memcmp(file_.data(*output).data(), file_.data(*embedding).data(),
                     output->bytes) == 0;
}

absl::Status GgufSource::Index() {
  // Do not allocate for more layers than the file can hold.
  if (static_cast<size_t>(config_.layers) > file_.tensors().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_.path(), ": expected ", config_.layers,
                     " layers, found ", file_.tensors().size(), " tensors"));
  }
  std::set<std::string> used = {"rope_freqs.weight"};
  if (config_.architecture == Architecture::kGpt2 && OutputIsEmbedding()) {
    config_.tied_embeddings = true;
    used.insert("output.weight");
  }
  slots_.resize(SlotIndex(static_cast<TensorRole>(0), config_.layers));
  for (int part = 0; part < kTensorRoles; ++part) {
    const TensorRole p = static_cast<TensorRole>(part);
    const int layers = IsLayerTensor(p) ? config_.layers : 1;
    for (int layer = 0; layer < layers; ++layer) {
      ESP_RETURN_IF_ERROR(Place(p, layer, used));
    }
  }
  return CheckNothingElse(used);
}

absl::Status GgufSource::Place(TensorRole part, int layer,
                               std::set<std::string>& used) {
  const TensorShape shape = ShapeOf(config_, part);
  if (shape.rows == 0) return absl::OkStatus();
  const bool fused = config_.architecture == Architecture::kGpt2;
  const std::string name = GgufTensorName(part, layer, fused);
  const GgufTensor* tensor = file_.FindTensor(name);
  const bool matrix = IsMatrix(part);
  const bool in_fused = fused && name.find("attn_qkv") != std::string::npos;
  const int64_t rows = in_fused ? RowsBefore(config_, TensorRole::kValue) +
                                      ShapeOf(config_, TensorRole::kValue).rows
                                : shape.rows;
  std::vector<int64_t> expected = {rows};
  if (matrix) expected.insert(expected.begin(), shape.columns);
  if (tensor == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_.path(), ": tensor ", name, " [",
                     absl::StrJoin(expected, ", "), "] is missing"));
  }
  const GgufBlock block = BlockOf(static_cast<uint32_t>(tensor->type));
  if (tensor->extents != expected || (!matrix && block.elements > 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        file_.path(), ": tensor ", name, ": expected [",
        absl::StrJoin(expected, ", "), "]", matrix ? "" : " in F32 or F16",
        ", found ", GgufTensorTypeName(static_cast<uint32_t>(tensor->type)),
        " [", absl::StrJoin(tensor->extents, ", "), "]"));
  }
  Slot& slot = slots_[SlotIndex(part, layer)];
  slot.type = tensor->type;
  slot.count = shape.rows;
  slot.columns = shape.columns;
  slot.row_bytes = tensor->bytes / static_cast<size_t>(rows);
  const int64_t before = in_fused ? RowsBefore(config_, part) : 0;
  slot.rows =
      file_.data(*tensor).subspan(static_cast<size_t>(before) * slot.row_bytes);
  if (config_.architecture == Architecture::kLlama && IsQueryOrKey(part)) {
    slot.interleaved = config_.head_dim;
  }
  used.insert(name);
  return absl::OkStatus();
}

absl::Status GgufSource::CheckNothingElse(
    const std::set<std::string>& used) const {
  for (const auto& [name, tensor] : file_.tensors()) {
    if (used.contains(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file_.path(), ": tensor ", name, " [",
                     absl::StrJoin(tensor.extents, ", "),
                     "] does not belong to this architecture; ignoring it "
                     "would change what the model computes"));
  }
  return absl::OkStatus();
}

void GgufSource::Read(TensorRole part, int layer, int64_t begin, int64_t end,
                      float* out) const {
  const Slot& slot = At(part, layer);
  ESP_CHECK(0 <= begin && begin <= end && end <= slot.count);
  const auto row = [&](int64_t at) {
    return slot.rows.data() + static_cast<size_t>(at) * slot.row_bytes;
  };
  if (slot.interleaved == 0) {
    ReadGgufBlocks(slot.type, row(begin), (end - begin) * slot.columns, out);
    return;
  }
  const int64_t head = slot.interleaved;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t within = r % head;
    const int64_t stored =
        r - within + within % (head / 2) * 2 + within / (head / 2);
    ReadGgufBlocks(slot.type, row(stored), slot.columns,
                   out + (r - begin) * slot.columns);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<TensorSource>> OpenGguf(
    const std::string& path) {
  ESP_ASSIGN_OR_RETURN(GgufFile file, GgufFile::Open(path));
  ESP_ASSIGN_OR_RETURN(TrunkConfig config, ReadGgufConfig(file));
  auto source =
      std::make_unique<GgufSource>(std::move(file), std::move(config));
  ESP_RETURN_IF_ERROR(source->Index());
  return source;
}

}  // namespace espalier
