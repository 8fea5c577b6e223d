// espalier_fuzz_replay TARGET [PATH...]: feeds files, or the files of folders,
// to a fuzz target. It returns if the target accepts all of them, and fails if
// there is none.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> FilesOf(const std::string& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

int Main(int argc, char** argv) {
  const auto& targets = FuzzTargets();
  const auto target = targets.find(argc < 2 ? "" : argv[1]);
  if (target == targets.end()) {
    std::fprintf(stderr, "usage: %s TARGET [PATH...], TARGET one of:\n",
                 argv[0]);
    for (const auto& [name, unused] : targets) {
      std::fprintf(stderr, "  %s\n", name.c_str());
    }
    return 2;
  }
  int files = 0;
  for (int i = 2; i < argc; ++i) {
    for (const std::string& file : FilesOf(argv[i])) {
      const auto bytes = ReadFile(file);
      if (!bytes.ok()) {
        std::fprintf(stderr, "%s\n", bytes.status().ToString().c_str());
        return 1;
      }
      // The last line printed names the file that ended the program.
      std::printf("%s\n", file.c_str());
      std::fflush(stdout);
      target->second(*bytes);
      ++files;
    }
  }
  std::printf("%d files\n", files);
  return files == 0 ? 1 : 0;
}

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) { return espalier::Main(argc, argv); }
