#include "tools/espalier/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "src/base/files.h"
#include "src/base/json_text.h"
#include "src/base/status_macros.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// Whether both name one file, also one that is not there yet.
bool SameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const fs::path one = fs::weakly_canonical(fs::absolute(a, error), error);
  return !error && one == fs::weakly_canonical(fs::absolute(b, error), error);
}

std::string& MutableStdoutName() {
  static std::string* const kName = new std::string("standard output");
  return *kName;
}

bool IsFile(const NamedFile& file) {
  return !file.path.empty() && file.path != "-";
}

}  // namespace

absl::Status CheckOutputFile(const std::string& path, bool force) {
  if (path == "-" || DescriptorOf(path) >= 0) return absl::OkStatus();
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_regular_file(status) && !force) {
    return absl::AlreadyExistsError(absl::StrCat(
        path, ": there is such a file already; --force overwrites it"));
  }
  if (fs::is_directory(status)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is a folder; name a file"));
  }
  if (fs::is_socket(status)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is a socket; name a file"));
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (::access(path.c_str(), W_OK) == 0) return absl::OkStatus();
    return FileError("write", path, errno);
  }
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat(
        path, ": there is no folder ", folder.string(), " to write it in"));
  }
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return FileError("write in the folder of", path, errno);
}

absl::Status CheckDistinct(const std::vector<NamedFile>& outputs,
                           const std::vector<NamedFile>& inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& out = outputs[i];
    if (!IsFile(out) || DescriptorOf(out.path) >= 0) continue;
    for (size_t j = 0; j < i; ++j) {
      if (!IsFile(outputs[j]) || !SameFile(out.path, outputs[j].path)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(out.option, " ", out.path, ": is the file of ",
                       outputs[j].option, " too; name another"));
    }
    for (const NamedFile& in : inputs) {
      if (!IsFile(in) || !SameFile(out.path, in.path)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(out.option, " ", out.path, ": would overwrite what ",
                       in.option, " reads; name another file"));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteOutput(const std::string& path, std::string_view text) {
  if (path != "-") return WriteFileAtomic(path, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();  // main looks whether standard output took it
}

absl::Status JsonOutput::Check() const {
  return wanted() ? CheckOutputFile(where, force) : absl::OkStatus();
}

absl::Status JsonOutput::Write(const nlohmann::json& json) const {
  if (!wanted()) return absl::OkStatus();
  return WriteOutput(where, JsonText(json, 1) + "\n");
}

absl::Status JsonOutput::TakeStdout() const {
  if (!wanted() || where == "-") return absl::OkStatus();
  ESP_RETURN_IF_ERROR(Check());
  int fd = DescriptorOf(where);
  if (fd < 0) {
    fd = ::open(where.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  if (fd < 0) return FileError("open", where, errno);
  std::fflush(stdout);
  if (::dup2(fd, STDOUT_FILENO) < 0) return FileError("open", where, errno);
  MutableStdoutName() = where;
  return absl::OkStatus();
}

const std::string& StdoutName() { return MutableStdoutName(); }

void AddJsonFile(CLI::App& app, JsonOutput& out, const std::string& what) {
  app.add_option_function<std::vector<std::string>>(
         "--json",
         [&out](const std::vector<std::string>& named) {
           const bool none = named.empty() || named[0].empty() ||
                             DescriptorOf(named[0]) == STDOUT_FILENO;
           out.where = none ? "-" : named[0];
         },
         absl::StrCat("Write ", what,
                      " as JSON to this file; without a name, or -: to "
                      "standard output, and a report to the error output"))
      ->expected(0, 1)
      ->type_name("FILE");
}

void AddJsonOutput(CLI::App& app, JsonOutput& out, const std::string& what) {
  AddJsonFile(app, out, what);
  app.add_flag("--force", out.force, "Overwrite a file that is there");
}

}  // namespace espalier
