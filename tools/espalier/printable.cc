#include "tools/espalier/printable.h"

#include <unistd.h>

#include "absl/strings/str_format.h"

namespace espalier {

std::string Printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    const auto next = i + 1 < text.size()
                          ? static_cast<unsigned char>(text[i + 1])
                          : static_cast<unsigned char>(0);
    if (c == 0xC2 && next >= 0x80 && next < 0xA0) {
      absl::StrAppendFormat(&out, "\\x%02x", next);
      ++i;
    } else if (control) {
      absl::StrAppendFormat(&out, "\\x%02x", c);
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string ForOutput(std::string_view text) {
  return isatty(STDOUT_FILENO) != 0 ? Printable(text) : std::string(text);
}

}  // namespace espalier
