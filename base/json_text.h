// JSON as text, for strings with arbitrary bytes.
#ifndef ESPALIER_BASE_JSON_TEXT_H_
#define ESPALIER_BASE_JSON_TEXT_H_

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace espalier {

// `json` on one line, or indented by `indent` >= 0. Models may generate bytes
// that are not UTF-8; each becomes U+FFFD (dump() by default throws).
// Characters that would move a terminal's cursor or change its text direction
// are escaped like those below U+0020. Thread-safe.
std::string JsonText(const nlohmann::json& json, int indent = -1);

}  // namespace espalier

#endif  // ESPALIER_BASE_JSON_TEXT_H_
