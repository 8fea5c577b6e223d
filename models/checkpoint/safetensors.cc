#include "models/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/files.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/checkpoint/to_float.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors data is little endian and used in place");

using nlohmann::json;

constexpr char kMetadata[] = "__metadata__";
// Limit of the format's reference reader; a larger header is a corrupt length.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
// Deepest nesting of a valid header: file, tensor, list.
constexpr size_t kMaxHeaderDepth = 4;

struct DTypeRow {
  std::string_view name;
  int bytes;
};
constexpr std::array<DTypeRow, 13> kDTypes = {{
    {"BOOL", 1},
    {"U8", 1},
    {"I8", 1},
    {"U16", 2},
    {"I16", 2},
    {"F16", 2},
    {"BF16", 2},
    {"U32", 4},
    {"I32", 4},
    {"F32", 4},
    {"U64", 8},
    {"I64", 8},
    {"F64", 8},
}};

std::optional<DType> ParseDType(std::string_view name) {
  for (size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

// Bytes of a tensor, or nothing on overflow.
std::optional<size_t> TensorBytes(DType dtype, std::span<const int64_t> shape) {
  uint64_t bytes = static_cast<uint64_t>(DTypeBytes(dtype));
  for (const int64_t extent : shape) {
    if (extent < 0 ||
        __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

// A short, printable form of an unexpected value.
std::string Found(const json& value) {
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 60) {
    text.resize(57);
    text.append("...");
  }
  return text;
}

// Parses one entry of the header; the error says what is wrong with it.
absl::StatusOr<TensorInfo> ParseTensor(const json& entry) {
  const auto bad = [](auto&&... parts) {
    return absl::InvalidArgumentError(absl::StrCat(parts...));
  };
  if (!entry.is_object()) {
    return bad("expected an object, found ", Found(entry));
  }
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!entry.contains(key)) return bad("has no \"", key, "\"");
  }
  TensorInfo info;
  const json& dtype = entry["dtype"];
  std::optional<DType> known;
  if (dtype.is_string()) {
    known = ParseDType(dtype.get_ref<const std::string&>());
  }
  if (!known.has_value()) {
    return bad("expected a dtype such as \"BF16\" or \"F32\", found ",
               Found(dtype));
  }
  info.dtype = *known;
  const json& shape = entry["shape"];
  if (!shape.is_array()) {
    return bad("expected a list as shape, found ", Found(shape));
  }
  for (const json& extent : shape) {
    if (!extent.is_number_unsigned() ||
        extent.get<uint64_t>() >
            static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return bad("expected whole numbers as shape, found ", Found(shape));
    }
    info.shape.push_back(extent.get<int64_t>());
  }
  const json& range = entry["data_offsets"];
  if (!range.is_array() || range.size() != 2 ||
      !range[0].is_number_unsigned() || !range[1].is_number_unsigned() ||
      range[0].get<uint64_t>() > range[1].get<uint64_t>()) {
    return bad("expected data_offsets [begin, end], found ", Found(range));
  }
  info.begin = range[0].get<uint64_t>();
  info.end = range[1].get<uint64_t>();
  const std::optional<size_t> bytes = TensorBytes(info.dtype, info.shape);
  if (!bytes.has_value() || *bytes != info.end - info.begin) {
    return bad("expected ",
               bytes.has_value() ? absl::StrCat(*bytes) : "fewer than 2^64",
               " bytes for ", AbslView(DTypeName(info.dtype)), " ",
               ShapeText(info.shape), ", found data_offsets ", Found(range),
               " (", info.end - info.begin, " bytes)");
  }
  return info;
}

}  // namespace

std::string_view DTypeName(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)].name;
}

int DTypeBytes(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)].bytes;
}

std::string ShapeText(std::span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape.begin(), shape.end(), ", "),
                      "]");
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  if (const std::string other = ForeignFileNote(path, Wanted::kModel);
      !other.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", other));
  }
  ESP_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  SafetensorsFile file(std::move(mapped));
  uint64_t header_bytes = 0;
  if (file.bytes() < sizeof(header_bytes)) {
    return absl::DataLossError(absl::StrCat(
        path, ": expected a safetensors file of at least 8 bytes, found ",
        file.bytes(), "; copy or download it again"));
  }
  const std::byte* const begin = file.file_.bytes().data();
  std::memcpy(&header_bytes, begin, sizeof(header_bytes));
  const size_t rest = file.bytes() - sizeof(header_bytes);
  if (header_bytes > kMaxHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected a header of at most ", kMaxHeaderBytes,
                     " bytes, found a length of ", header_bytes,
                     "; this is not a safetensors file"));
  }
  if (header_bytes > rest) {
    return absl::DataLossError(absl::StrCat(
        path, ": expected a header of ", header_bytes, " bytes, found only ",
        rest, ": the file is truncated; copy or download it again"));
  }
  file.data_start_ = sizeof(header_bytes) + header_bytes;
  const std::string_view header(
      reinterpret_cast<const char*>(begin) + sizeof(header_bytes),
      header_bytes);
  ESP_RETURN_IF_ERROR(
      file.ParseHeader(header, file.bytes() - file.data_start_));
  return file;
}

