#include "datasets/sets/step_benchmarks.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/labelled_steps.h"
#include "datasets/sets/record_reader.h"
#include "datasets/sets/set_kind.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Json = nlohmann::json;

// "folder/gsm8k.json:12" -> "gsm8k".
std::string FileStem(const std::string& place) {
  std::filesystem::path file(place.substr(0, place.rfind(':')));
  file = file.filename();
  while (file.has_extension()) file = file.stem();
  return file.string();
}

std::string SubsetOf(const LabelledSolution& solution) {
  const std::string prefix = solution.id.substr(0, solution.id.rfind('-'));
  for (const std::string_view name : kProcessBenchSubsets) {
    if (prefix == name) return prefix;
  }
  return FileStem(solution.place);
}

absl::Status ErrorAt(const std::string& place, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(place, ": ", what));
}

// Drops the steps of a solution without an error that nobody has labelled.
void DropUnlabelled(LabelledSolution& solution) {
  if (solution.first_error >= 0) return;
  const auto unknown = std::find(solution.labels.begin(), solution.labels.end(),
                                 StepLabel::kUnknown);
  solution.steps.resize(static_cast<size_t>(unknown - solution.labels.begin()));
}

absl::StatusOr<std::vector<std::string>> TextList(const Record& record,
                                                  const char* column) {
  const Json* list = FindColumn(record.fields, column);
  if (list == nullptr || !list->is_array() || list->empty()) {
    return ErrorAt(record.place,
                   absl::StrCat("\"", column,
                                "\" is no list of steps; expected a record of "
                                "PRMBench with idx, modified_question, "
                                "modified_process, error_steps and "
                                "classification"));
  }
  std::vector<std::string> out;
  for (const Json& step : *list) {
    if (!step.is_string()) {
      return ErrorAt(record.place,
                     absl::StrCat("step ", out.size() + 1, " of \"", column,
                                  "\" is not text"));
    }
    out.push_back(step.get<std::string>());
  }
  return out;
}

absl::StatusOr<std::string> NonEmpty(const Record& record, const char* column) {
  std::string text = ColumnText(record.fields, column);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return ErrorAt(record.place,
                   absl::StrCat("no text in the column \"", column,
                                "\", which a record of PRMBench has"));
  }
  return text;
}

absl::StatusOr<std::vector<int>> Errors(const Record& record) {
  const Json* list = FindColumn(record.fields, "error_steps");
  const auto wrong = [&] {
    return ErrorAt(record.place,
                   "\"error_steps\" is no list of steps' numbers from 1");
  };
  if (list == nullptr || !list->is_array()) return wrong();
  std::vector<int> out;
  for (const Json& number : *list) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() < 1 ||
        number.get<uint64_t>() > (1 << 24)) {
      return wrong();
    }
    out.push_back(number.get<int>() - 1);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

absl::StatusOr<std::vector<BenchSolution>> ReadFirstErrors(
    const std::vector<std::string>& paths) {
  std::vector<BenchSolution> out;
  absl::flat_hash_set<std::string> ids;
  for (const std::string& path : paths) {
    ESP_ASSIGN_OR_RETURN(
        const auto reader,
        StepSetReader::Open(path, {.strict = true, .others = false}));
    while (true) {
      ESP_ASSIGN_OR_RETURN(std::optional<LabelledSolution> read,
                           reader->Next());
      if (!read) break;
      DropUnlabelled(*read);
      if (read->steps.empty()) continue;
      if (!ids.insert(read->id).second) {
        return ErrorAt(read->place,
                       absl::StrCat("the id \"", read->id,
                                    "\" is that of an earlier solution"));
      }
      BenchSolution& solution = out.emplace_back();
      solution.group = SubsetOf(*read);
      solution.id = std::move(read->id);
      solution.place = std::move(read->place);
      solution.problem = std::move(read->problem);
      solution.steps = std::move(read->steps);
      if (read->first_error >= 0) solution.errors = {read->first_error};
    }
  }
  return out;
}

absl::StatusOr<std::vector<BenchSolution>> ReadPrmBench(
    const std::string& path) {
  ESP_ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(path));
  std::vector<BenchSolution> out;
  absl::flat_hash_set<std::string> ids;
  const auto add = [&](BenchSolution solution) {
    if (ids.insert(solution.id).second) out.push_back(std::move(solution));
  };
  while (true) {
    ESP_ASSIGN_OR_RETURN(const std::optional<Record> record, reader->Next());
    if (!record) break;
    BenchSolution changed{.place = record->place};
    ESP_ASSIGN_OR_RETURN(changed.pair, NonEmpty(*record, "idx"));
    ESP_ASSIGN_OR_RETURN(changed.group, NonEmpty(*record, "classification"));
    ESP_ASSIGN_OR_RETURN(changed.problem,
                         NonEmpty(*record, "modified_question"));
    ESP_ASSIGN_OR_RETURN(changed.steps, TextList(*record, "modified_process"));
    ESP_ASSIGN_OR_RETURN(changed.errors, Errors(*record));
    changed.id = absl::StrCat(changed.group, "_", changed.pair);
    if (changed.group == "redundency") {
      BenchSolution original{
          .id = absl::StrCat(AbslView(kUnchanged), "_", changed.pair),
          .group = std::string(kUnchanged),
          .place = record->place,
          .pair = changed.pair};
      ESP_ASSIGN_OR_RETURN(original.problem,
                           NonEmpty(*record, "original_question"));
      ESP_ASSIGN_OR_RETURN(original.steps,
                           TextList(*record, "original_process"));
      add(std::move(original));
    }
    add(std::move(changed));
  }
  if (out.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected records of PRMBench, found none"));
  }
  return out;
}

}  // namespace espalier
