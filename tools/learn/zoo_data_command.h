// espalier-learn zoo-data: the examples that a shipped model imitated, as JSON
// lines.
#ifndef ESPALIER_TOOLS_LEARN_ZOO_DATA_COMMAND_H_
#define ESPALIER_TOOLS_LEARN_ZOO_DATA_COMMAND_H_

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace espalier {

// Declares the options on `app`; the returned function runs the command.
std::function<absl::Status()> AddZooData(CLI::App& app);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_LEARN_ZOO_DATA_COMMAND_H_
