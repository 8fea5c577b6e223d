#include "base/utf8.h"

namespace espalier {

Utf8Char NextUtf8(std::string_view text) {
  const auto byte = [&](size_t i) -> uint32_t {
    return static_cast<uint8_t>(text[i]);
  };
  const uint32_t first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return {};
  uint32_t code = first & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[size] || code > 0x10FFFF ||
      (code >= 0xD800 && code <= 0xDFFF)) {
    return {};
  }
  return {code, size, true};
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto tail = [&](int shift) {
    out += static_cast<char>(0x80 | (code >> shift & 0x3F));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
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

}  // namespace espalier