absl::Status SafetensorsFile::ParseHeader(std::string_view text,
                                          size_t data_bytes) {
  const auto bad = [&](auto&&... parts) {
    return absl::InvalidArgumentError(absl::StrCat(path(), ": ", parts...));
  };
  json header;
  const JsonOutcome outcome = ReadJson(text,
                                       {.max_depth = kMaxHeaderDepth,
                                        .refuse_repeats = false,
                                        .exact_integers = false},
                                       header);
  if (outcome.fault != JsonFault::kNone || !header.is_object()) {
    return bad("expected a JSON object of tensors in the header, found ",
               outcome.fault == JsonFault::kTooDeep ? "deeper nesting"
               : outcome.fault != JsonFault::kNone  ? "malformed JSON"
                                                    : Found(header));
  }
  if (outcome.repeated_depth == 1) {
    return bad("tensor ", outcome.repeated, " appears twice");
  }
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      if (!entry.is_object()) {
        return bad("expected an object as ", kMetadata, ", found ",
                   Found(entry));
      }
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) {
          return bad("expected text as ", kMetadata, ".", key, ", found ",
                     Found(value));
        }
        metadata_[key] = value.get<std::string>();
      }
      continue;
    }
    absl::StatusOr<TensorInfo> info = ParseTensor(entry);
    if (!info.ok()) {
      return bad("tensor ", name, ": ", info.status().message());
    }
    tensors_[name] = *std::move(info);
  }

  std::vector<std::pair<const std::string*, const TensorInfo*>> by_place;
  for (const auto& [name, info] : tensors_) by_place.push_back({&name, &info});
  std::sort(by_place.begin(), by_place.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second->begin, a.second->end) <
           std::pair(b.second->begin, b.second->end);
  });
  size_t reached = 0;
  for (const auto& [name, info] : by_place) {
    if (info->begin != reached) {
      return bad("tensor ", *name, ": expected its data at byte ", reached,
                 " where the previous tensor ends, found it at ", info->begin,
                 info->begin < reached ? ": tensors overlap" : ": a gap");
    }
    reached = info->end;
  }
  if (reached > data_bytes) {
    return absl::DataLossError(absl::StrCat(
        path(), ": tensor ", *by_place.back().first, ": expected ", reached,
        " bytes of data up to its end, found only ", data_bytes,
        ": the file is truncated; copy or download it again"));
  }
  if (reached < data_bytes) {
    return bad("expected ", reached, " bytes of data, found ", data_bytes,
               ": bytes after the last tensor");
  }
  return absl::OkStatus();
}

std::span<const std::byte> SafetensorsFile::data(
    const std::string& name) const {
  const auto found = tensors_.find(name);
  ESP_CHECK(found != tensors_.end());
  const std::byte* data = file_.bytes().data() + data_start_;
  return {data + found->second.begin, data + found->second.end};
}

void SafetensorsFile::Release(const std::string& name) const {
  file_.Release(data(name));
}

absl::StatusOr<std::vector<float>> SafetensorsFile::Floats(
    const std::string& name) const {
  const std::span<const std::byte> bytes = data(name);
  const DType dtype = tensors_.find(name)->second.dtype;
  if (!IsFloat(dtype)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path(), ": tensor ", name, ": expected dtype BF16, F16 or F32, found ",
        AbslView(DTypeName(dtype))));
  }
  std::vector<float> values(bytes.size() /
                            static_cast<size_t>(DTypeBytes(dtype)));
  ToFloats(dtype, bytes.data(), values.size(), values.data());
  return values;
}

absl::Status WriteSafetensors(
    const std::string& path, std::span<const NamedTensor> tensors,
    const std::map<std::string, std::string>& metadata) {
  std::map<std::string, const NamedTensor*> sorted;
  for (const NamedTensor& tensor : tensors) {
    const auto bad = [&](auto&&... parts) {
      return absl::InvalidArgumentError(absl::StrCat(
          "cannot write ", path, ": tensor ", tensor.name, ": ", parts...));
    };
    const std::optional<size_t> bytes = TensorBytes(tensor.dtype, tensor.shape);
    if (!bytes.has_value() || *bytes != tensor.data.size()) {
      return bad("expected ", bytes.value_or(0), " bytes for ",
                 AbslView(DTypeName(tensor.dtype)), " ",
                 ShapeText(tensor.shape), ", found ", tensor.data.size());
    }
    if (tensor.name == kMetadata) return bad("the name is reserved");
    if (!sorted.emplace(tensor.name, &tensor).second) {
      return bad("given twice");
    }
  }
  json header = json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  size_t offset = 0;
  for (const auto& [name, tensor] : sorted) {
    header[name] = {{"dtype", DTypeName(tensor->dtype)},
                    {"shape", tensor->shape},
                    {"data_offsets", {offset, offset + tensor->data.size()}}};
    offset += tensor->data.size();
  }
  std::string text =
      header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // data is 8-byte aligned
  const uint64_t header_bytes = text.size();
  std::string file(sizeof(header_bytes), '\0');
  std::memcpy(file.data(), &header_bytes, sizeof(header_bytes));
  file.reserve(file.size() + text.size() + offset);
  file += text;
  for (const auto& [name, tensor] : sorted) {
    file.append(reinterpret_cast<const char*>(tensor->data.data()),
                tensor->data.size());
  }
  return WriteFileAtomic(path, file);
}

}  // namespace espalier
