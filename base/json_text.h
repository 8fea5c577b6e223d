// JSON as text, whatever bytes its strings hold.
#ifndef ESPALIER_BASE_JSON_TEXT_H_
#define ESPALIER_BASE_JSON_TEXT_H_

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace espalier {

// `json` on one line, or indented by `indent` >= 0. Models write bytes that
// are not UTF-8; each becomes U+FFFD. (dump() alone would throw.) Characters
// that would move a terminal's cursor or turn its text are escaped, as JSON
// escapes those below U+0020. Thread-safe.
std::string JsonText(const nlohmann::json& json, int indent = -1);

}  // namespace espalier

#endif  // ESPALIER_BASE_JSON_TEXT_H_
