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
  if (!file.empty() && file != "-") {
    absl::StatusOr<std::string> read = ReadFile(file);
    if (read.ok()) return read;
    return FileFlagError("--file", "a file with the text", read.status());
  }
  if (file.empty() && isatty(STDIN_FILENO) != 0) {
    return UsageError(absl::InvalidArgumentError(
        "no text; give it by --text, --file F, or on standard input"));
  }
  return std::string((std::istreambuf_iterator<char>(std::cin)),
                     std::istreambuf_iterator<char>());
}

}  // namespace espalier
