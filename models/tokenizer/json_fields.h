// Reads fields of untrusted tokenizer files: each helper returns a plain value
// or a fallback, never throws.
#ifndef ESPALIER_MODELS_TOKENIZER_JSON_FIELDS_H_
#define ESPALIER_MODELS_TOKENIZER_JSON_FIELDS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

absl::StatusOr<nlohmann::json> ParseTokenizerJson(std::string_view text);

// `object[key]` if `object` is an object that has the key with the requested
// type, else the fallback.
bool BoolField(const nlohmann::json& object, const char* key, bool fallback);
std::string TextField(const nlohmann::json& object, const char* key,
                      const char* fallback = "");
// Same; null if there is no such key.
const nlohmann::json& JsonField(const nlohmann::json& object, const char* key);

// An id if the number fits; -1 otherwise, which vocabularies reject.
int32_t IdOf(const nlohmann::json& value);

// `value` as text for an error message, at most 80 bytes.
std::string Excerpt(const nlohmann::json& value);

// "WHERE: expected EXPECTED, found ...".
absl::Status WrongType(absl::string_view where, absl::string_view expected,
                       const nlohmann::json& found);

// The same error with the file's name in front.
absl::Status InFile(const std::string& path, const absl::Status& status);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_JSON_FIELDS_H_
