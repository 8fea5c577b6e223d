#include "tools/espalier/printable.h"

#include <unistd.h>

#include <cstdint>

#include "absl/strings/str_format.h"
#include "base/utf8.h"

namespace espalier {

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = NextUtf8(text);
    const bool line = c.code == '\n' || c.code == '\t';
    if (!c.valid) {
      absl::StrAppendFormat(&out, "\\x%02x", static_cast<uint8_t>(text[0]));
    } else if (IsControl(c.code) && !line) {
      absl::StrAppendFormat(&out, "\\x%02x", c.code);
    } else if (MovesText(c.code)) {
      absl::StrAppendFormat(&out, "\\u%04x", c.code);
    } else {
      out += text.substr(0, c.size);
    }
    text.remove_prefix(c.size);
  }
  return out;
}

std::string ForOutput(std::string_view text) {
  return isatty(STDOUT_FILENO) != 0 ? Printable(text) : std::string(text);
}

}  // namespace espalier
