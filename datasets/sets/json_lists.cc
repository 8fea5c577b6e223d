#include "datasets/sets/json_lists.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json_text.h"
#include "datasets/sets/byte_source.h"

namespace espalier {
namespace {

// Reads a text after its opening quote; what it holds goes to `out` as far as
// it is short.
void SkipQuoted(ByteSource& source, std::string* out) {
  constexpr size_t kMostName = 256;
  for (int c = source.Get(); c >= 0 && c != '"'; c = source.Get()) {
    if (c == '\\') c = source.Get();
    if (out != nullptr && out->size() < kMostName) {
      out->push_back(static_cast<char>(c));
    }
  }
}

// The members of the object that begins here that are lists of objects.
// Stops where the object ends or is damaged.
std::vector<std::string> ListsOfObjects(ByteSource& source) {
  std::vector<std::string> lists;
  std::string name, text;
  int64_t depth = 0;
  while (true) {
    source.SkipSpace();
    const int c = source.Get();
    if (c < 0) return lists;
    if (c == '"') {
      text.clear();
      SkipQuoted(source, depth == 1 ? &text : nullptr);
    } else if (c == ':' && depth == 1) {
      name = text;
      source.SkipSpace();
      if (source.Peek() != '[') continue;
      source.Get();
      ++depth;
      source.SkipSpace();
      if (source.Peek() == '{') lists.push_back(name);
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return lists;
    }
  }
}

}  // namespace

absl::Status OneListOf(const std::string& place,
                       const std::vector<std::string>& names) {
  if (names.size() < 2) return absl::OkStatus();
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(JsonText(name));
  return absl::FailedPreconditionError(absl::StrCat(
      place, ": expected one list of records, found ", names.size(), ": ",
      absl::StrJoin(quoted, ", "),
      "; write the list to be read to a file of its own, e.g. with python3 -c "
      "\"import json; json.dump(json.load(open('IN.json'))['",
      names[0], "'], open('OUT.json', 'w'))\""));
}

absl::Status CheckOneList(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return absl::OkStatus();
  const auto source = ByteSource::Open(path);
  if (!source.ok()) return absl::OkStatus();
  (*source)->SkipSpace();
  if ((*source)->Peek() != '{') return absl::OkStatus();
  const std::string place = (*source)->Place();
  const int64_t begin = (*source)->line();
  const std::vector<std::string> lists = ListsOfObjects(**source);
  const bool one_line = (*source)->line() == begin;
  (*source)->SkipSpace();
  if (one_line && (*source)->Peek() >= 0) return absl::OkStatus();
  return OneListOf(place, lists);
}

}  // namespace espalier
