#include "models/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files.h"

namespace espalier {

MappedFile::MappedFile(MappedFile&& other) noexcept {
  *this = std::move(other);
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(map_, other.map_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (map_ != nullptr) ::munmap(map_, size_);
}

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  // Non-blocking, so that a pipe without a writer is rejected instead of
  // awaited.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return FileError("open", path, errno);
  struct stat info;
  if (::fstat(fd, &info) != 0) {
    const int reason = errno;
    ::close(fd);
    return FileError("read", path, reason);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": expected a file, found ",
                     S_ISDIR(info.st_mode) ? "a folder" : "a special file"));
  }
  MappedFile file;
  file.path_ = path;
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) {
    ::close(fd);
    return file;
  }
  void* map = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  const int reason = errno;
  ::close(fd);
  if (map == MAP_FAILED) return FileError("map", path, reason);
  file.map_ = map;
  file.size_ = size;
  return file;
}

void MappedFile::Release(std::span<const std::byte> part) const {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(part.data());
  const uintptr_t begin = (address + page - 1) / page * page;
  const uintptr_t end = (address + part.size()) / page * page;
  if (begin >= end) return;
  // A hint: if the system ignores it, the memory stays in use.
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace espalier
