// Parses untrusted JSON text: the one place that does.
//
//   ESP_ASSIGN_OR_RETURN(nlohmann::json object,
//                        ParseJsonObject(line, "test.jsonl:12"));
//
// ParseJson and ParseJsonObject refuse, besides what the grammar forbids, texts
// that are not UTF-8, nest deeper than 128 or repeat a key within an object
// (one of the two values would be lost). An integer that does not fit 64 bits
// is kept as text, so that no digits are lost. Stateless: thread-safe.
#ifndef ESPALIER_BASE_PARSE_JSON_H_
#define ESPALIER_BASE_PARSE_JSON_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// InvalidArgument begins with `place` and names the column.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view text,
                                         std::string_view place);
// The same for a text that must be an object.
absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view text,
                                               std::string_view place);

// Null if the text is not JSON or nests deeper than 128; the last value of a
// repeated key is kept. For files that this program wrote, and where the caller
// says itself what it expected.
nlohmann::json ParseJsonOrNull(std::string_view text);

// For readers with limits or messages of their own.
struct JsonLimits {
  size_t max_depth = 128;      // containers open at once
  bool refuse_repeats = true;  // else the last value of a key is kept
  bool exact_integers = true;  // those beyond 64 bits as text; else rounded
};

enum class JsonFault : uint8_t { kNone, kMalformed, kTooDeep, kRepeatedKey };

struct JsonOutcome {
  JsonFault fault = JsonFault::kNone;
  std::string what;           // "the record is not JSON at column 7 (...)"
  std::string repeated;       // the first repeated key, refused or not
  size_t repeated_depth = 0;  // containers around it: 1 in the outermost object
};

// Sets `value` unless there is a fault. Never throws.
JsonOutcome ReadJson(std::string_view text, const JsonLimits& limits,
                     nlohmann::json& value);

}  // namespace espalier

#endif  // ESPALIER_BASE_PARSE_JSON_H_
