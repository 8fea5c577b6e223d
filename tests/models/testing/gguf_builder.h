// Builds the bytes of a GGUF file piece by piece, for tests.
//
//   GgufBuilder file;
//   file.Text("general.architecture", "llama").Whole("llama.block_count", 2);
//   file.Floats32("output_norm.weight", {64}, values);
//   const std::string path = file.Write("/tmp/x.gguf");
#ifndef ESPALIER_TESTS_MODELS_TESTING_GGUF_BUILDER_H_
#define ESPALIER_TESTS_MODELS_TESTING_GGUF_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

class GgufBuilder {
 public:
  // Keys. A file may contain duplicate keys, which readers refuse.
  GgufBuilder& Text(std::string_view key, std::string_view value);
  GgufBuilder& Whole(std::string_view key, uint32_t value);
  GgufBuilder& Float(std::string_view key, float value);
  GgufBuilder& Flag(std::string_view key, bool value);
  GgufBuilder& Texts(std::string_view key, const std::vector<std::string>& v);
  GgufBuilder& Wholes(std::string_view key, const std::vector<int32_t>& v);
  GgufBuilder& Floats(std::string_view key, const std::vector<float>& v);
  // Any type number, with raw bytes.
  GgufBuilder& Raw(std::string_view key, uint32_t type, std::string_view bytes);

  // Tensors: extents innermost first, type as numbered in files. The data are
  // stored consecutively.
  GgufBuilder& Tensor(std::string_view name, const std::vector<uint64_t>& e,
                      uint32_t type, std::string_view data);
  GgufBuilder& Floats32(std::string_view name, const std::vector<uint64_t>& e,
                        const std::vector<float>& values);
  // Only the entry, which claims that the data start at `begin`.
  GgufBuilder& Entry(std::string_view name, const std::vector<uint64_t>& e,
                     uint32_t type, uint64_t begin);
  GgufBuilder& Data(std::string_view bytes);

  std::string Bytes() const;
  // Writes Bytes() to `path` and returns `path`.
  std::string Write(const std::string& path) const;

  uint32_t version = 3;
  uint64_t alignment = 32;

 private:
  std::string keys_, entries_, data_;
  uint64_t key_count_ = 0, tensor_count_ = 0;
};

// `value`, little endian.
template <class T>
std::string Little(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}
// A string preceded by its length.
std::string GgufText(std::string_view text);
// Writes `bytes` to `path` without waiting for the disk, for loops over files.
void WriteFast(const std::string& path, std::string_view bytes);

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TESTING_GGUF_BUILDER_H_
