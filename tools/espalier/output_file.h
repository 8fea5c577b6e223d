// Where a command's results go: files that are named, and the JSON of --json.
//
//   JsonOutput json;
//   AddJsonOutput(app, json, "the totals");
//   ESP_RETURN_IF_ERROR(json.Check());           // before any work
//   std::fprintf(json.report(), "%s\n", text);   // for people
//   ESP_RETURN_IF_ERROR(json.Write(object));
//
// A command whose standard output is JSON line by line sends it there:
//
//   ESP_RETURN_IF_ERROR(json.TakeStdout());
#ifndef ESPALIER_TOOLS_ESPALIER_OUTPUT_FILE_H_
#define ESPALIER_TOOLS_ESPALIER_OUTPUT_FILE_H_

#include <cstdio>
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// Whether a command may write to `path`: an error names a folder that is not
// there or may not be written in, a path that is a folder or a socket, a file
// that is there and not to be overwritten.
absl::Status CheckOutputFile(const std::string& path, bool force);

// InvalidArgument if of the files that `command` was told to write (--out,
// --json, --html, and what standard output goes to) two are one, or if one of
// them is what another option names: by whatever name, link or descriptor, a
// file that SQLite keeps beside a database, a file of a model's folder.
absl::Status CheckOutputs(const CLI::App& command);

// `text` to a file, or to standard output for "-".
absl::Status WriteOutput(const std::string& path, std::string_view text);

struct JsonOutput {
  std::string where;   // a file; "-": standard output; "": nowhere
  bool force = false;  // overwrite that file

  bool wanted() const { return !where.empty(); }
  absl::Status Check() const;
  // Where the report for people goes: standard output belongs to the JSON if
  // that goes there.
  std::FILE* report() const { return where == "-" ? stderr : stdout; }
  absl::Status Write(const nlohmann::json& json) const;
  // Check, and then all that is printed to standard output goes to the file.
  absl::Status TakeStdout() const;
};

// Where what is printed goes: "standard output", or the file that TakeStdout
// has put in its place.
const std::string& StdoutName();

// --json [FILE] and --force.
void AddJsonOutput(CLI::App& app, JsonOutput& out, const std::string& what);
// --json [FILE] alone, where --force has another meaning as well.
void AddJsonFile(CLI::App& app, JsonOutput& out, const std::string& what);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_OUTPUT_FILE_H_
