// Parsing responses with one line per step.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_RESPONSE_LINES_H_
#define ESPALIER_DATASETS_TASKS_RESPONSE_LINES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// The steps of `response`: its lines without their newlines. A last line
// without newline counts only if it is an answer ("= 12", "= 8 / (3 - 8 / 3)"),
// which the end of the response completes.
std::vector<std::string_view> ResponseSteps(std::string_view response);

// The text behind "= " in the last answer line, trimmed; nothing if there is
// none.
std::optional<std::string> LastAnswerText(std::string_view response);

// The integer N of the last "= N" line, without leading zeros; nothing if there
// is none. White space around N is ignored.
std::optional<std::string> LastAnswerLine(std::string_view response);

// `text` as a canonical integer ("-007" -> "-7"); nothing if it is not one.
std::optional<std::string> CanonicalInteger(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_RESPONSE_LINES_H_
