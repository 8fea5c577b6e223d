#include "models/checkpoint/hf_source.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/checkpoint/hf_names.h"
#include "models/checkpoint/shard_set.h"
#include "models/checkpoint/to_float.h"
#include "models/checkpoint/trunk_config_json.h"

namespace espalier {
namespace {

// One part of one layer in its file.
struct Stored {
  const SafetensorsFile* file = nullptr;
  std::string name;
  const std::byte* data = nullptr;  // of the whole tensor
  DType dtype = DType::kF32;
  int64_t columns = 0;  // of the part
  bool turned = false, paired = false, offset = false;
  int64_t outputs = 0, first = 0;  // as in HfPlace
};

class HfSource : public TensorSource {
 public:
  HfSource(TrunkConfig config, ShardSet shards, CheckpointPart part)
      : config_(std::move(config)), shards_(std::move(shards)), part_(part) {}

  // Finds and checks all parts.
  absl::Status Check();

  const TrunkConfig& config() const override { return config_; }
  Storage storage(TensorRole part, int layer) const override;
  void Read(TensorRole part, int layer, int64_t begin, int64_t end,
            float* out) const override;
  void Release(TensorRole part, int layer) const override;
  int64_t bytes() const override { return shards_.bytes(); }

 private:
  // Of experts' parts: the first expert's.
  const Stored& At(TensorRole part, int layer) const;
  absl::Status Find(TensorRole part, int layer);
  absl::StatusOr<Stored> FindPlace(TensorRole part, const HfPlace& place);
  // Rows [begin, end) of one expert, or of a part that is not an expert's.
  void ReadStored(const Stored& at, int64_t begin, int64_t end,
                  float* out) const;
  absl::Status CheckExtra(const std::string& name) const;
  // GPT-2's is stored without its prefix.
  std::string LmHeadName() const {
    const bool gpt2 = config_.architecture == Architecture::kGpt2;
    return absl::StrCat(gpt2 ? "" : prefix_, "lm_head.weight");
  }
  // Names in files of Gemma 3 with images, as written since transformers 4.52.
  std::string InFile(const std::string& name) const {
    constexpr std::string_view kBody = "model.";
    return nested_ && absl::StartsWith(name, AbslView(kBody))
               ? absl::StrCat("model.language_model.",
                              name.substr(kBody.size()))
               : name;
  }
  // True for a tensor of what reads images.
  bool IsForImages(const std::string& name) const;
  // True for a tensor of a head that this view leaves out.
  bool IsOtherHead(const std::string& name) const;

  TrunkConfig config_;
  ShardSet shards_;
  const CheckpointPart part_;
  std::string
      prefix_;  // "transformer." or "pretrained_model." if names have it
  bool nested_ = false;  // InFile
  // [layers][kTensorRoles][1, or experts]; parts outside the layers are in
  // layer 0.
  std::vector<std::array<std::vector<Stored>, kTensorRoles>> parts_;
  std::set<std::string> used_;
};

absl::Status HfSource::Find(TensorRole part, int layer) {
  std::vector<Stored>& to =
      parts_[static_cast<size_t>(layer)][static_cast<size_t>(part)];
  const int pieces = IsExpertPart(part) ? config_.experts : 1;
  for (int i = 0; i < pieces; ++i) {
    ESP_ASSIGN_OR_RETURN(Stored found,
                         FindPlace(part, PlaceOf(config_, part, layer, i)));
    to.push_back(std::move(found));
  }
  return absl::OkStatus();
}

absl::StatusOr<Stored> HfSource::FindPlace(TensorRole part,
                                           const HfPlace& place) {
  const std::string name = prefix_ + InFile(place.name);
  const ShardSet::Place* found = shards_.Find(name);
  if (found == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        shards_.path(), ": expected tensor ", name, " ", ShapeText(place.shape),
        ", found no such tensor",
        part == TensorRole::kLmHead ? " (tie_word_embeddings is false)" : ""));
  }
  const auto bad = [&](const auto&... words) {
    return absl::InvalidArgumentError(absl::StrCat(
        found->file->path(), ": tensor ", name, ": expected ", words...));
  };
  if (found->info->shape != place.shape) {
    return bad("shape ", ShapeText(place.shape), " from config.json, found ",
               ShapeText(found->info->shape));
  }
  if (!IsFloat(found->info->dtype)) {
    return bad("dtype BF16, F16 or F32, found ",
               AbslView(DTypeName(found->info->dtype)));
  }
  used_.insert(name);
  return Stored{.file = found->file,
                .name = name,
                .data = found->file->data(name).data(),
                .dtype = found->info->dtype,
                .columns = ShapeOf(config_, part).columns,
                .turned = place.turned,
                .paired = place.paired,
                .offset = place.offset,
                .outputs = place.outputs,
                .first = place.first};
}

