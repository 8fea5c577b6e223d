#include "base/utf8.h"

#include <utf8proc.h>

#include <algorithm>

namespace espalier {

Utf8Char NextUtf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  if (bytes[0] < 0x80) return {bytes[0], 1, true};
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t size = utf8proc_iterate(
      bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (size <= 0) return {};
  return {static_cast<uint32_t>(code), static_cast<size_t>(size), true};
}

void AppendUtf8(uint32_t code, std::string& out) {
  uint8_t bytes[4];
  const utf8proc_ssize_t size =
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

size_t Utf8Stretch(std::string_view text, bool valid) {
  size_t size = 0;
  while (size < text.size()) {
    const Utf8Char c = NextUtf8(text.substr(size));
    if (c.valid != valid) break;
    size += c.size;
  }
  return size;
}

std::optional<size_t> FirstInvalidUtf8(std::string_view text) {
  const size_t valid = Utf8Stretch(text, true);
  if (valid == text.size()) return std::nullopt;
  return valid;
}

size_t NextUtf8Boundary(std::string_view text, size_t at) {
  at = std::min(at, text.size());
  while (at < text.size() && (text[at] & 0xC0) == 0x80) ++at;
  return at;
}

int Utf8Columns(uint32_t code) {
  return utf8proc_charwidth(static_cast<utf8proc_int32_t>(code));
}

}  // namespace espalier
