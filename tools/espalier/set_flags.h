// The options of every command that reads a problem set.
//
//   SetFlags set;
//   AddSetFlags(app, set);          // --set, --limit, --shuffle, ...
//   ESP_ASSIGN_OR_RETURN(ProblemSet problems, LoadSet(set));
#ifndef ESPALIER_TOOLS_ESPALIER_SET_FLAGS_H_
#define ESPALIER_TOOLS_ESPALIER_SET_FLAGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datasets/sets/problem_set.h"

namespace espalier {

struct SetFlags {
  std::string set;  // a default, or "" if one must be named
  // AddSetFlags fills limit, first, seed, kind and strict, and ReadSetFlags the
  // others.
  SetOptions options;
  std::string shard = "0/1";
  bool shard_is_launched = false;  // it was auto
  std::string ids;
  std::vector<std::string> columns;
};

// Does not make --set required, so that a command may have other sources.
CLI::Option* AddSetFlags(CLI::App& app, SetFlags& flags);

// {role: column} from texts ROLE=COLUMN; InvalidArgument for other text, and
// for a role that no kind of set has.
absl::StatusOr<std::map<std::string, std::string>> ParseColumns(
    const std::vector<std::string>& texts);

// Parses the texts of the options into flags.options. A wrong one is a
// UsageError.
absl::Status ReadSetFlags(SetFlags& flags);

// A set without an end must not be listed without one: as kept in memory, these
// take about 1 GB.
inline constexpr int64_t kMostGenerated = 1000000;

// A UsageError if the flags choose more problems of a generated set.
absl::Status CheckGeneratedCount(const SetFlags& flags);

// Converts an `error` of reading the set to a UsageError if the options are at
// fault and not a file: an unknown set, or missing ids.
absl::Status SetError(const std::string& set, const SetOptions& options,
                      absl::Status error);

// Why `options` choose no problem of the set: a UsageError if they begin after
// the last one, OK if only the shard is empty.
absl::Status CheckFirst(const std::string& set, const SetOptions& options);

// Calls ReadSetFlags and loads the set. Notes on the reading go to stderr.
absl::StatusOr<ProblemSet> LoadSet(SetFlags& flags);

// KeepJudged (problem_set.h); reports what it left out on stderr.
absl::Status LeaveOutUnjudged(const Verifier& verifier, ProblemSet& set);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_SET_FLAGS_H_
