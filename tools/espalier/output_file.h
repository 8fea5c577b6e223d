// Outputs of a command: named files, and the JSON of --json.
//
//   JsonOutput json;
//   AddJsonOutput(app, json, "the totals");
//   ESP_RETURN_IF_ERROR(json.Check());           // before any work
//   std::fprintf(json.report(), "%s\n", text);   // for people
//   ESP_RETURN_IF_ERROR(json.Write(object));
//
// A command whose standard output is JSON lines redirects it there:
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

class LongJson;

// Checks that a command may write to `path`. Errors: a folder that is missing
// or not writable, a path that is a folder or a socket, an existing file that
// may not be overwritten.
absl::Status CheckOutputFile(const std::string& path, bool force);

// InvalidArgument if two of the files that `command` would write (--out,
// --json, --html, and the target of standard output) are the same, or if
// another option names one of them: by any name, link or descriptor, including
// SQLite's files next to a database and files of a model's folder.
absl::Status CheckOutputs(const CLI::App& command);

// Writes `text` to a file, or to standard output for "-".
absl::Status WriteOutput(const std::string& path, std::string_view text);

struct JsonOutput {
  std::string where;   // a file; "-": standard output; "": nowhere
  bool force = false;  // overwrite an existing file

  bool wanted() const { return !where.empty(); }
  absl::Status Check() const;
  // Where the report for people goes: stderr if the JSON goes to standard
  // output.
  std::FILE* report() const { return where == "-" ? stderr : stdout; }
  absl::Status Write(const nlohmann::json& json) const;
  absl::Status WriteLong(const LongJson& json) const;
  // Calls Check, then redirects standard output to the file, or, if there is
  // one already, to a file beside it until EndStdout.
  absl::Status TakeStdout() const;
};

// At the end of a command whose standard output was TakeStdout's: puts the new
// file in the old one's place, or removes it if it is not `whole`. Also removes
// one that is empty because the command failed.
absl::Status EndStdout(bool whole, bool failed);

// The target of standard output: "standard output", or the file of TakeStdout.
const std::string& StdoutName();

// --json [FILE] and --force.
void AddJsonOutput(CLI::App& app, JsonOutput& out, const std::string& what);
// Only --json [FILE], for commands where --force also has another meaning.
void AddJsonFile(CLI::App& app, JsonOutput& out, const std::string& what);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_OUTPUT_FILE_H_
