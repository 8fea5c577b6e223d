#include "tools/espalier/output_file.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "src/base/files.h"
#include "src/base/json_text.h"

namespace espalier {

absl::Status CheckOutputFile(const std::string& path, bool force) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(path, error) && !force) {
    return absl::AlreadyExistsError(absl::StrCat(
        path, ": there is such a file already; --force overwrites it"));
  }
  if (fs::is_directory(path, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is a folder; name a file"));
  }
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat(
        path, ": there is no folder ", folder.string(), " to write it in"));
  }
  return absl::OkStatus();
}

absl::Status JsonOutput::Check() const {
  if (where.empty() || where == "-") return absl::OkStatus();
  return CheckOutputFile(where, force);
}

absl::Status JsonOutput::Write(const nlohmann::json& json) const {
  if (where.empty()) return absl::OkStatus();
  const std::string text = JsonText(json, 1) + "\n";
  if (where != "-") return WriteFileAtomic(where, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();  // main looks whether standard output took it
}

void AddJsonOutput(CLI::App& app, JsonOutput& out, const std::string& what) {
  app.add_option_function<std::vector<std::string>>(
         "--json",
         [&out](const std::vector<std::string>& named) {
           const bool none = named.empty() || named[0].empty();
           out.where = none ? "-" : named[0];
         },
         absl::StrCat("Write ", what,
                      " as JSON to this file; without a name, or -: to "
                      "standard output, and the report to the error output"))
      ->expected(0, 1)
      ->type_name("FILE");
  app.add_flag("--force", out.force, "Overwrite a file that is there");
}

}  // namespace espalier
