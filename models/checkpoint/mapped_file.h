// A whole file mapped for reading: bytes are read from disk on access and can
// be released again.
//
//   ESP_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
//   Use(file.bytes());
//   file.Release(file.bytes().first(1 << 20));
//
// If another process truncates the file while it is mapped, this process dies
// (SIGBUS).
//
// Immutable after Open: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_MAPPED_FILE_H_
#define ESPALIER_MODELS_CHECKPOINT_MAPPED_FILE_H_

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace espalier {

class MappedFile {
 public:
  // Opens a regular file; folders, pipes and unreadable files are errors that
  // name the path.
  static absl::StatusOr<MappedFile> Open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(map_), size_};
  }
  // Drops the pages that lie wholly in `part`, a range of bytes(), from memory;
  // the next access reads them from disk again.
  void Release(std::span<const std::byte> part) const;

 private:
  MappedFile() = default;

  std::string path_;
  void* map_ = nullptr;  // null for an empty file
  size_t size_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_MAPPED_FILE_H_
