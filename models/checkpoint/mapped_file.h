// A whole file mapped for reading: bytes come from disk when they are looked
// at and can be given back.
//
//   ESP_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
//   Use(file.bytes());
//   file.Release(file.bytes().first(1 << 20));
//
// A file that another process shortens while it is mapped ends this process
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
  // A regular file; folders, pipes and what cannot be read are errors that
  // name the path.
  static absl::StatusOr<MappedFile> Open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(map_), size_};
  }
  // The pages that lie wholly in `part`, a range of bytes(), leave this
  // process; looked at again they come back from disk.
  void Release(std::span<const std::byte> part) const;

 private:
  MappedFile() = default;

  std::string path_;
  void* map_ = nullptr;  // null for an empty file
  size_t size_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_MAPPED_FILE_H_
