#include "tools/espalier/set_flags.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/problem_stream.h"
#include "datasets/sets/set_kind.h"
#include "tools/espalier/command.h"
#include "tools/espalier/launched_shard.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

// "stories:easy|middle|hard, countdown:3|4|5, ..."
std::string SetList() {
  std::vector<std::string> families;
  std::map<std::string, std::vector<std::string>> bands;
  for (const std::string& name : SetNames()) {
    const size_t colon = name.find(':');
    const std::string family = name.substr(0, colon);
    if (!bands.contains(family)) families.push_back(family);
    std::vector<std::string>& of = bands[family];
    if (colon != std::string::npos) of.push_back(name.substr(colon + 1));
  }
  for (std::string& family : families) {
    absl::StrAppend(&family, ":", absl::StrJoin(bands[family], "|"));
  }
  return absl::StrJoin(families, ", ");
}

std::string KindList() {
  std::vector<std::string> names;
  for (const SetKind& kind : SetKinds()) names.emplace_back(kind.name);
  return absl::StrJoin(names, ", ");
}

absl::Status ReadShard(SetFlags& flags) {
  if (flags.shard.starts_with("auto")) {
    const absl::StatusOr<LaunchedShard> launched =
        ShardOfLauncher(flags.shard, [](const char* v) { return getenv(v); });
    if (!launched.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--shard ", flags.shard, ": ", launched.status().message()));
    }
    flags.shard = absl::StrCat(launched->index, "/", launched->count);
    flags.shard_is_launched = true;
  }
  const std::vector<std::string> parts = absl::StrSplit(flags.shard, '/');
  SetOptions& options = flags.options;
  const bool ok = parts.size() == 2 &&
                  absl::SimpleAtoi(parts[0], &options.shard) &&
                  absl::SimpleAtoi(parts[1], &options.shards) &&
                  options.shard >= 0 && options.shard < options.shards;
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--shard ", flags.shard,
                   ": expected i/n with 0 <= i < n, as 0/4, or auto"));
}

// A file of ids, one per line, or a comma-separated list of ids.
absl::Status ReadIds(SetFlags& flags) {
  if (flags.ids.empty()) return absl::OkStatus();
  std::string text = flags.ids;
  char between = ',';
  std::error_code error;
  const bool file = std::filesystem::is_regular_file(flags.ids, error);
  if (file) {
    ESP_ASSIGN_OR_RETURN(text, ReadFile(flags.ids));
    between = '\n';
  }
  flags.options.ids.clear();
  for (const absl::string_view part : absl::StrSplit(text, between)) {
    const absl::string_view id = absl::StripAsciiWhitespace(part);
    if (!id.empty()) flags.options.ids.emplace_back(id);
  }
  if (!flags.options.ids.empty()) return absl::OkStatus();
  const absl::Status none = absl::InvalidArgumentError(absl::StrCat(
      "--ids ", flags.ids, ": no ids in it; expected one per line"));
  return file ? none : UsageError(none);
}

// Roles that --columns may name: the columns that identify kinds of sets, and
// optional ones.
std::vector<std::string> ColumnRoles() {
  // The common ones first: messages begin with them.
  std::vector<std::string> roles = {"question",
                                    "answer",
                                    "id",
                                    "golds",
                                    "options",
                                    "solution",
                                    "tests",
                                    "public_tests",
                                    "prompt",
                                    "test",
                                    "solutions",
                                    "context",
                                    "passage",
                                    "correct",
                                    "label",
                                    "answer_index",
                                    "gold",
                                    "answerKey",
                                    "code",
                                    "test_imports",
                                    "task_id",
                                    "test_setup_code",
                                    "plus_input",
                                    "libs",
                                    "code_prompt",
                                    "canonical_solution",
                                    "atol",
                                    "Equation",
                                    "Explanation",
                                    "Incorrect Answer 2",
                                    "Incorrect Answer 3"};
  for (const SetKind& kind : SetKinds()) {
    for (const std::string_view needs : kind.needs) {
      for (const absl::string_view name :
           absl::StrSplit(AbslView(needs), '|')) {
        roles.emplace_back(name);
      }
    }
  }
  return roles;
}

absl::Status CheckRole(const std::string& role, const std::string& text) {
  constexpr size_t kTold = 8;
  std::vector<std::string> roles = ColumnRoles();
  for (const std::string& known : roles) {
    if (absl::EqualsIgnoreCase(known, role)) return absl::OkStatus();
  }
  const std::string nearest = NearestName(role, roles);
  roles.resize(kTold);
  return absl::InvalidArgumentError(absl::StrCat(
      "--columns ", text, ": no kind of set has a column \"", role, "\"",
      nearest.empty() ? "" : absl::StrCat(": did you mean \"", nearest, "\"?"),
      nearest.empty() ? "; " : " ", "known: ", absl::StrJoin(roles, ", "),
      ", and those that identify a --kind; write the name, =, and the file's "
      "own column"));
}

}  // namespace

