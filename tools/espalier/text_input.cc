#include "tools/espalier/text_input.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

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
  return ReadStandardInput();
}

absl::StatusOr<std::string> ReadStandardInput() {
  constexpr size_t kMost = size_t{1} << 30;
  std::string text;
  std::array<char, 65536> piece;
  size_t read;
  while ((read = std::fread(piece.data(), 1, piece.size(), stdin)) > 0) {
    text.append(piece.data(), read);
    if (text.size() > kMost) {
      return absl::InvalidArgumentError(
          "standard input: more than 1 GiB of text");
    }
  }
  if (std::ferror(stdin) != 0) {
    return FileError("read", "standard input", errno);
  }
  return text;
}

}  // namespace espalier
