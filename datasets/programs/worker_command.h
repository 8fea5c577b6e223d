// The command that starts a sandbox worker, worker.py, confined as the mode
// specifies. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_WORKER_COMMAND_H_
#define ESPALIER_DATASETS_PROGRAMS_WORKER_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datasets/programs/sandbox.h"

namespace espalier {

// Program and arguments; the program is a path. NotFound with the remedy if
// something that it needs is missing.
absl::StatusOr<std::vector<std::string>> WorkerCommand(
    const SandboxOptions& options);

// A worker's environment: nothing of the caller's.
std::vector<std::string> WorkerEnvironment();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_WORKER_COMMAND_H_
