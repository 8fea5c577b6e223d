#include "tests/fuzz/fuzz_target.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/check.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::error_code error;
    path_ = "/dev/shm";
    if (std::getenv("TMPDIR") != nullptr || !fs::is_directory(path_, error) ||
        access(path_.c_str(), W_OK) != 0) {
      path_ = fs::temp_directory_path();
    }
    path_ += "/espalier_fuzz_XXXXXX";
    ESP_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::map<std::string, FuzzTarget>& FuzzTargets() {
  static auto* const targets = new std::map<std::string, FuzzTarget>;
  return *targets;
}

const std::string& FuzzFolder() {
  static const Folder folder;
  return folder.path();
}

std::string FuzzFile(const std::string& name, std::string_view bytes) {
  const std::string path = FuzzFolder() + "/" + name;
  // Some file systems flush a file at once when it replaces another.
  std::error_code error;
  fs::remove(path, error);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  ESP_CHECK(out.good());
  return path;
}

std::pair<std::string_view, std::string_view> CutAt(std::string_view bytes,
                                                    char mark) {
  const size_t at = bytes.find(mark);
  if (at == std::string_view::npos) return {bytes, {}};
  return {bytes.substr(0, at), bytes.substr(at + 1)};
}

void Touch(std::string_view bytes) {
  unsigned sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  asm volatile("" : : "r"(sum));  // the sum is needed
}

}  // namespace espalier
