// The options of every command that reads a set of problems.
//
//   SetFlags set;
//   AddSetFlags(app, set);          // --set, --limit, --shuffle, ...
//   ESP_ASSIGN_OR_RETURN(ProblemSet problems, LoadSet(set));
#ifndef ESPALIER_TOOLS_ESPALIER_SET_FLAGS_H_
#define ESPALIER_TOOLS_ESPALIER_SET_FLAGS_H_

#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datasets/sets/problem_set.h"

namespace espalier {

struct SetFlags {
  std::string set;  // a default, or "" where one must be named
  // Of these AddSetFlags fills limit, first, seed, kind and strict, and
  // ReadSetFlags the others.
  SetOptions options;
  std::string shard = "0/1";
  std::string ids;
  std::vector<std::string> columns;
};

// --set is not required by itself, so that a command may have other sources.
CLI::Option* AddSetFlags(CLI::App& app, SetFlags& flags);

// {role: column} of texts ROLE=COLUMN; InvalidArgument for another text, and
// for a role that no kind of set has.
absl::StatusOr<std::map<std::string, std::string>> ParseColumns(
    const std::vector<std::string>& texts);

// Checks the texts of the options and puts them into flags.options. A wrong one
// is a UsageError.
absl::Status ReadSetFlags(SetFlags& flags);

// `error`, met while the set was read, as a UsageError where the options are at
// fault and no file: an unknown set, ids that are not there.
absl::Status SetError(const std::string& set, const SetOptions& options,
                      absl::Status error);

// Why `options` choose no problem of the set: a UsageError where they begin
// behind the last one, OK where only the shard is empty.
absl::Status CheckFirst(const std::string& set, const SetOptions& options);

// ReadSetFlags and then the set. What a user should know of the reading goes to
// stderr.
absl::StatusOr<ProblemSet> LoadSet(SetFlags& flags);

// KeepJudged (problem_set.h); what it left out goes to stderr.
absl::Status LeaveOutUnjudged(const Verifier& verifier, ProblemSet& set);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_SET_FLAGS_H_