bool HfSource::IsForImages(const std::string& name) const {
  if (!config_.reads_images) return false;
  for (const char* part : {"vision_tower.", "multi_modal_projector."}) {
    if (absl::StartsWith(name, part) ||
        absl::StartsWith(name, absl::StrCat("model.", part))) {
      return true;
    }
  }
  return false;
}

bool HfSource::IsOtherHead(const std::string& name) const {
  if (part_ == CheckpointPart::kAll) return false;
  if (name == LmHeadName()) return !config_.lm_head;
  return !absl::StartsWith(name, prefix_ + "model.");
}

absl::Status HfSource::CheckExtra(const std::string& name) const {
  const ShardSet::Place& extra = *shards_.Find(name);
  if (IsBuffer(config_, name) || IsForImages(name) || IsOtherHead(name)) {
    return absl::OkStatus();
  }
  if (name == LmHeadName() && config_.lm_head && config_.tied_embeddings) {
    const Stored& embedding = At(TensorRole::kEmbedding, 0);
    const auto a = extra.file->data(name);
    const auto b = embedding.file->data(embedding.name);
    const bool equal = std::equal(a.begin(), a.end(), b.begin(), b.end());
    extra.file->Release(name);
    embedding.file->Release(embedding.name);
    if (equal) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        extra.file->path(), ": tensor ", name, ": expected the same bytes as ",
        embedding.name,
        " since config.json has tie_word_embeddings, found different bytes; "
        "set \"tie_word_embeddings\": false to use this tensor"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      extra.file->path(), ": found tensor ", name, " ",
      ShapeText(extra.info->shape), " that a ", ClassName(config_),
      " with this config.json does not have: the folder holds another model "
      "or settings"));
}

absl::Status HfSource::Check() {
  // Bounds the work for a config with absurd extents.
  if (static_cast<size_t>(config_.layers) > shards_.tensors().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(shards_.path(), ": expected the tensors of ",
                     config_.layers, " layers from config.json, found ",
                     shards_.tensors().size(), " tensors in all"));
  }
  if (config_.architecture == Architecture::kGpt2 &&
      shards_.Find("transformer.wte.weight") != nullptr) {
    prefix_ = "transformer.";
  }
  if (config_.reads_images) {
    nested_ =
        shards_.Find("model.language_model.embed_tokens.weight") != nullptr;
    if (!nested_) prefix_ = "language_model.";
  }
  constexpr char kWrapped[] = "pretrained_model.";
  if (part_ != CheckpointPart::kAll &&
      shards_.Find(absl::StrCat(kWrapped, "model.embed_tokens.weight")) !=
          nullptr) {
    prefix_ = kWrapped;
  }
  parts_.resize(static_cast<size_t>(config_.layers));
  for (int i = 0; i < kTensorRoles; ++i) {
    const TensorRole part = static_cast<TensorRole>(i);
    if (ShapeOf(config_, part).rows == 0) continue;
    const int layers = IsLayerTensor(part) ? config_.layers : 1;
    for (int layer = 0; layer < layers; ++layer) {
      ESP_RETURN_IF_ERROR(Find(part, layer));
    }
  }
  for (const auto& [name, place] : shards_.tensors()) {
    if (used_.contains(name)) continue;
    ESP_RETURN_IF_ERROR(CheckExtra(name));
  }
  return absl::OkStatus();
}

