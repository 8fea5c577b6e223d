// espalier self-train: rounds of search, training and a gate.
#ifndef ESPALIER_TOOLS_LEARN_SELF_TRAIN_H_
#define ESPALIER_TOOLS_LEARN_SELF_TRAIN_H_

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace espalier {

// Declares the options on `app`; the returned function runs the command.
std::function<absl::Status()> AddSelfTrain(CLI::App& app);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_LEARN_SELF_TRAIN_H_
