// The bytes of a GGUF file, made piece by piece for tests.
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
  // Keys. Files may hold the same key twice, which readers refuse.
  GgufBuilder& Text(std::string_view key, std::string_view value);
  GgufBuilder& Whole(std::string_view key, uint32_t value);
  GgufBuilder& Float(std::string_view key, float value);
  GgufBuilder& Flag(std::string_view key, bool value);
  GgufBuilder& Texts(std::string_view key, const std::vector<std::string>& v);
  GgufBuilder& Wholes(std::string_view key, const std::vector<int32_t>& v);
  GgufBuilder& Floats(std::string_view key, const std::vector<float>& v);
  // Any type number with its bytes.
  GgufBuilder& Raw(std::string_view key, uint32_t type, std::string_view bytes);

  // Tensors: extents innermost first, type as numbered in files. Data are
  // placed one after the other.
  GgufBuilder& Tensor(std::string_view name, const std::vector<uint64_t>& e,
                      uint32_t type, std::string_view data);
  GgufBuilder& Floats32(std::string_view name, const std::vector<uint64_t>& e,
                        const std::vector<float>& values);
  // Only the entry, data said to be at `begin`.
  GgufBuilder& Entry(std::string_view name, const std::vector<uint64_t>& e,
                     uint32_t type, uint64_t begin);
  GgufBuilder& Data(std::string_view bytes);

  std::string Bytes() const;
  // Writes them to `path` and returns it.
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
// A text with its length before it.
std::string GgufText(std::string_view text);
// Puts `bytes` at `path` without waiting for the disk, for loops over files.
void WriteFast(const std::string& path, std::string_view bytes);

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TESTING_GGUF_BUILDER_H_
