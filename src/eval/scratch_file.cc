#include "src/eval/scratch_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"

namespace espalier {
namespace {

// A descriptor of a new file without a name; -1 if there is no place for it.
int OpenNameless() {
  const char* const folders[] = {::getenv("TMPDIR"), "/var/tmp", "/tmp"};
  for (const char* folder : folders) {
    if (folder == nullptr || *folder == '\0') continue;
    std::string name = std::string(folder) + "/espalier-XXXXXX";
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) continue;
    ::unlink(name.c_str());
    return fd;
  }
  return -1;
}

}  // namespace

ScratchFile::~ScratchFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<int64_t> ScratchFile::Append(std::string_view bytes) {
  if (fd_ == -1) {
    fd_ = OpenNameless();
    if (fd_ < 0) fd_ = -2;
  }
  if (fd_ < 0) return std::nullopt;
  const int64_t begin = end_;
  int64_t at = begin;
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    at += n;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  end_ = at;
  return begin;
}

absl::Status ScratchFile::Read(int64_t at, size_t size,
                               std::string& bytes) const {
  bytes.resize(size);
  for (size_t filled = 0; filled < size;) {
    const ssize_t n = ::pread(fd_, bytes.data() + filled, size - filled,
                              at + static_cast<int64_t>(filled));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return FileError("read", "the run's temporary file", n < 0 ? errno : EIO);
    }
    filled += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

}  // namespace espalier
