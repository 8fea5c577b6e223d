#include "models/tokenizer/json_fields.h"

#include "absl/strings/str_cat.h"
#include "base/foreign.h"
#include "base/parse_json.h"
#include "nlohmann/json.hpp"

namespace espalier {

using nlohmann::json;

absl::StatusOr<json> ParseTokenizerJson(std::string_view text) {
  // Tokenizer files nest a few levels; deeper ones are hostile.
  constexpr size_t kDeepest = 64;
  json value;
  const JsonOutcome outcome = ReadJson(
      text,
      {.max_depth = kDeepest, .refuse_repeats = false, .exact_integers = false},
      value);
  if (outcome.fault == JsonFault::kNone) return value;
  if (outcome.fault == JsonFault::kTooDeep) {
    return absl::InvalidArgumentError(
        absl::StrCat("JSON nested more than ", kDeepest, " levels deep"));
  }
  if (std::string note = ForeignBytes(text, Wanted::kModel); !note.empty()) {
    return absl::InvalidArgumentError(note);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("malformed JSON: ", outcome.what));
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
