// Reads, writes and checks UTF-8.
//
//   if (const auto at = FirstInvalidUtf8(line)) { ... byte *at is wrong ... }
//
// Stateless: thread-safe.
#ifndef ESPALIER_BASE_UTF8_H_
#define ESPALIER_BASE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace espalier {

struct Utf8Char {
  uint32_t code = 0;
  size_t size = 1;     // bytes consumed; 1 if invalid
  bool valid = false;  // no overlong form, surrogate or code above U+10FFFF
};

// The first character of `text`, which must not be empty.
Utf8Char NextUtf8(std::string_view text);

// Appends `code`, a Unicode scalar value.
void AppendUtf8(uint32_t code, std::string& out);

// Bytes of the longest valid (or, if `valid` is false, wholly invalid) prefix.
size_t Utf8Stretch(std::string_view text, bool valid);

// Index of the first byte that does not begin a complete, shortest-form, valid
// UTF-8 character (RFC 3629: no surrogates, nothing above U+10FFFF); nullopt if
// all of `text` is UTF-8.
std::optional<size_t> FirstInvalidUtf8(std::string_view text);

// The first place from `at` on (or its size) that is not inside a character.
size_t NextUtf8Boundary(std::string_view text, size_t at);

// Of C0, DEL or C1: a terminal may obey it.
inline bool IsControl(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

// Columns of a terminal that the character takes: 0 (combining marks) to 2.
int Utf8Columns(uint32_t code);

// Whether the character is invisible and changes text direction or breaks
// lines, so that the displayed text would differ from the actual text.
inline bool MovesText(uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

}  // namespace espalier

#endif  // ESPALIER_BASE_UTF8_H_
