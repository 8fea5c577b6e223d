// How the programs read their command lines and end.
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

// The program's arguments, the last one first. `--name=` without a value is
// `--name ""`: CLI11 would take what follows for the value, --force for the
// name of a file.
std::vector<std::string> Arguments(int argc, char** argv);

// What is true of every command: no option that names something is empty, as
// --model "$UNSET" is, and no output is an input (CheckOutputs). A UsageError.
absl::Status CheckCommandLine(const CLI::App& app);

// The exit code of `command`, as its users type it, which ended with `status`:
// also an error if some of what was printed is lost. Tells either on stderr.
int EndCommand(const std::string& command, const absl::Status& status);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_COMMAND_LINE_H_
