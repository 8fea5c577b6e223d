// What a command writes beside its report for people: a file that it does not
// overwrite unasked, and --json.
//
//   AddJsonOutput(app, flags->json, "the results");
//   ESP_RETURN_IF_ERROR(flags.json.Check());   // before any work
//   std::fprintf(flags.json.report(), ...);
//   ESP_RETURN_IF_ERROR(flags.json.Write(json));
#ifndef ESPALIER_TOOLS_ESPALIER_OUTPUT_FILE_H_
#define ESPALIER_TOOLS_ESPALIER_OUTPUT_FILE_H_

#include <cstdio>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// AlreadyExists for a regular file, unless `force`; NotFound where its folder
// is not there. Devices and pipes are fine.
absl::Status CheckOutputFile(const std::string& path, bool force);

struct JsonOutput {
  std::string where;   // a file; "-": standard output; "": nowhere
  bool force = false;  // overwrite that file

  bool wanted() const { return !where.empty(); }
  absl::Status Check() const;
  // Where the report for people goes: standard output belongs to the JSON if
  // that goes there.
  std::FILE* report() const { return where == "-" ? stderr : stdout; }
  absl::Status Write(const nlohmann::json& json) const;
};

// --json [FILE] and --force.
void AddJsonOutput(CLI::App& app, JsonOutput& out, const std::string& what);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_OUTPUT_FILE_H_
