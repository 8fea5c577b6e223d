#include "models/remote/without_lists.h"

#include <algorithm>
#include <cstddef>

namespace espalier {
namespace {

// The quote that ends the string which begins at `at`; npos: none does.
size_t EndOfString(std::string_view json, size_t at) {
  for (size_t end = at + 1;; ++end) {
    end = json.find('"', end);
    if (end == std::string_view::npos) return end;
    size_t slashes = 0;
    while (json[end - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) return end;
  }
}

size_t AfterSpace(std::string_view json, size_t at) {
  while (at < json.size() && (json[at] == ' ' || json[at] == '\n' ||
                              json[at] == '\r' || json[at] == '\t')) {
    ++at;
  }
  return at;
}

// One past the bracket that closes the list at `at`; npos: none does.
size_t AfterList(std::string_view json, size_t at) {
  int depth = 0;
  for (; at < json.size(); ++at) {
    switch (json[at]) {
      case '"':
        at = EndOfString(json, at);
        if (at == std::string_view::npos) return at;
        break;
      case '[':
      case '{':
        ++depth;
        break;
      case ']':
      case '}':
        if (--depth == 0) return at + 1;
        break;
      default:
        break;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string WithoutLists(std::string_view json,
                         const std::vector<std::string_view>& names) {
  std::string out;
  out.reserve(json.size());
  size_t copied = 0;
  size_t at = json.find('"');
  while (at != std::string_view::npos) {
    const size_t end = EndOfString(json, at);
    if (end == std::string_view::npos) break;
    const std::string_view name = json.substr(at + 1, end - at - 1);
    size_t next = end + 1;
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      const size_t colon = AfterSpace(json, next);
      const size_t list = colon < json.size() && json[colon] == ':'
                              ? AfterSpace(json, colon + 1)
                              : json.size();
      if (list < json.size() && json[list] == '[') {
        next = AfterList(json, list);
        if (next == std::string_view::npos) break;
        out.append(json.substr(copied, list - copied));
        out.append("[]");
        copied = next;
      }
    }
    at = json.find('"', next);
  }
  out.append(json.substr(copied));
  return out;
}

}  // namespace espalier
