#include "models/remote/server_message.h"

#include <cstddef>
#include <string_view>

#include "absl/strings/str_replace.h"
#include "base/parse_json.h"
#include "base/utf8.h"
#include "nlohmann/json.hpp"

namespace espalier {

std::string ServerMessage(const std::string& body, const std::string& key) {
  constexpr size_t kLongest = 400;
  const nlohmann::json json = ParseJsonOrNull(body);
  std::string text = body;
  if (json.is_object()) {
    const nlohmann::json* at = &json;
    if (json.contains("error")) at = &json["error"];
    for (const char* field : {"message", "detail"}) {
      if (at->is_object() && at->contains(field)) {
        at = &(*at)[field];
        break;
      }
    }
    if (at->is_string()) text = at->get<std::string>();
  }
  if (!key.empty()) text = absl::StrReplaceAll(text, {{key, "(key)"}});
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Char c = NextUtf8(rest);
    if (out.size() + c.size > kLongest) {
      out.append("...");
      break;
    }
    const bool shown = c.valid && c.code >= ' ' && c.code != 0x7f &&
                       !(c.code >= 0x80 && c.code < 0xa0) && !MovesText(c.code);
    if (shown) {
      out.append(rest.substr(0, c.size));
    } else {
      out.push_back(' ');
    }
    rest.remove_prefix(c.size);
  }
  return out;
}

}  // namespace espalier
