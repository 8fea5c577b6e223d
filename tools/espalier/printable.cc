#include "tools/espalier/printable.h"

#include <unistd.h>

#include <cstdint>

#include "absl/strings/str_format.h"
#include "base/utf8.h"

namespace espalier {
namespace {

struct Character {
  uint32_t code;
  size_t bytes;
};

// Decodes the first character of `text`, which must be complete.
Character Decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  uint32_t code = first & (0xFFu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) code = code << 6 | (byte(i) & 0x3Fu);
  return {code, bytes};
}

bool IsControl(uint32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') ||
         (code >= 0x7F && code < 0xA0);
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  // Text up to `valid` is UTF-8.
  size_t valid = FirstInvalidUtf8(text).value_or(text.size());
  for (size_t i = 0; i < text.size();) {
    if (i == valid) {
      absl::StrAppendFormat(&out, "\\x%02x", static_cast<uint8_t>(text[i]));
      ++i;
      valid = i + FirstInvalidUtf8(text.substr(i)).value_or(text.size() - i);
      continue;
    }
    const Character c = Decode(text.substr(i));
    if (IsControl(c.code)) {
      absl::StrAppendFormat(&out, "\\x%02x", c.code);
    } else if (MovesText(c.code)) {
      absl::StrAppendFormat(&out, "\\u%04x", c.code);
    } else {
      out += text.substr(i, c.bytes);
    }
    i += c.bytes;
  }
  return out;
}

std::string ForOutput(std::string_view text) {
  return isatty(STDOUT_FILENO) != 0 ? Printable(text) : std::string(text);
}

}  // namespace espalier
