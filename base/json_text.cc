#include "base/json_text.h"

#include <cstdint>
#include <string_view>

#include "absl/strings/str_format.h"
#include "base/utf8.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

// Characters that JSON does not escape but a terminal should not receive.
bool IsUnsafe(uint32_t code) {
  return (code >= 0x7F && code < 0xA0) || MovesText(code);
}

// Decodes the characters above, which have at most three bytes; 0 for others.
uint32_t CodeOf(std::string_view text, size_t* bytes) {
  const auto low = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<uint8_t>(text[i]) & 0x3F);
  };
  const auto first = static_cast<uint8_t>(text[0]);
  *bytes = 1;
  if (first == 0x7F) return first;
  if ((first == 0xC2 || first == 0xD8) && text.size() > 1) {
    *bytes = 2;
    return (first & 0x1Fu) << 6 | low(1);
  }
  if ((first == 0xE2 || first == 0xEF) && text.size() > 2) {
    *bytes = 3;
    return (first & 0x0Fu) << 12 | low(1) << 6 | low(2);
  }
  return 0;
}

}  // namespace

std::string JsonText(const nlohmann::json& json, int indent) {
  const std::string text =
      json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
  // ASCII but for DEL, the most common text, in one pass.
  size_t at = 0;
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x7F) ++at;
  if (at == text.size()) return text;
  // Outside of strings JSON is ASCII without these characters.
  std::string out = text.substr(0, at);
  while (at < text.size()) {
    size_t bytes = 1;
    const uint32_t code = CodeOf(std::string_view(text).substr(at), &bytes);
    if (IsUnsafe(code)) {
      absl::StrAppendFormat(&out, "\\u%04x", code);
    } else {
      out.append(text, at, bytes);
    }
    at += bytes;
  }
  return out;
}

}  // namespace espalier
