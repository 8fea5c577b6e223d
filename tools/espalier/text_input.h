// Text for a command: from the command line, a file or standard input.
#ifndef ESPALIER_TOOLS_ESPALIER_TEXT_INPUT_H_
#define ESPALIER_TOOLS_ESPALIER_TEXT_INPUT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace espalier {

// `text` if given; else the file, where "-" and "" are standard input.
// Verbatim, including a final newline. InvalidArgument if it would have to be
// typed at a terminal.
absl::StatusOr<std::string> ReadTextInput(
    const std::optional<std::string>& text, const std::string& file);

// All of standard input, at most 1 GiB. Errors if it cannot be read.
absl::StatusOr<std::string> ReadStandardInput();

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_TEXT_INPUT_H_
