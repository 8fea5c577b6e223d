#include "models/tokenizer/json_fields.h"

#include "absl/strings/str_cat.h"
#include "base/foreign.h"
#include "nlohmann/json.hpp"

namespace espalier {

using nlohmann::json;

namespace {

// Whether brackets outside strings nest deeper than `limit`. Tokenizer files
// nest a few levels; deeper ones are hostile, and printing them would exhaust
// the stack.
bool NestsDeeperThan(int limit, std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > limit) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<json> ParseJson(std::string_view text) {
  constexpr int kDeepest = 64;
  if (NestsDeeperThan(kDeepest, text)) {
    return absl::InvalidArgumentError(
        absl::StrCat("JSON nested more than ", kDeepest, " levels deep"));
  }
  try {
    return json::parse(text.begin(), text.end());
  } catch (const json::exception& e) {
    if (std::string note = ForeignBytes(text, Wanted::kModel); !note.empty()) {
      return absl::InvalidArgumentError(note);
    }
    return absl::InvalidArgumentError(
        absl::StrCat("malformed JSON: ", e.what()));
  }
}

const json& JsonField(const json& object, const char* key) {
  static const json null;
  if (!object.is_object()) return null;
  const auto it = object.find(key);
  return it == object.end() ? null : *it;
}

bool BoolField(const json& object, const char* key, bool fallback) {
  const json& value = JsonField(object, key);
  return value.is_boolean() ? value.get<bool>() : fallback;
}

std::string TextField(const json& object, const char* key,
                      const char* fallback) {
  const json& value = JsonField(object, key);
  return value.is_string() ? value.get<std::string>() : fallback;
}

int32_t IdOf(const json& value) {
  if (!value.is_number_unsigned()) return -1;
  const auto id = value.get<uint64_t>();
  return id < (1u << 30) ? static_cast<int32_t>(id) : -1;
}

std::string Excerpt(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace)
      .substr(0, 80);
}

absl::Status WrongType(absl::string_view where, absl::string_view expected,
                       const json& found) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": expected ", expected,
                                                 ", found ", found.type_name(),
                                                 " ", Excerpt(found)));
}

absl::Status InFile(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ": ", status.message()));
}

}  // namespace espalier
