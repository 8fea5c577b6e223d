// Reads and writes whole files, with errors that name the path and the reason.
//
//   ESP_ASSIGN_OR_RETURN(std::string text, ReadFile("config.json"));
//   ESP_RETURN_IF_ERROR(WriteFileAtomic("results.json", text));
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_BASE_FILES_H_
#define ESPALIER_BASE_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/foreign.h"

namespace espalier {

// The bytes of the regular file (or pipe) at `path`. NotFound,
// PermissionDenied, FailedPrecondition for a folder, Unavailable for read
// errors.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Writes `data` to `path` so that a reader, or this machine after a crash, sees
// either the old file or the new one, never a part: writes a file in the same
// folder, flushes it to disk and renames it. Keeps the mode of a replaced file;
// follows a symbolic link at `path`. Devices, pipes and descriptors
// (DescriptorOf) are written in place; a pipe is waited for until it has a
// reader or the program is asked to stop.
absl::Status WriteFileAtomic(const std::string& path, std::string_view data);

// The open descriptor named by `path`, e.g. /dev/stdout, /dev/fd/3 or
// /proc/self/fd/3; -1 for any other path.
int DescriptorOf(std::string_view path);

// ForeignBytes of the file at `path`; "" if it cannot be read.
std::string ForeignFileNote(const std::string& path,
                            Wanted wanted = Wanted::kData);

// A hash of the file's bytes, stable across runs and machines; not
// cryptographic. Reads a gigabyte in about a third of a second.
absl::StatusOr<uint64_t> HashFile(const std::string& path);

// A status for a failed system call: `doing` is the attempted operation
// ("open"), `error` its errno.
absl::Status FileError(std::string_view doing, const std::string& path,
                       int error);

}  // namespace espalier

#endif  // ESPALIER_BASE_FILES_H_
