// How the programs parse their command lines and exit.
//
//   app.parse(Arguments(argc, argv));              // as CLI11 wants them
//   ESP_RETURN_IF_ERROR(CheckCommandLine(app));    // before a command runs
//   return EndCommand("espalier solve", status);
#ifndef ESPALIER_TOOLS_ESPALIER_COMMAND_LINE_H_
#define ESPALIER_TOOLS_ESPALIER_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace espalier {

// The program's arguments in reverse order. `--name=` without a value becomes
// `--name ""`: CLI11 would take the next argument as the value, e.g. --force as
// the name of a file.
std::vector<std::string> Arguments(int argc, char** argv);

// Checks for every command: no option that names something is empty, like
// --model "$UNSET", and no output is an input (CheckOutputs). A UsageError.
absl::Status CheckCommandLine(const CLI::App& app);

// The exit code of `command`, as its users type it, which ended with `status`.
// Lost output is also an error. Prints errors on stderr.
int EndCommand(const std::string& command, const absl::Status& status);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_COMMAND_LINE_H_