const Stored& HfSource::At(TensorRole part, int layer) const {
  const std::vector<Stored>& stored =
      parts_[static_cast<size_t>(layer)][static_cast<size_t>(part)];
  ESP_CHECK(!stored.empty());
  return stored.front();
}

Storage HfSource::storage(TensorRole part, int layer) const {
  const DType dtype = At(part, layer).dtype;
  return dtype == DType::kF32    ? Storage::kFp32
         : dtype == DType::kBF16 ? Storage::kBf16
                                 : Storage::kFp16;
}

void HfSource::Read(TensorRole part, int layer, int64_t begin, int64_t end,
                    float* out) const {
  ESP_CHECK(0 <= begin && begin <= end && end <= ShapeOf(config_, part).rows);
  if (!IsExpertPart(part)) return ReadStored(At(part, layer), begin, end, out);
  const std::vector<Stored>& experts =
      parts_[static_cast<size_t>(layer)][static_cast<size_t>(part)];
  const int64_t rows = experts[0].outputs;
  while (begin < end) {
    const int64_t expert = begin / rows;
    const int64_t until = std::min(end, (expert + 1) * rows);
    const Stored& at = experts[static_cast<size_t>(expert)];
    ReadStored(at, begin - expert * rows, until - expert * rows, out);
    out += (until - begin) * at.columns;
    begin = until;
  }
}

void HfSource::ReadStored(const Stored& at, int64_t begin, int64_t end,
                          float* out) const {
  const int64_t element = DTypeBytes(at.dtype);
  if (at.paired) {
    for (int64_t row = begin; row < end; ++row, out += at.columns) {
      const int64_t from =
          at.first + PairedRow(row, config_.head_dim, config_.rotary());
      ToFloats(at.dtype, at.data + from * at.columns * element,
               static_cast<size_t>(at.columns), out);
    }
    return;
  }
  if (!at.turned) {
    const size_t count = static_cast<size_t>((end - begin) * at.columns);
    ToFloats(at.dtype, at.data + (at.first + begin) * at.columns * element,
             count, out);
    for (size_t i = 0; at.offset && i < count; ++i) out[i] += 1;
    return;
  }
  // Elements per strip of an input, few enough that the target rows stay in the
  // L1 cache.
  constexpr int64_t kStrip = 64;
  float strip[kStrip];
  for (int64_t row = begin; row < end; row += kStrip) {
    const int64_t rows = std::min(kStrip, end - row);
    for (int64_t i = 0; i < at.columns; ++i) {
      ToFloats(at.dtype, at.data + (i * at.outputs + at.first + row) * element,
               static_cast<size_t>(rows), strip);
      float* to = out + (row - begin) * at.columns + i;
      for (int64_t r = 0; r < rows; ++r) to[r * at.columns] = strip[r];
    }
  }
}

void HfSource::Release(TensorRole part, int layer) const {
  At(part, layer);
  for (const Stored& at :
       parts_[static_cast<size_t>(layer)][static_cast<size_t>(part)]) {
    at.file->Release(at.name);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<TensorSource>> OpenHuggingFace(
    const std::string& folder, CheckpointPart part) {
  ESP_ASSIGN_OR_RETURN(TrunkConfig config, ReadTrunkConfig(folder, part));
  ESP_ASSIGN_OR_RETURN(ShardSet shards, ShardSet::Open(folder));
  auto source =
      std::make_unique<HfSource>(std::move(config), std::move(shards), part);
  ESP_RETURN_IF_ERROR(source->Check());
  return source;
}

}  // namespace espalier
