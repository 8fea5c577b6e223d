#include "tools/espalier/text_input.h"

#include <unistd.h>

#include <iostream>
#include <iterator>

#include "base/files.h"
#include "tools/espalier/command.h"

namespace espalier {

absl::StatusOr<std::string> ReadTextInput(
    const std::optional<std::string>& text, const std::string& file) {
  if (text) return *text;
  if (!file.empty() && file != "-") return ReadFile(file);
  if (file.empty() && isatty(STDIN_FILENO) != 0) {
    return UsageError(absl::InvalidArgumentError(
        "no text; give it by --text, --file F, or on standard input"));
  }
  return std::string((std::istreambuf_iterator<char>(std::cin)),
                     std::istreambuf_iterator<char>());
}

}  // namespace espalier
