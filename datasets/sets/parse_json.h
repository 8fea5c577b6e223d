// Parses untrusted JSON text to a value.
//
//   ESP_ASSIGN_OR_RETURN(nlohmann::json object,
//                        ParseJsonObject(line, "test.jsonl:12"));
//
// Refused, besides what the grammar forbids, are texts that are not UTF-8, nest
// deeper than 128 or repeat a key within an object (one of the two values would
// be lost). An integer that does not fit 64 bits is kept as text, so that no
// digits are lost. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_SETS_PARSE_JSON_H_
#define ESPALIER_DATASETS_SETS_PARSE_JSON_H_

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

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_PARSE_JSON_H_
