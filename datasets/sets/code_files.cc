#include "datasets/sets/code_files.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {

absl::StatusOr<std::vector<Record>> ReadRecords(
    const std::string& path, std::vector<std::string>& errors) {
  ESP_ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(path));
  std::vector<Record> records;
  while (true) {
    absl::StatusOr<std::optional<Record>> record = reader->Next();
    if (!record.ok()) {
      if (!CanReadOn(record.status())) return record.status();
      errors.emplace_back(record.status().message());
      continue;
    }
    if (!record->has_value()) return records;
    records.push_back(**std::move(record));
  }
}

absl::StatusOr<std::vector<CodeProblem>> ReadCodeProblems(
    const std::string& path, SetOptions options, ReadReport* report) {
  if (report == nullptr) options.strict = true;
  ESP_ASSIGN_OR_RETURN(const auto reader,
                       SetReader::Open(path, std::move(options)));
  std::vector<CodeProblem> problems;
  while (true) {
    ESP_ASSIGN_OR_RETURN(std::optional<SetRecord> record, reader->Next());
    if (!record) break;
    if (reader->kind()->task != "python") {
      return absl::InvalidArgumentError(
          absl::StrCat(record->place,
                       ": expected a problem whose answer is a program, found "
                       "one of kind ",
                       AbslView(reader->kind()->name)));
    }
    absl::StatusOr<CodeProblem> problem = ReadCodeProblem(record->fields);
    if (!problem.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          record->place, ": ", std::string(problem.status().message())));
    }
    problem->id = std::move(record->id);
    problems.push_back(*std::move(problem));
  }
  if (report != nullptr) *report = reader->report();
  return problems;
}

}  // namespace espalier
