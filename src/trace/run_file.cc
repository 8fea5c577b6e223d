#include "src/trace/run_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/files.h"

namespace espalier {
namespace {

absl::Status Lock(int fd, const std::string& path) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
  if (errno != EWOULDBLOCK) return FileError("lock", path, errno);
  return absl::UnavailableError(absl::StrCat(
      path,
      ": another program is recording to it; wait until it is done, or "
      "record to another file"));
}

}  // namespace

absl::StatusOr<int> LockRunFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return FileError("open", path, errno);
  const absl::Status locked = Lock(fd, path);
  if (locked.ok()) return fd;
  close(fd);
  return locked;
}

absl::Status RemoveRunFile(const std::string& path) {
  // A file that cannot be read is nobody's database.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const absl::Status locked = fd < 0 ? absl::OkStatus() : Lock(fd, path);
  std::error_code error;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    if (locked.ok()) std::filesystem::remove(path + suffix, error);
  }
  if (fd >= 0) close(fd);
  return locked;
}

}  // namespace espalier
