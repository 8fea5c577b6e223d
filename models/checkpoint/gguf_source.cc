#include "models/checkpoint/gguf_source.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/gguf_config.h"

namespace espalier {
namespace {

// In the order of TensorRole; names of layer parts follow "blk.N.". The last
// two never occur in a GGUF configuration.
constexpr std::string_view kGgufNames[kTensorRoles] = {
    "token_embd.weight",
    "position_embd.weight",
    "attn_norm.weight",
    "attn_norm.bias",
    "attn_q.weight",
    "attn_q.bias",
    "attn_k.weight",
    "attn_k.bias",
    "attn_v.weight",
    "attn_v.bias",
    "attn_q_norm.weight",
    "attn_k_norm.weight",
    "attn_output.weight",
    "attn_output.bias",
    "post_attention_norm.weight",
    "ffn_norm.weight",
    "ffn_norm.bias",
    "ffn_gate.weight",
    "ffn_gate.bias",
    "ffn_up.weight",
    "ffn_up.bias",
    "ffn_down.weight",
    "ffn_down.bias",
    "ffn_gate_inp.weight",
    "ffn_gate_exps.weight",
    "ffn_up_exps.weight",
    "ffn_down_exps.weight",
    "post_ffw_norm.weight",
    "output_norm.weight",
    "output_norm.bias",
    "output.weight",
    "",
    "",
};

bool IsOneOf(const TrunkConfig& config,
             std::initializer_list<Architecture> list) {
  return std::find(list.begin(), list.end(), config.architecture) != list.end();
}

// Parts of one layer that have the same name are stored in one tensor, one
// after the other.
std::string_view NameInBlock(const TrunkConfig& config, TensorRole part) {
  const bool fused_qkv =
      IsOneOf(config, {Architecture::kGpt2, Architecture::kPhi3});
  const bool fused_up =
      IsOneOf(config, {Architecture::kPhi3, Architecture::kGlm4});
  if (fused_qkv && TensorRole::kQuery <= part &&
      part <= TensorRole::kValueBias) {
    return IsMatrix(part) ? "attn_qkv.weight" : "attn_qkv.bias";
  }
  if (fused_up && part == TensorRole::kGate) return "ffn_up.weight";
  return kGgufNames[static_cast<size_t>(part)];
}

std::string GgufTensorName(const TrunkConfig& config, TensorRole part,
                           int layer) {
  const std::string_view name = NameInBlock(config, part);
  return IsLayerTensor(part) ? absl::StrCat("blk.", layer, ".", AbslView(name))
                             : std::string(name);
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

// Query and key rows are stored with rotary pairs side by side.
bool IsPairedPart(const TrunkConfig& config, TensorRole part) {
  return IsQueryOrKey(part) &&
         IsOneOf(config, {Architecture::kLlama, Architecture::kMixtral,
                          Architecture::kGranite, Architecture::kSmolLm3,
                          Architecture::kGlm4});
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
    bool paired = false;  // rows are in the order of PairedRow
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
  std::set<std::string> used = {"rope_freqs.weight",
                                "rope_factors_short.weight",
                                "rope_factors_long.weight"};
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
  const std::string name = GgufTensorName(config_, part, layer);
  const GgufTensor* tensor = file_.FindTensor(name);
  const bool matrix = IsMatrix(part);
  int64_t before = 0, rows = 0;  // of the tensor
  for (int i = 0; i < kTensorRoles; ++i) {
    const TensorRole other = static_cast<TensorRole>(i);
    if (NameInBlock(config_, other) != NameInBlock(config_, part)) continue;
    if (other < part) before += ShapeOf(config_, other).rows;
    rows += ShapeOf(config_, other).rows;
  }
  std::vector<int64_t> expected = {rows};
  if (IsExpertPart(part)) {
    expected = {rows / config_.experts, config_.experts};
  }
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
  slot.rows =
      file_.data(*tensor).subspan(static_cast<size_t>(before) * slot.row_bytes);
  slot.paired = IsPairedPart(config_, part);
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
  if (!slot.paired) {
    ReadGgufBlocks(slot.type, row(begin), (end - begin) * slot.columns, out);
    return;
  }
  for (int64_t r = begin; r < end; ++r) {
    const int64_t stored = PairedRow(r, config_.head_dim, config_.rotary());
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
