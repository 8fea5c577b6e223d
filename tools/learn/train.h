// espalier train: trains a checkpoint on recorded searches or JSON lines.
#ifndef ESPALIER_TOOLS_LEARN_TRAIN_H_
#define ESPALIER_TOOLS_LEARN_TRAIN_H_

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace espalier {

// Declares the options of `train policy` and `train reward` on `app`; the
// returned function runs the command.
std::function<absl::Status()> AddTrain(CLI::App& app);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_LEARN_TRAIN_H_
