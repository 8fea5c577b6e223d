// A run's own temporary file, for what it need not keep in memory. It has no
// name and is gone with the process, however that ends.
//
//   ScratchFile scratch;
//   std::optional<int64_t> at = scratch.Append("text");
//   if (at) scratch.Read(*at, 4, text);
//
// The file is created by the first Append, in the folder $TMPDIR, in /var/tmp
// or in /tmp. Externally synchronised.
#ifndef ESPALIER_SRC_EVAL_SCRATCH_FILE_H_
#define ESPALIER_SRC_EVAL_SCRATCH_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace espalier {

class ScratchFile {
 public:
  ScratchFile() = default;
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  // Where `bytes` lie in the file. None if they could not be written, e.g. to a
  // full disk: the caller keeps them.
  std::optional<int64_t> Append(std::string_view bytes);
  // Reads `size` bytes that were appended at `at`.
  absl::Status Read(int64_t at, size_t size, std::string& bytes) const;

 private:
  int fd_ = -1;  // -1: not created, -2: cannot be created
  int64_t end_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_SCRATCH_FILE_H_
