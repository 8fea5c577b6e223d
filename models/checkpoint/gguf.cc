#include "models/checkpoint/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {

static_assert(std::endian::native == std::endian::little,
              "GGUF data is little endian and used in place");

namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr size_t kDefaultAlignment = 32;
// Valid files have 32 or 64; the limit keeps padding within one page.
constexpr int64_t kMaxAlignment = 4096;
constexpr uint32_t kMaxExtents = 4;
// Longest name of a key or tensor; the specification allows 64 KiB for a key.
constexpr uint64_t kMaxName = 65535;

// Bytes of a value of fixed size; 0 for texts, arrays and unknown types.
size_t BytesOf(GgufType type) {
  switch (type) {
    case GgufType::kUint8:
    case GgufType::kInt8:
    case GgufType::kBool:
      return 1;
    case GgufType::kUint16:
    case GgufType::kInt16:
      return 2;
    case GgufType::kUint32:
    case GgufType::kInt32:
    case GgufType::kFloat32:
      return 4;
    case GgufType::kUint64:
    case GgufType::kInt64:
    case GgufType::kFloat64:
      return 8;
    case GgufType::kText:
    case GgufType::kArray:
      return 0;
  }
  return 0;
}

template <class T>
T Load(std::span<const std::byte> bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

std::optional<int64_t> GgufValue::Whole(size_t i) const {
  if (i >= size_) return std::nullopt;
  switch (type_) {
    case GgufType::kUint8:
      return Load<uint8_t>(packed_, i);
    case GgufType::kInt8:
      return Load<int8_t>(packed_, i);
    case GgufType::kUint16:
      return Load<uint16_t>(packed_, i);
    case GgufType::kInt16:
      return Load<int16_t>(packed_, i);
    case GgufType::kUint32:
      return Load<uint32_t>(packed_, i);
    case GgufType::kInt32:
      return Load<int32_t>(packed_, i);
    case GgufType::kInt64:
      return Load<int64_t>(packed_, i);
    case GgufType::kUint64: {
      const auto value = Load<uint64_t>(packed_, i);
      if (value >> 63 != 0) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> GgufValue::Number(size_t i) const {
  if (i >= size_) return std::nullopt;
  if (type_ == GgufType::kFloat32) return Load<float>(packed_, i);
  if (type_ == GgufType::kFloat64) return Load<double>(packed_, i);
  const std::optional<int64_t> whole = Whole(i);
  if (!whole.has_value()) return std::nullopt;
  return static_cast<double>(*whole);
}

std::optional<bool> GgufValue::Flag(size_t i) const {
  if (i >= size_ || type_ != GgufType::kBool) return std::nullopt;
  return packed_[i] != std::byte{0};
}

std::optional<std::string_view> GgufValue::Text(size_t i) const {
  if (i >= size_ || type_ != GgufType::kText) return std::nullopt;
  return texts_[i];
}

std::string GgufValue::Describe() const {
  if (array_) return absl::StrCat("an array of ", size_);
  if (const auto flag = Flag()) return *flag ? "true" : "false";
  if (const auto number = Number()) return absl::StrCat(*number);
  if (const auto text = Text()) {
    return absl::StrCat("\"", absl::CHexEscape(AbslView(text->substr(0, 60))),
                        text->size() > 60 ? "..." : "", "\"");
  }
  return "a number too large";
}

int64_t GgufTensor::rows() const {
  int64_t product = 1;
  for (size_t i = 1; i < extents.size(); ++i) product *= extents[i];
  return product;
}

// Reads the header from the front; `left_` is the unread rest.
class GgufParser {
 public:
  explicit GgufParser(GgufFile& file)
      : file_(file), left_(file.file_.bytes()) {}

  absl::Status Parse() {
    uint64_t tensors = 0, keys = 0;
    ESP_RETURN_IF_ERROR(ParsePreamble(tensors, keys));
    for (uint64_t i = 0; i < keys; ++i) ESP_RETURN_IF_ERROR(ParseKey(i));
    ESP_RETURN_IF_ERROR(ReadAlignment());
    for (uint64_t i = 0; i < tensors; ++i) ESP_RETURN_IF_ERROR(ParseTensor(i));
    return PlaceData();
  }

 private:
  template <class... Parts>
  absl::Status Bad(const Parts&... parts) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_.path(), ": ", parts...));
  }
  absl::Status Truncated(absl::string_view what, uint64_t needed) const {
    return absl::DataLossError(absl::StrCat(
        file_.path(), ": ", what, ": expected ", needed,
        " more bytes, found only ", left_.size(),
        ": the file is truncated or damaged; copy or download it again"));
  }

  template <class T>
  absl::Status Take(absl::string_view what, T& value) {
    if (left_.size() < sizeof(T)) return Truncated(what, sizeof(T));
    value = Load<T>(left_, 0);
    left_ = left_.subspan(sizeof(T));
    return absl::OkStatus();
  }
  absl::Status TakeText(absl::string_view what, std::string_view& text) {
    uint64_t size = 0;
    ESP_RETURN_IF_ERROR(Take(what, size));
    if (left_.size() < size) return Truncated(what, size);
    text = {reinterpret_cast<const char*>(left_.data()), size};
    left_ = left_.subspan(size);
    return absl::OkStatus();
  }
  absl::Status TakeName(const std::string& what, std::string& name) {
    std::string_view text;
    ESP_RETURN_IF_ERROR(TakeText(what, text));
    if (text.size() > kMaxName) {
      return Bad(what, ": expected a name of at most ", kMaxName,
                 " bytes, found one of ", text.size());
    }
    name = text;
    return absl::OkStatus();
  }

  absl::Status ParsePreamble(uint64_t& tensors, uint64_t& keys);
  absl::Status ParseKey(uint64_t index);
  absl::Status ParseValue(const std::string& what, GgufValue& value);
  absl::Status ReadAlignment();
  absl::Status ParseTensor(uint64_t index);
  absl::Status MeasureTensor(uint32_t type, GgufTensor& tensor);
  absl::Status PlaceData();

  GgufFile& file_;
  std::span<const std::byte> left_;
  size_t alignment_ = kDefaultAlignment;
};

absl::Status GgufParser::ParsePreamble(uint64_t& tensors, uint64_t& keys) {
  if (left_.size() < kMagic.size() ||
      std::memcmp(left_.data(), kMagic.data(), kMagic.size()) != 0) {
    const std::string note = ForeignFileNote(file_.path(), Wanted::kModel);
    return Bad("expected a GGUF file, found other first bytes",
               note.empty() ? "" : ": ", note);
  }
  left_ = left_.subspan(kMagic.size());
  uint32_t version = 0;
  ESP_RETURN_IF_ERROR(Take("version", version));
  if (version != 2 && version != 3) {
    return Bad(
        "expected GGUF version 2 or 3, found ",
        (version & 0xFFFF) == 0 ? "a big-endian file" : absl::StrCat(version),
        "; convert the model again");
  }
  ESP_RETURN_IF_ERROR(Take("number of tensors", tensors));
  ESP_RETURN_IF_ERROR(Take("number of keys", keys));
  return absl::OkStatus();
}

absl::Status GgufParser::ParseKey(uint64_t index) {
  std::string key;
  ESP_RETURN_IF_ERROR(TakeName(absl::StrCat("key number ", index), key));
  GgufValue value;
  ESP_RETURN_IF_ERROR(ParseValue(absl::StrCat("key ", key), value));
  if (!file_.values_.emplace(key, std::move(value)).second) {
    return Bad("key ", key, " appears twice");
  }
  return absl::OkStatus();
}

absl::Status GgufParser::ParseValue(const std::string& what, GgufValue& value) {
  uint32_t type = 0;
  ESP_RETURN_IF_ERROR(Take(what, type));
  value.type_ = static_cast<GgufType>(type);
  uint64_t size = 1;
  if (value.type_ == GgufType::kArray) {
    value.array_ = true;
    ESP_RETURN_IF_ERROR(Take(what, type));
    ESP_RETURN_IF_ERROR(Take(what, size));
    value.type_ = static_cast<GgufType>(type);
  }
  const bool text = value.type_ == GgufType::kText;
  // A text takes at least the bytes of its length.
  const size_t each = text ? sizeof(uint64_t) : BytesOf(value.type_);
  if (each == 0) {
    return Bad(what, ": expected a number, a text or an array of these, found ",
               value.type_ == GgufType::kArray
                   ? "an array of arrays"
                   : absl::StrCat("values of type ", type));
  }
  if (left_.size() / each < size) {
    return Truncated(absl::StrCat(what, ", an array of ", size), each * size);
  }
  value.size_ = size;
  if (!text) {
    value.packed_ = left_.first(each * size);
    left_ = left_.subspan(each * size);
    return absl::OkStatus();
  }
  value.texts_.reserve(size);
  for (uint64_t i = 0; i < size; ++i) {
    ESP_RETURN_IF_ERROR(TakeText(what, value.texts_.emplace_back()));
  }
  return absl::OkStatus();
}

absl::Status GgufParser::ReadAlignment() {
  const GgufValue* value = file_.Find("general.alignment");
  if (value == nullptr) return absl::OkStatus();
  const int64_t found = value->Whole().value_or(0);
  if (value->is_array() || found < 1 || found > kMaxAlignment ||
      !std::has_single_bit(static_cast<uint64_t>(found))) {
    return Bad("general.alignment: expected a power of two up to ",
               kMaxAlignment, ", found ", value->Describe());
  }
  alignment_ = static_cast<size_t>(found);
  return absl::OkStatus();
}

absl::Status GgufParser::ParseTensor(uint64_t index) {
  GgufTensor tensor;
  const std::string number = absl::StrCat("tensor number ", index);
  ESP_RETURN_IF_ERROR(TakeName(number, tensor.name));
  const std::string what = absl::StrCat("tensor ", tensor.name);
  uint32_t count = 0, type = 0;
  ESP_RETURN_IF_ERROR(Take(what, count));
  if (count < 1 || count > kMaxExtents) {
    return Bad(what, ": expected 1 to ", kMaxExtents, " extents, found ",
               count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    ESP_RETURN_IF_ERROR(Take(what, tensor.extents.emplace_back()));
  }
  uint64_t begin = 0;
  ESP_RETURN_IF_ERROR(Take(what, type));
  ESP_RETURN_IF_ERROR(Take(what, begin));
  ESP_RETURN_IF_ERROR(MeasureTensor(type, tensor));
  if (begin % alignment_ != 0) {
    return Bad(what, ": expected its data at a multiple of ", alignment_,
               " bytes, found it at ", begin);
  }
  tensor.begin = begin;
  const std::string name = tensor.name;
  if (!file_.tensors_.emplace(name, std::move(tensor)).second) {
    return Bad(what, " appears twice");
  }
  return absl::OkStatus();
}

absl::Status GgufParser::MeasureTensor(uint32_t type, GgufTensor& tensor) {
  const std::string what = absl::StrCat("tensor ", tensor.name);
  const GgufBlock block = BlockOf(type);
  if (block.elements == 0) {
    return Bad(what, ": found ", GgufTensorTypeName(type),
               ", supported: ", ReadableGgufTypes(),
               "; convert the model to one of these");
  }
  tensor.type = static_cast<GgufTensorType>(type);
  uint64_t bytes = static_cast<uint64_t>(block.bytes);
  const auto multiply = [&](int64_t by) {
    return by >= 1 &&
           !__builtin_mul_overflow(bytes, static_cast<uint64_t>(by), &bytes);
  };
  bool fits = tensor.columns() % block.elements == 0 &&
              multiply(tensor.columns() / block.elements);
  for (size_t i = 1; i < tensor.extents.size(); ++i) {
    fits = fits && multiply(tensor.extents[i]);
  }
  // Anything larger than the file is detected by PlaceData.
  if (!fits || bytes >> 62 != 0) {
    return Bad(what, ": expected extents above 0, the first a multiple of ",
               block.elements, " as ", GgufTensorTypeName(type),
               " requires, found [", absl::StrJoin(tensor.extents, ", "), "]");
  }
  tensor.bytes = bytes;
  return absl::OkStatus();
}

absl::Status GgufParser::PlaceData() {
  const size_t header = file_.file_.bytes().size() - left_.size();
  const size_t padding = (alignment_ - header % alignment_) % alignment_;
  std::vector<const GgufTensor*> by_place;
  for (const auto& [name, tensor] : file_.tensors_) by_place.push_back(&tensor);
  if (by_place.empty()) return absl::OkStatus();
  if (left_.size() < padding) return Truncated("tensor data", padding);
  file_.data_start_ = header + padding;
  left_ = left_.subspan(padding);
  std::sort(by_place.begin(), by_place.end(),
            [](const GgufTensor* a, const GgufTensor* b) {
              return std::pair(a->begin, a->bytes) <
                     std::pair(b->begin, b->bytes);
            });
  size_t reached = 0;
  for (const GgufTensor* tensor : by_place) {
    if (tensor->begin < reached) {
      return Bad("tensor ", tensor->name, ": expected its data at byte ",
                 reached,
                 " or later, where the previous tensor ends, found it at ",
                 tensor->begin, ": tensors overlap");
    }
    if (tensor->begin > left_.size() ||
        tensor->bytes > left_.size() - tensor->begin) {
      return absl::DataLossError(absl::StrCat(
          file_.path(), ": tensor ", tensor->name, ": expected ", tensor->bytes,
          " bytes of data from byte ", tensor->begin, ", found only ",
          left_.size(),
          " bytes of data: the file is truncated; copy or download it again"));
    }
    reached = tensor->begin + tensor->bytes;
  }
  return absl::OkStatus();
}

absl::StatusOr<GgufFile> GgufFile::Open(const std::string& path) {
  ESP_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  GgufFile file(std::move(mapped));
  ESP_RETURN_IF_ERROR(GgufParser(file).Parse());
  return file;
}

const GgufValue* GgufFile::Find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

const GgufTensor* GgufFile::FindTensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace espalier
