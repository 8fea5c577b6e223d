// Whole files in and out, with errors that name the path and the reason.
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

// The bytes of the regular file (or pipe) at `path`. NotFound where nothing
// is there, PermissionDenied, FailedPrecondition for a folder, Unavailable
// for what the system reports while reading.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Puts `data` at `path` so that a reader, or this machine after a crash, sees
// the old file or the new one and never a part: writes a file beside it,
// flushes that to disk and renames it. Keeps the mode of a file that it
// replaces; a symbolic link at `path` keeps pointing where it did. Devices,
// pipes and descriptors (DescriptorOf) are written as they are; a pipe
// is waited for until somebody reads it or the program is asked to end.
absl::Status WriteFileAtomic(const std::string& path, std::string_view data);

// The open descriptor that `path` names, as /dev/stdout, /dev/fd/3 or
// /proc/self/fd/3; -1 for any other path.
int DescriptorOf(std::string_view path);

// What a file is that stands where another was expected, and what to do: the
// pointer that Git LFS leaves in place of a file, a Parquet file. "" for any
// other, and where nothing can be read.
std::string ForeignFileNote(const std::string& path,
                            Wanted wanted = Wanted::kData);

// A hash of the file's bytes that is stable across runs and machines; not for
// use against an adversary. Reads a gigabyte in about a third of a second.
absl::StatusOr<uint64_t> HashFile(const std::string& path);

// A status for a failed system call: `doing` is what was tried ("open"),
// `error` its errno.
absl::Status FileError(std::string_view doing, const std::string& path,
                       int error);

}  // namespace espalier

#endif  // ESPALIER_BASE_FILES_H_
