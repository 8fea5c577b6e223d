#include "tools/espalier/step_scores.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/record_reader.h"
#include "datasets/sets/set_kind.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

absl::Status ErrorAt(const Record& record, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(record.place, ": ", what));
}

// The scores of a line; null for one that was not judged.
absl::StatusOr<StepValues> ScoresOf(const Record& record) {
  const nlohmann::json* scores = FindColumn(record.fields, "scores");
  if (scores != nullptr && scores->is_object()) {
    scores = FindColumn(*scores, "step_level_validity_scores");
  }
  if (scores == nullptr) {
    return ErrorAt(record,
                   "no \"scores\"; expected {\"id\": ..., \"scores\": [one "
                   "number per step]}");
  }
  if (scores->is_null()) return StepValues();
  return ScoreList(*scores, absl::StrCat(record.place, ": \"scores\""));
}

}  // namespace

absl::StatusOr<StepValues> ScoreList(const nlohmann::json& list,
                                     const std::string& what) {
  if (!list.is_array() || list.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is no list of numbers, one per step"));
  }
  StepValues out;
  for (const nlohmann::json& number : list) {
    const double value = number.is_number() ? number.get<double>() : NAN;
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": score ", out.size() + 1,
                       " is not a finite number: ", JsonText(number)));
    }
    out.push_back(value);
  }
  return out;
}

absl::StatusOr<std::vector<StepValues>> ReadStepScores(
    const std::string& path, absl::Span<const BenchSolution> solutions) {
  absl::flat_hash_map<std::string, size_t> wanted;
  for (size_t i = 0; i < solutions.size(); ++i) wanted[solutions[i].id] = i;
  std::vector<StepValues> out(solutions.size());
  std::vector<std::string> places(solutions.size());
  ESP_ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(path));
  size_t lines = 0, missing = solutions.size();
  while (true) {
    ESP_ASSIGN_OR_RETURN(const std::optional<Record> record, reader->Next());
    if (!record) break;
    ++lines;
    std::string id = ColumnText(record->fields, "id");
    if (id.empty()) id = ColumnText(record->fields, "idx");
    if (id.empty()) return ErrorAt(*record, "no \"id\" of a solution");
    ESP_ASSIGN_OR_RETURN(StepValues values, ScoresOf(*record));
    const auto found = wanted.find(id);
    if (found == wanted.end()) continue;
    const size_t i = found->second;
    if (!places[i].empty()) {
      return ErrorAt(*record,
                     absl::StrCat("the scores of \"", id,
                                  "\" were given before, at ", places[i]));
    }
    if (!values.empty() && values.size() != solutions[i].steps.size()) {
      return ErrorAt(
          *record,
          absl::StrCat("expected ", solutions[i].steps.size(),
                       " scores, one per step of \"", id, "\" (",
                       solutions[i].place, "), found ", values.size()));
    }
    places[i] = record->place;
    out[i] = std::move(values);
    --missing;
  }
  if (missing == 0) return out;
  size_t first = 0;
  while (!places[first].empty()) ++first;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": no scores for ", missing, " of ", solutions.size(),
                   " solutions, the first is \"", solutions[first].id, "\" (",
                   solutions[first].place, "); the file has ", lines,
                   lines == 1 ? " line" : " lines"));
}

std::string StepScoreLines(absl::Span<const BenchSolution> solutions,
                           absl::Span<const StepValues> values) {
  std::string out;
  for (size_t i = 0; i < solutions.size(); ++i) {
    nlohmann::json line = {{"id", solutions[i].id}, {"scores", nullptr}};
    if (!values[i].empty()) line["scores"] = values[i];
    out.append(JsonText(line)).append("\n");
  }
  return out;
}

}  // namespace espalier
