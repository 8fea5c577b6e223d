#include "tools/espalier/set_flags.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/base/error_list.h"
#include "src/base/files.h"
#include "src/base/status_macros.h"
#include "src/base/text.h"

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
  const std::vector<std::string> parts = absl::StrSplit(flags.shard, '/');
  SetOptions& options = flags.options;
  const bool ok = parts.size() == 2 &&
                  absl::SimpleAtoi(parts[0], &options.shard) &&
                  absl::SimpleAtoi(parts[1], &options.shards) &&
                  options.shard >= 0 && options.shard < options.shards;
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--shard ", flags.shard, ": expected i/n with 0 <= i < n, as 0/4"));
}

// A file of ids, one a line, or the ids themselves with commas.
absl::Status ReadIds(SetFlags& flags) {
  if (flags.ids.empty()) return absl::OkStatus();
  std::string text = flags.ids;
  char between = ',';
  std::error_code error;
  if (std::filesystem::is_regular_file(flags.ids, error)) {
    ESP_ASSIGN_OR_RETURN(text, ReadFile(flags.ids));
    between = '\n';
  }
  flags.options.ids.clear();
  for (const absl::string_view part : absl::StrSplit(text, between)) {
    const absl::string_view id = absl::StripAsciiWhitespace(part);
    if (!id.empty()) flags.options.ids.emplace_back(id);
  }
  if (!flags.options.ids.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--ids ", flags.ids, ": no ids in it; expected one a line"));
}

}  // namespace

CLI::Option* AddSetFlags(CLI::App& app, SetFlags& flags) {
  SetOptions& options = flags.options;
  CLI::Option* set = app.add_option(
      "--set", flags.set,
      "A generated set, " + SetList() +
          ", or a file or folder as published: JSON lines, JSON or CSV, also "
          "gzipped");
  if (!flags.set.empty()) set->capture_default_str();
  app.add_option("--limit", options.limit,
                 "Problems at most; 0: 200 of a generated set, all of a file")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--first,--index", options.first, "Index of the first problem")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--set-seed", options.seed,
                 "Seed of generated sets: below 1000 to train, from 2000 on "
                 "for reported figures")
      ->capture_default_str();
  app.add_option("--shuffle", options.shuffle,
                 "Take a file's problems in the random order of this seed");
  app.add_option("--shard", flags.shard,
                 "Of the problems chosen only every n-th, beginning at i: i/n")
      ->capture_default_str();
  app.add_option("--ids", flags.ids,
                 "Only problems of these ids: a list with commas, or a file "
                 "with one a line");
  app.add_option("--columns", flags.columns,
                 "What a file's columns are, as question=problem,answer=gold; "
                 "question.problem is a member of a member")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
      "--kind", options.kind,
      "Kind of the file, where its columns do not tell: " + KindList());
  app.add_flag("--strict", options.strict,
               "Stop at the first bad record; otherwise they are passed over, "
               "counted and told at the end");
  return set;
}

absl::StatusOr<std::map<std::string, std::string>> ParseColumns(
    const std::vector<std::string>& texts) {
  std::map<std::string, std::string> columns;
  for (const std::string& text : texts) {
    const size_t equal = text.find('=');
    if (equal == std::string::npos || equal == 0 || equal + 1 == text.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--columns ", text, ": expected ROLE=COLUMN, as ",
                       "question=problem,answer=solution"));
    }
    columns[text.substr(0, equal)] = text.substr(equal + 1);
  }
  return columns;
}

absl::Status ReadSetFlags(SetFlags& flags) {
  ErrorList errors;
  errors.Add(ReadShard(flags));
  errors.Add(ReadIds(flags));
  auto columns = ParseColumns(flags.columns);
  errors.Add(columns.status());
  ESP_RETURN_IF_ERROR(errors.Status());
  flags.options.columns = *std::move(columns);
  return CheckSetOptions(flags.options);
}

absl::StatusOr<ProblemSet> LoadSet(SetFlags& flags) {
  ESP_RETURN_IF_ERROR(ReadSetFlags(flags));
  ESP_ASSIGN_OR_RETURN(ProblemSet set, LoadSet(flags.set, flags.options));
  for (const std::string& note : set.notes) {
    std::fprintf(stderr, "%s\n", note.c_str());
  }
  return set;
}

absl::Status LeaveOutUnjudged(const Verifier& verifier, ProblemSet& set) {
  ESP_ASSIGN_OR_RETURN(const std::string note, KeepJudged(verifier, set));
  if (!note.empty()) std::fprintf(stderr, "%s\n", note.c_str());
  return absl::OkStatus();
}

}  // namespace espalier
