#include "datasets/code/code_files.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "src/base/status_macros.h"

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
    const std::string& path) {
  std::vector<std::string> errors;
  ESP_ASSIGN_OR_RETURN(const std::vector<Record> lines,
                       ReadRecords(path, errors));
  if (!errors.empty()) return absl::InvalidArgumentError(errors[0]);
  std::vector<CodeProblem> problems;
  for (const Record& line : lines) {
    absl::StatusOr<CodeProblem> problem = ReadCodeProblem(line.fields);
    if (!problem.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          line.place, ": ", std::string(problem.status().message())));
    }
    if (problem->id.empty()) problem->id = line.place;
    problems.push_back(*std::move(problem));
  }
  if (problems.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected a problem or more, found none"));
  }
  return problems;
}

}  // namespace espalier
