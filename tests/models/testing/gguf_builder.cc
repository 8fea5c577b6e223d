#include "tests/models/testing/gguf_builder.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/check.h"

namespace espalier {

std::string GgufText(std::string_view text) {
  return Little<uint64_t>(text.size()) + std::string(text);
}

GgufBuilder& GgufBuilder::Raw(std::string_view key, uint32_t type,
                              std::string_view bytes) {
  keys_ += GgufText(key) + Little(type) + std::string(bytes);
  ++key_count_;
  return *this;
}

GgufBuilder& GgufBuilder::Text(std::string_view key, std::string_view value) {
  return Raw(key, 8, GgufText(value));
}

GgufBuilder& GgufBuilder::Whole(std::string_view key, uint32_t value) {
  return Raw(key, 4, Little(value));
}

GgufBuilder& GgufBuilder::Float(std::string_view key, float value) {
  return Raw(key, 6, Little(value));
}

GgufBuilder& GgufBuilder::Flag(std::string_view key, bool value) {
  return Raw(key, 7, Little(static_cast<uint8_t>(value)));
}

GgufBuilder& GgufBuilder::Texts(std::string_view key,
                                const std::vector<std::string>& v) {
  std::string bytes = Little<uint32_t>(8) + Little<uint64_t>(v.size());
  for (const std::string& text : v) bytes += GgufText(text);
  return Raw(key, 9, bytes);
}

GgufBuilder& GgufBuilder::Wholes(std::string_view key,
                                 const std::vector<int32_t>& v) {
  std::string bytes = Little<uint32_t>(5) + Little<uint64_t>(v.size());
  for (const int32_t value : v) bytes += Little(value);
  return Raw(key, 9, bytes);
}

GgufBuilder& GgufBuilder::Floats(std::string_view key,
                                 const std::vector<float>& v) {
  std::string bytes = Little<uint32_t>(6) + Little<uint64_t>(v.size());
  for (const float value : v) bytes += Little(value);
  return Raw(key, 9, bytes);
}

GgufBuilder& GgufBuilder::Entry(std::string_view name,
                                const std::vector<uint64_t>& e, uint32_t type,
                                uint64_t begin) {
  entries_ += GgufText(name) + Little(static_cast<uint32_t>(e.size()));
  for (const uint64_t extent : e) entries_ += Little(extent);
  entries_ += Little(type) + Little(begin);
  ++tensor_count_;
  return *this;
}

GgufBuilder& GgufBuilder::Data(std::string_view bytes) {
  data_ += bytes;
  data_.resize((data_.size() + alignment - 1) / alignment * alignment);
  return *this;
}

GgufBuilder& GgufBuilder::Tensor(std::string_view name,
                                 const std::vector<uint64_t>& e, uint32_t type,
                                 std::string_view data) {
  return Entry(name, e, type, data_.size()).Data(data);
}

GgufBuilder& GgufBuilder::Floats32(std::string_view name,
                                   const std::vector<uint64_t>& e,
                                   const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += Little(value);
  return Tensor(name, e, 0, bytes);
}

std::string GgufBuilder::Bytes() const {
  std::string bytes = "GGUF" + Little(version) + Little(tensor_count_) +
                      Little(key_count_) + keys_ + entries_;
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  return bytes + data_;
}

std::string GgufBuilder::Write(const std::string& path) const {
  WriteFast(path, Bytes());
  return path;
}

void WriteFast(const std::string& path, std::string_view bytes) {
  // Some file systems flush a file at once when it replaces another.
  std::error_code error;
  std::filesystem::remove(path, error);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  ESP_CHECK(out.good());
}

}  // namespace espalier
