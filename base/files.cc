#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/interrupt.h"
#include "base/link_target.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/write_pieces.h"

namespace espalier {
namespace {

// Owns a file descriptor; Close reports errors of close().
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd() const { return fd_; }
  bool Close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

bool WriteAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    data.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// Creates and opens a file with a unique name; -1 and errno on failure. The
// name contains the process id and a counter; names left by an earlier process
// of the same id are skipped.
int CreateBeside(const std::string& target, std::string* name) {
  static std::atomic<int> count{0};  // names tried; only grows
  while (true) {
    *name = absl::StrCat(target, ".", ::getpid(), ".", count++, ".tmp");
    const int fd =
        ::open(name->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

// Makes a rename in `folder` survive a power failure. EINVAL, from file systems
// that cannot sync folders, is ignored.
bool FlushFolder(const std::string& folder) {
  Descriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.fd() < 0) return false;
  return ::fsync(handle.fd()) == 0 || errno == EINVAL;
}

// Waits for a reader if `path` is a pipe without one, until the program is
// asked to stop. -1 and errno if it cannot be opened.
int OpenToWrite(const std::string& path) {
  const std::atomic<bool>& stop = StopRequested();
  while (true) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENXIO && !stop.load()) {
      ::usleep(20'000);
      continue;
    }
    if (fd >= 0) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
  }
}

// Puts pieces at a descriptor's position. Its errors name `path`.
PieceSink PutAt(int fd, const std::string& path) {
  return [fd, &path](std::string_view piece) {
    return WriteAll(fd, piece) ? absl::OkStatus()
                               : FileError("write", path, errno);
  };
}

// For a device or pipe, which is written and not replaced by a file.
absl::Status WriteInPlace(const std::string& path, const WritePieces& write) {
  Descriptor file(OpenToWrite(path));
  if (file.fd() < 0 && errno == ENXIO) {
    return absl::UnavailableError(path + ": no process reads this pipe");
  }
  if (file.fd() < 0) return FileError("open", path, errno);
  ESP_RETURN_IF_ERROR(write(PutAt(file.fd(), path)));
  return file.Close() ? absl::OkStatus() : FileError("write", path, errno);
}

}  // namespace

absl::Status FileError(std::string_view doing, const std::string& path,
                       int error) {
  std::string message =
      absl::StrCat("cannot ", AbslView(doing), " ", path, ": ",
                   std::generic_category().message(error));
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      code = absl::StatusCode::kNotFound;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      code = absl::StatusCode::kPermissionDenied;
      break;
    case EISDIR:
      code = absl::StatusCode::kFailedPrecondition;
      break;
    case ENOSPC:
    case EDQUOT:
      code = absl::StatusCode::kResourceExhausted;
      absl::StrAppend(&message, "; free some space and try again");
      break;
    default:
      break;
  }
  return absl::Status(code, message);
}

std::string ForeignFileNote(const std::string& path, Wanted wanted) {
  // O_NONBLOCK: do not wait for a pipe's writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (file.fd() < 0 || ::fstat(file.fd(), &info) != 0 ||
      !S_ISREG(info.st_mode)) {
    return "";
  }
  char bytes[64] = {};
  const ssize_t n = ::read(file.fd(), bytes, sizeof bytes);
  const std::string_view head(bytes, n > 0 ? static_cast<size_t>(n) : 0);
  return ForeignBytes(head, wanted);
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) return FileError("open", path, errno);
  struct stat info;
  if (::fstat(file.fd(), &info) != 0) return FileError("read", path, errno);
  if (S_ISDIR(info.st_mode)) return FileError("read", path, EISDIR);
  std::string data;
  // Files in /proc and pipes report size 0: read until end of file.
  constexpr size_t kLeast = 64 << 10;
  size_t filled = 0;
  data.resize(static_cast<size_t>(info.st_size) + 1);
  while (true) {
    if (filled == data.size()) data.resize(data.size() * 2 + kLeast);
    const ssize_t n =
        ::read(file.fd(), data.data() + filled, data.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("read", path, errno);
    if (n == 0) break;
    filled += static_cast<size_t>(n);
    // /dev/zero has no end.
    constexpr size_t kLongestDevice = size_t{64} << 20;
    if (S_ISCHR(info.st_mode) && filled > kLongestDevice) {
      return FileError("read", path, EFBIG);
    }
  }
  data.resize(filled);
  return data;
}

int DescriptorOf(std::string_view path) {
  if (path == "/dev/stdin") return 0;
  if (path == "/dev/stdout") return 1;
  if (path == "/dev/stderr") return 2;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    int fd = -1;
    if (path.starts_with(folder) &&
        absl::SimpleAtoi(AbslView(path.substr(folder.size())), &fd) &&
        fd >= 0 && ::fcntl(fd, F_GETFD) >= 0) {
      return fd;
    }
  }
  return -1;
}

absl::Status WriteFileAtomic(const std::string& path, std::string_view data) {
  return WriteFileInPieces(path,
                           [data](const PieceSink& put) { return put(data); });
}

absl::Status WriteFileInPieces(const std::string& path,
                               const WritePieces& write) {
  if (const int fd = DescriptorOf(path); fd >= 0) {
    // At the descriptor's position, after what was already written to it.
    return write(PutAt(fd, path));
  }
  struct stat old = {};
  const bool replaces = ::stat(path.c_str(), &old) == 0;
  if (replaces && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode)) {
    return WriteInPlace(path, write);
  }
  ESP_ASSIGN_OR_RETURN(const std::string linked, LinkTarget(path));
  const std::filesystem::path target = linked;
  std::error_code error;
  if (std::filesystem::is_directory(target, error)) {
    return FileError("write", path, EISDIR);
  }
  const std::string folder =
      target.has_parent_path() ? target.parent_path().string() : ".";
  std::string beside;
  Descriptor file(CreateBeside(target.string(), &beside));
  if (file.fd() < 0) return FileError("create a file beside", linked, errno);

  const auto fail = [&](std::string_view doing) {
    const int reason = errno;
    ::unlink(beside.c_str());
    return FileError(doing, path, reason);
  };
  if (replaces && ::fchmod(file.fd(), old.st_mode & 07777) != 0) {
    return fail("set the mode of");
  }
  if (absl::Status written = write(PutAt(file.fd(), path)); !written.ok()) {
    ::unlink(beside.c_str());
    return written;
  }
  if (::fsync(file.fd()) != 0) return fail("flush");
  if (!file.Close()) return fail("write");
  if (::rename(beside.c_str(), target.c_str()) != 0) return fail("replace");
  if (!FlushFolder(folder))
    return FileError("flush the folder of", path, errno);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> HashFile(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) return FileError("open", path, errno);
  std::vector<char> chunk(size_t{1} << 20);
  uint64_t hash = 0, total = 0;
  while (true) {
    size_t filled = 0;
    while (filled < chunk.size()) {
      const ssize_t n =
          ::read(file.fd(), chunk.data() + filled, chunk.size() - filled);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return FileError("read", path, errno);
      if (n == 0) break;
      filled += static_cast<size_t>(n);
    }
    if (filled == 0) return MixHash(hash, total);
    total += filled;
    std::fill(chunk.begin() + static_cast<std::ptrdiff_t>(filled), chunk.end(),
              '\0');
    for (size_t i = 0; i < filled; i += sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, chunk.data() + i, sizeof(word));
      hash = MixHash(hash, word);
    }
  }
}

}  // namespace espalier
