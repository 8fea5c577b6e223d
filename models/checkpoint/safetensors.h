// Tensors in safetensors files: read in place, written whole.
//
//   file:  u64 n, little endian | n bytes of JSON | data
//   JSON:  {"name": {"dtype": "BF16", "shape": [2, 3],
//                    "data_offsets": [begin, end]}, ...,
//           "__metadata__": {"key": "text", ...}}
//
// Open maps the file and checks its whole header before returning: sizes agree
// with shapes, and the tensors tile the data without overlap or gap. Whatever
// the bytes, the result is a file or an error that names the file, the tensor,
// what was expected and what was found.
//
//   ESP_ASSIGN_OR_RETURN(auto file, SafetensorsFile::Open(path));
//   for (const auto& [name, info] : file.tensors()) Use(file.data(name));
//
// If another process truncates the file while it is mapped, this process dies
// (SIGBUS); WriteSafetensors replaces files whole and never causes that.
//
// SafetensorsFile is immutable after Open: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_SAFETENSORS_H_
#define ESPALIER_MODELS_CHECKPOINT_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/checkpoint/mapped_file.h"

namespace espalier {

enum class DType : uint8_t {
  kBool,
  kU8,
  kI8,
  kU16,
  kI16,
  kF16,
  kBF16,
  kU32,
  kI32,
  kF32,
  kU64,
  kI64,
  kF64,
};

// E.g. "BF16", as in the header.
std::string_view DTypeName(DType dtype);
int DTypeBytes(DType dtype);

// E.g. "[2, 3]".
std::string ShapeText(std::span<const int64_t> shape);

struct TensorInfo {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // empty: one element
  size_t begin = 0;            // bytes from the start of the data
  size_t end = 0;
};

class SafetensorsFile {
 public:
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  size_t bytes() const { return file_.bytes().size(); }
  const std::map<std::string, TensorInfo>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const {
    return metadata_;
  }
  // The tensor's bytes, row-major; not aligned for its type. `name` must be in
  // tensors().
  std::span<const std::byte> data(const std::string& name) const;
  // Drops the tensor's bytes from memory, whole file pages only; the next
  // access reads them from the file again.
  void Release(const std::string& name) const;
  // The tensor's elements as fp32; dtype F32, BF16 or F16, else an error.
  absl::StatusOr<std::vector<float>> Floats(const std::string& name) const;

 private:
  explicit SafetensorsFile(MappedFile file) : file_(std::move(file)) {}
  absl::Status ParseHeader(std::string_view json, size_t data_bytes);

  MappedFile file_;
  size_t data_start_ = 0;
  std::map<std::string, TensorInfo> tensors_;
  std::map<std::string, std::string> metadata_;
};

// A tensor to write. `data` holds its elements row-major in `dtype`.
struct NamedTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

// Writes `tensors` in the order of their names. A reader sees the old file or
// the new one, even after a crash. Data of the wrong size, a duplicate name or
// a tensor called "__metadata__" is an error.
absl::Status WriteSafetensors(
    const std::string& path, std::span<const NamedTensor> tensors,
    const std::map<std::string, std::string>& metadata = {});

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_SAFETENSORS_H_
