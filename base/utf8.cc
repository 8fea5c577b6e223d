#include "base/utf8.h"

#include <cstdint>

namespace espalier {
namespace {

// Length in bytes of the character that begins with `first`; 0 if invalid.
size_t LengthOf(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

// Whether `second` may follow `first`: excludes overlong encodings, surrogates
// and code points above U+10FFFF.
bool MayFollow(uint8_t first, uint8_t second) {
  switch (first) {
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second < 0xA0;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second < 0x90;
    default:
      return true;
  }
}

}  // namespace

std::optional<size_t> FirstInvalidUtf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  for (size_t i = 0; i < text.size();) {
    const size_t length = LengthOf(byte(i));
    if (length == 0 || i + length > text.size()) return i;
    for (size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return i;
    }
    if (length > 1 && !MayFollow(byte(i), byte(i + 1))) return i;
    i += length;
  }
  return std::nullopt;
}

}  // namespace espalier
