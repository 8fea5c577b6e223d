// GGUF files: keys with values, and tensors in place (the GGUF specification,
// versions 2 and 3).
//
//   file:    "GGUF" | u32 version | u64 tensors | u64 keys
//            keys:    text name | u32 type | value
//            tensors: text name | u32 n | u64 extent x n | u32 type | u64 begin
//            padding to the alignment | data
//   text:    u64 n | n bytes            all numbers little endian
//   array:   u32 type of elements | u64 n | elements
//
// Extents are listed innermost first: a matrix [rows, columns] has {columns,
// rows}.
//
// Open maps the file and checks its whole header before returning: every count
// against the bytes left, every tensor's position and size, and that no two
// overlap. Whatever the bytes, the result is a file or an error that names the
// file, the key or tensor, what was expected and what was found.
//
//   ESP_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path));
//   if (const GgufValue* name = file.Find("general.name")) Use(name->Text());
//   for (const auto& [name, tensor] : file.tensors()) Use(file.data(tensor));
//
// Immutable after Open: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_GGUF_H_
#define ESPALIER_MODELS_CHECKPOINT_GGUF_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/checkpoint/gguf_blocks.h"
#include "models/checkpoint/mapped_file.h"

namespace espalier {

// Numbered as in the file format.
enum class GgufType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kText = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

// One value, or an array of values of one type.
class GgufValue {
 public:
  bool is_array() const { return array_; }
  size_t size() const { return size_; }  // 1 if not an array

  // Element i; nothing if there is no such element or it has another type.
  std::optional<int64_t> Whole(size_t i = 0) const;  // of any integer type
  std::optional<double> Number(size_t i = 0) const;  // integer or floating
  std::optional<bool> Flag(size_t i = 0) const;
  std::optional<std::string_view> Text(size_t i = 0) const;

  // A short printable form for messages.
  std::string Describe() const;

 private:
  friend class GgufParser;
  GgufType type_ = GgufType::kUint8;  // of the elements if an array
  bool array_ = false;
  size_t size_ = 1;
  std::span<const std::byte> packed_;    // numbers and flags, in the file
  std::vector<std::string_view> texts_;  // in the file
};

struct GgufTensor {
  std::string name;
  GgufTensorType type = GgufTensorType::kF32;
  std::vector<int64_t> extents;  // innermost first, 1 to 4, each above 0
  size_t begin = 0;              // bytes from the start of the data
  size_t bytes = 0;

  int64_t columns() const { return extents[0]; }
  // Product of all extents except the innermost.
  int64_t rows() const;
};

class GgufFile {
 public:
  static absl::StatusOr<GgufFile> Open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const MappedFile& file() const { return file_; }
  // Null if the key is missing.
  const GgufValue* Find(const std::string& key) const;
  const std::map<std::string, GgufTensor>& tensors() const { return tensors_; }
  // Null if the tensor is missing.
  const GgufTensor* FindTensor(const std::string& name) const;
  // Bytes of a tensor of this file; not aligned for its type.
  std::span<const std::byte> data(const GgufTensor& tensor) const {
    return file_.bytes().subspan(data_start_ + tensor.begin, tensor.bytes);
  }

 private:
  friend class GgufParser;
  explicit GgufFile(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
  size_t data_start_ = 0;
  std::map<std::string, GgufValue> values_;
  std::map<std::string, GgufTensor> tensors_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_GGUF_H_
