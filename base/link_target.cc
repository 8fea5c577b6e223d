#include "base/link_target.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/files.h"

namespace espalier {

absl::StatusOr<std::string> LinkTarget(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux follows
  std::filesystem::path target = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(target, error); ++links) {
    if (links == kMostLinks) return FileError("follow the link", path, ELOOP);
    const std::filesystem::path next =
        std::filesystem::read_symlink(target, error);
    if (error) return FileError("follow the link", path, error.value());
    target = target.parent_path() / next;  // `next` alone if it is absolute
  }
  return target.string();
}

}  // namespace espalier
