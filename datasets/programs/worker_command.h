// The command that starts a worker of the sandbox, worker.py, held as a mode
// asks. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_WORKER_COMMAND_H_
#define ESPALIER_DATASETS_PROGRAMS_WORKER_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "datasets/programs/sandbox.h"

namespace espalier {

// Program and arguments; the program is a path. NotFound with the remedy where
// one that it needs is missing.
absl::StatusOr<std::vector<std::string>> WorkerCommand(
    const SandboxOptions& options);

// What a worker's environment holds: nothing of the caller's.
std::vector<std::string> WorkerEnvironment();

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_WORKER_COMMAND_H_
