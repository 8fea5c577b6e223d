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

std::string PrintableError(std::string_view text) {
  std::string out;
  for (;;) {
    const size_t scheme = text.find("://");
    if (scheme == text.npos) break;
    const size_t begin = scheme + 3;
    const std::string_view address =
        text.substr(begin, text.find_first_of(" \t\n\"'", begin) - begin);
    // A password may hold a slash or another "@".
    const bool database = text.substr(0, scheme).ends_with("postgres") ||
                          text.substr(0, scheme).ends_with("postgresql");
    const size_t at = database
                          ? address.rfind('@')
                          : address.substr(0, address.find('/')).rfind('@');
    const size_t colon = address.find(':');
    const bool password = at != address.npos && colon < at;
    out += text.substr(0, password ? begin + colon + 1 : begin);
    if (password) out += "...";
    text.remove_prefix(password ? begin + at : begin);
  }
  out.append(text);
  constexpr std::string_view kField = "password=";
  for (size_t at = 0; (at = out.find(kField, at)) != out.npos;) {
    at += kField.size();
    out.replace(at, out.find_first_of("& \t\n\"'", at) - at, "...");
  }
  return Printable(out);
}

std::string ForOutput(std::string_view text) {
  return isatty(STDOUT_FILENO) != 0 ? Printable(text) : std::string(text);
}

}  // namespace espalier
