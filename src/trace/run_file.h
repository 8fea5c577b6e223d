// The file of a run database, which one program at a time records to.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_TRACE_RUN_FILE_H_
#define ESPALIER_SRC_TRACE_RUN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace espalier {

// A descriptor that holds the lock of the file at `path`, which is created if
// it is missing. Unavailable if another program holds the lock.
absl::StatusOr<int> LockRunFile(const std::string& path);

// Removes a database, if there is one, and SQLite's files next to it.
// Unavailable if another program is recording to it.
absl::Status RemoveRunFile(const std::string& path);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_RUN_FILE_H_