CLI::Option* AddSetFlags(CLI::App& app, SetFlags& flags) {
  SetOptions& options = flags.options;
  CLI::Option* set = app.add_option("--set", flags.set,
                                    "A generated set, " + SetList() +
                                        ", or a published file or folder: JSON "
                                        "lines, JSON or CSV, plain or gzipped");
  if (!flags.set.empty()) set->capture_default_str();
  app.add_option(
         "--limit", options.limit,
         "Maximum number of problems; 0: 200 of a generated set, all of a file")
      ->capture_default_str()
      ->check(WholeFrom(0));
  app.add_option("--first,--index", options.first, "Index of the first problem")
      ->capture_default_str()
      ->check(WholeFrom(0));
  app.add_option("--set-seed", options.seed,
                 "Seed of generated sets: use 0-999 for training and 2000 or "
                 "more for reported results")
      ->capture_default_str();
  app.add_option("--shuffle", options.shuffle,
                 "Shuffle a file's problems with this seed");
  app.add_option(
         "--shard", flags.shard,
         "Use only every n-th of the selected problems, starting at i: i/n; "
         "auto: as the launcher's variables say (torchrun, MPI, Slurm; "
         "auto/n for indexed jobs of Kubernetes)")
      ->capture_default_str();
  app.add_option("--ids", flags.ids,
                 "Only problems with these ids: a comma-separated list, or a "
                 "file with one per line");
  app.add_option("--columns", flags.columns,
                 "Columns of a file, e.g. question=problem,answer=gold; "
                 "question.problem names a nested member")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
      "--kind", options.kind,
      "Kind of the file, if its columns do not identify it: " + KindList());
  app.add_flag("--strict", options.strict,
               "Stop at the first bad record; otherwise bad records are "
               "skipped, counted and reported at the end");
  return set;
}

absl::StatusOr<std::map<std::string, std::string>> ParseColumns(
    const std::vector<std::string>& texts) {
  std::map<std::string, std::string> columns;
  for (const std::string& text : texts) {
    const size_t equal = text.find('=');
    if (equal == std::string::npos || equal == 0 || equal + 1 == text.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--columns ", text, ": expected ROLE=COLUMN, e.g. ",
                       "question=problem,answer=solution"));
    }
    ESP_RETURN_IF_ERROR(CheckRole(text.substr(0, equal), text));
    columns[text.substr(0, equal)] = text.substr(equal + 1);
  }
  return columns;
}

absl::Status ReadSetFlags(SetFlags& flags) {
  FlagErrors errors;
  errors.Add(ReadShard(flags));
  errors.AddAsIs(ReadIds(flags));
  auto columns = ParseColumns(flags.columns);
  errors.Add(columns.status());
  ESP_RETURN_IF_ERROR(errors.Status());
  flags.options.columns = *std::move(columns);
  return UsageError(CheckSetOptions(flags.options));
}

absl::Status SetError(const std::string& set, const SetOptions& options,
                      absl::Status error) {
  const std::vector<std::string> names = SetNames();
  const bool generated =
      std::find(names.begin(), names.end(), set) != names.end();
  std::error_code ignored;
  const bool file = std::filesystem::exists(set, ignored);
  const bool path = file || set.find_first_of("/.") != std::string::npos;
  const bool ids = absl::IsNotFound(error) && file && !options.ids.empty();
  return generated || !path || ids ? UsageError(std::move(error)) : error;
}

absl::Status CheckFirst(const std::string& set, const SetOptions& options) {
  if (options.first == 0) return absl::OkStatus();
  std::error_code ignored;
  const bool again = std::filesystem::is_regular_file(set, ignored) ||
                     std::filesystem::is_directory(set, ignored);
  int64_t count = 0;
  if (again) {
    SetOptions all = options;
    all.first = all.limit = all.shard = 0;
    all.shards = 1;
    ESP_ASSIGN_OR_RETURN(const auto stream, ProblemStream::Open(set, all));
    while (true) {
      ESP_ASSIGN_OR_RETURN(const auto problem, stream->Next());
      if (!problem) break;
      ++count;
    }
    if (count > options.first) return absl::OkStatus();
  }
  return UsageError(absl::OutOfRangeError(absl::StrCat(
      "--first ", options.first, ": ", set, " has ",
      again ? absl::StrCat(count, count == 1 ? " problem" : " problems")
            : "fewer problems",
      options.ids.empty() ? "" : " of --ids", "; indices start at 0")));
}

absl::Status CheckGeneratedCount(const SetFlags& flags) {
  const std::vector<std::string> names = SetNames();
  const bool generated =
      std::find(names.begin(), names.end(), flags.set) != names.end();
  if (!generated || flags.options.limit <= kMostGenerated) {
    return absl::OkStatus();
  }
  return UsageError(absl::InvalidArgumentError(
      absl::StrCat("--limit ", flags.options.limit, ": one run takes at most ",
                   kMostGenerated, " problems of a generated set; --first ",
                   kMostGenerated, " begins behind those")));
}

absl::StatusOr<ProblemSet> LoadSet(SetFlags& flags) {
  ESP_RETURN_IF_ERROR(ReadSetFlags(flags));
  ESP_RETURN_IF_ERROR(CheckGeneratedCount(flags));
  absl::StatusOr<ProblemSet> set = LoadSet(flags.set, flags.options);
  if (!set.ok()) return SetError(flags.set, flags.options, set.status());
  for (const std::string& note : set->notes) {
    std::fprintf(stderr, "%s\n", Printable(note).c_str());
  }
  if (set->problems.empty()) {
    ESP_RETURN_IF_ERROR(CheckFirst(flags.set, flags.options));
  }
  return set;
}

absl::Status LeaveOutUnjudged(const Verifier& verifier, ProblemSet& set) {
  ESP_ASSIGN_OR_RETURN(const std::string note, KeepJudged(verifier, set));
  if (!note.empty()) std::fprintf(stderr, "%s\n", Printable(note).c_str());
  return absl::OkStatus();
}

}  // namespace espalier
