#include "datasets/sets/set_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/choice_kinds.h"
#include "datasets/sets/labelled_steps.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

constexpr size_t kErrorsGiven = 5;
// Among 1000 questions with four options, the last one is almost surely right
// at least once.
constexpr size_t kMostAhead = 1000;

// Copies each role's column to that role's name.
absl::Status MapColumns(const std::map<std::string, std::string>& columns,
                        Record& record) {
  nlohmann::json mapped = nlohmann::json::object();
  for (const auto& [role, column] : columns) {
    const nlohmann::json* value = FindColumn(record.fields, column);
    if (value == nullptr) {
      std::vector<std::string> names;
      for (const auto& [name, unused] : record.fields.items()) {
        names.push_back(absl::StrCat("\"", name, "\""));
      }
      return absl::InvalidArgumentError(absl::StrCat(
          record.place, ": no column \"", column, "\", which --columns names ",
          "for ", role, "; the record has ", absl::StrJoin(names, ", ")));
    }
    mapped[role] = *value;
  }
  for (auto& [role, value] : mapped.items()) record.fields[role] = value;
  return absl::OkStatus();
}

// Refuses a record with two different questions. One may hold the other with a
// prompt around it.
absl::Status CheckQuestions(const Record& record) {
  const std::string question = ColumnText(record.fields, "question");
  const std::string problem = ColumnText(record.fields, "problem");
  const auto text = [](const std::string& all) {
    return absl::StripAsciiWhitespace(AbslView(all));
  };
  if (text(question).empty() || text(problem).empty() ||
      absl::StrContains(question, text(problem)) ||
      absl::StrContains(problem, text(question))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      record.place,
      ": \"question\" and \"problem\" hold different texts; name the one to "
      "ask "
      "(--columns question=question or --columns question=problem)"));
}

// The error for a record of solutions with labelled steps, which other commands
// read.
absl::Status RefuseSteps(const Record& record, const std::string& file) {
  const std::string_view kind = LabelledKind(record.fields);
  const bool pairs = FindColumn(record.fields, "modified_process") != nullptr;
  if (kind.empty() && !pairs) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      record.place, ": expected a problem, found a solution with labelled ",
      "steps (", pairs ? "prmbench" : AbslView(kind), "); ",
      pairs ? ""
            : absl::StrCat("espalier steps --set ", file,
                           " shows such files, and "),
      "espalier bench-reward --", pairs ? "prmbench " : "processbench ", file,
      " measures a reward model on them"));
}

// The error for a multiple choice in a file whose first record is none: the
// file's kind would leave the options out.
absl::Status RefuseOptions(const SetKind& kind, const Record& record) {
  if (kind.task != "qa" || kind.name == "choice") return absl::OkStatus();
  const auto own = RecogniseKind(record.fields);
  if (!own.ok() || (*own)->name != "choice" ||
      !HasListedOptions(record.fields)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      record.place, ": the record has options, which the kind ",
      AbslView(kind.name), " of the records before it does not read; put the ",
      "questions with options in a file of their own, or first"));
}

int64_t LineOf(const std::string& place) {
  return std::strtoll(place.c_str() + place.rfind(':') + 1, nullptr, 10);
}

}  // namespace

absl::Status CheckSetOptions(const SetOptions& options) {
  if (options.limit < 0 || options.first < 0) {
    return absl::InvalidArgumentError(
        "the limit and the first index of a set must not be negative");
  }
  if (options.shard < 0 || options.shards < 1 ||
      options.shard >= options.shards) {
    return absl::InvalidArgumentError(
        absl::StrCat("shard ", options.shard, "/", options.shards,
                     ": expected i/n with 0 <= i < n, as 0/4"));
  }
  if (!options.kind.empty()) {
    ESP_RETURN_IF_ERROR(FindKind(options.kind).status());
  }
  return absl::OkStatus();
}

nlohmann::json ChoiceJson(const SetOptions& options) {
  nlohmann::json json = nlohmann::json::object();
  if (options.shuffle) json["shuffle"] = *options.shuffle;
  if (!options.ids.empty()) json["ids"] = options.ids;
  if (!options.columns.empty()) json["columns"] = options.columns;
  if (!options.kind.empty()) json["kind"] = options.kind;
  if (options.strict) json["strict"] = true;
  return json;
}

void Skips::Add(const absl::Status& error) {
  ++count;
  if (errors.size() < kErrorsGiven) errors.emplace_back(error.message());
}

void ReadReport::AddSkipped(const Skips& more) {
  skipped += more.count;
  for (const std::string& error : more.errors) {
    if (errors.size() < kErrorsGiven) errors.push_back(error);
  }
}

void ReadReport::AddSkipped(const absl::Status& error) {
  Skips one;
  one.Add(error);
  AddSkipped(one);
}

absl::Status ReadReport::NothingRead(std::string_view things) const {
  return absl::InvalidArgumentError(absl::StrCat(
      file, ": no ", AbslView(things), " in it",
      errors.empty() ? "; expected JSON lines, JSON or CSV with one per record"
                     : absl::StrCat(", ", skipped,
                                    " records skipped; first: ", errors[0])));
}

std::vector<std::string> ReadReport::Notes() const {
  std::vector<std::string> notes;
  if (!errors.empty()) {
    for (const std::string& error : errors) {
      notes.push_back("skipped: " + error);
    }
    const auto given = static_cast<int64_t>(errors.size());
    if (skipped > given) {
      notes.push_back(absl::StrCat("skipped: ", skipped - given, " more"));
    }
    notes.push_back(absl::StrCat(file, ": ", read, " read as ", kind, ", ",
                                 skipped,
                                 " skipped; --strict stops at the first"));
  }
  if (!missing_ids.empty()) {
    constexpr size_t kIdsGiven = 10;
    std::vector<std::string> given = missing_ids;
    if (given.size() > kIdsGiven) given.resize(kIdsGiven);
    notes.push_back(absl::StrCat(
        file, ": ", missing_ids.size(),
        " of the requested ids are not in it: ", absl::StrJoin(given, ", "),
        missing_ids.size() > kIdsGiven ? ", ..." : ""));
  }
  return notes;
}

SetReader::SetReader(std::unique_ptr<RecordReader> records, std::string name,
                     SetOptions options, const SetKind* kind)
    : records_(std::move(records)), options_(std::move(options)), kind_(kind) {
  report_.file = std::move(name);
  if (kind_ != nullptr) report_.kind = std::string(kind_->name);
  for (const std::string& id : options_.ids) wanted_[id] = false;
}

absl::StatusOr<std::unique_ptr<SetReader>> SetReader::Open(
    const std::string& path, SetOptions options) {
  ESP_RETURN_IF_ERROR(CheckSetOptions(options));
  ESP_ASSIGN_OR_RETURN(auto records, RecordReader::Open(path));
  return Create(std::move(records), path, std::move(options));
}

absl::StatusOr<std::unique_ptr<SetReader>> SetReader::Create(
    std::unique_ptr<RecordReader> records, std::string name,
    SetOptions options) {
  ESP_RETURN_IF_ERROR(CheckSetOptions(options));
  const SetKind* kind = nullptr;
  if (!options.kind.empty()) {
    ESP_ASSIGN_OR_RETURN(kind, FindKind(options.kind));
  } else if (!options.columns.empty()) {
    const bool choice = options.columns.contains("options");
    ESP_ASSIGN_OR_RETURN(kind, FindKind(choice ? "choice" : "plain"));
  }
  return std::unique_ptr<SetReader>(new SetReader(
      std::move(records), std::move(name), std::move(options), kind));
}

absl::Status SetReader::Skip(const absl::Status& error) {
  if (options_.strict) return error;
  skipped_.Add(error);
  return absl::OkStatus();
}

absl::StatusOr<SetRecord> SetReader::Interpret(Record record) {
  in_line_ = record.place == last_place_ ? in_line_ + 1 : 1;
  last_place_ = record.place;
  ESP_RETURN_IF_ERROR(MapColumns(options_.columns, record));
  if (kind_ == nullptr) {
    const auto kind = RecogniseKind(record.fields);
    // PRM800K's question, an object, looks like that of any set.
    if (!kind.ok() || (*kind)->name == "plain") {
      ESP_RETURN_IF_ERROR(RefuseSteps(record, report_.file));
    }
    if (!kind.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(record.place, ": ", kind.status().message()));
    }
    kind_ = *kind;
    report_.kind = std::string(kind_->name);
  } else if (options_.kind.empty() && options_.columns.empty()) {
    ESP_RETURN_IF_ERROR(RefuseOptions(*kind_, record));
  }
  if (options_.kind.empty() && options_.columns.empty() &&
      kind_->task == "qa") {
    ESP_RETURN_IF_ERROR(CheckQuestions(record));
  }
  ESP_ASSIGN_OR_RETURN(SetRecord out, ReadAs(*kind_, std::move(record)));
  if (options_.columns.count("id") > 0) out.id = ColumnText(out.fields, "id");
  if (out.id.empty()) {
    out.id = out.place;
    if (in_line_ > 1) absl::StrAppend(&out.id, "#", in_line_);
    return out;
  }
  const auto [at, fresh] =
      lines_.try_emplace(StableHash(out.id), LineOf(out.place));
  if (fresh) return out;
  return absl::InvalidArgumentError(
      absl::StrCat(out.place, ": the id \"", out.id, "\" is already in line ",
                   at->second, "; expected distinct ids"));
}

// The next readable record of the file.
absl::StatusOr<std::optional<SetRecord>> SetReader::NextRead() {
  while (!at_end_) {
    absl::StatusOr<std::optional<Record>> record = records_->Next();
    if (!record.ok()) {
      // The file holds several sets.
      if (absl::IsFailedPrecondition(record.status())) return record.status();
      ESP_RETURN_IF_ERROR(Skip(record.status()));
      if (CanReadOn(record.status())) continue;
      if (good_ == 0) return record.status();
      at_end_ = true;
      break;
    }
    if (!*record) {
      at_end_ = true;
      file_ended_ = true;
      break;
    }
    absl::StatusOr<SetRecord> read = Interpret(**std::move(record));
    if (!read.ok()) {
      if (absl::IsFailedPrecondition(read.status())) return read.status();
      ESP_RETURN_IF_ERROR(Skip(read.status()));
      continue;
    }
    ++good_;
    return *std::move(read);
  }
  return std::optional<SetRecord>();
}

// Reads ahead until a record shows where the set's option count starts.
absl::Status SetReader::LookAhead() {
  if (counting_known_) return absl::OkStatus();
  counting_known_ = true;
  while (ahead_.back().record.counted != 0 && ahead_.size() < kMostAhead) {
    absl::StatusOr<std::optional<SetRecord>> record = NextRead();
    if (absl::IsFailedPrecondition(record.status())) return record.status();
    if (!record.ok()) ahead_error_ = record.status();
    if (!record.ok() || !*record) break;
    ahead_.push_back({**std::move(record), std::exchange(skipped_, {})});
  }
  if (ahead_.back().record.counted == 0) return absl::OkStatus();
  for (const Ahead& one : ahead_) {
    if (!one.record.counted || !one.record.columns_from_1) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        one.record.place, ": the right option is ", *one.record.counted,
        ", the columns of options are numbered from 1, and no record read "
        "ahead has the right option 0; use --kind choice-from-1 if the right "
        "options are numbered like the columns, otherwise --kind "
        "choice-from-0"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<SetRecord>> SetReader::NextGood() {
  if (ahead_.empty()) {
    ESP_RETURN_IF_ERROR(ahead_error_);
    ESP_ASSIGN_OR_RETURN(std::optional<SetRecord> record, NextRead());
    if (!record) {
      report_.AddSkipped(std::exchange(skipped_, {}));
      read_all_ = file_ended_;
      return record;
    }
    ahead_.push_back({*std::move(record), std::exchange(skipped_, {})});
    if (ahead_.back().record.counted) ESP_RETURN_IF_ERROR(LookAhead());
  }
  std::optional<SetRecord> record = std::move(ahead_.front().record);
  report_.AddSkipped(ahead_.front().skipped);
  ahead_.pop_front();
  return record;
}

// The next of the requested ids.
absl::StatusOr<std::optional<SetRecord>> SetReader::NextChosen() {
  while (true) {
    ESP_ASSIGN_OR_RETURN(std::optional<SetRecord> record, NextGood());
    if (!record || wanted_.empty()) return record;
    const auto it = wanted_.find(record->id);
    if (it == wanted_.end()) continue;
    it->second = true;
    return record;
  }
}

// Keeps the requested number of problems, those with the smallest keys.
absl::Status SetReader::Shuffle() {
  struct Keyed {
    uint64_t key;
    SetRecord record;
    bool operator<(const Keyed& other) const { return key < other.key; }
  };
  const uint64_t most = options_.limit == 0
                            ? std::numeric_limits<uint64_t>::max()
                            : static_cast<uint64_t>(options_.first) +
                                  static_cast<uint64_t>(options_.limit);
  std::vector<Keyed> heap;  // the largest key first
  for (uint64_t place = 0;; ++place) {
    ESP_ASSIGN_OR_RETURN(std::optional<SetRecord> record, NextChosen());
    if (!record) break;
    const uint64_t key = MixHash(*options_.shuffle, place);
    if (heap.size() == most) {
      if (key > heap.front().key) continue;
      std::pop_heap(heap.begin(), heap.end());
      heap.pop_back();
    }
    heap.push_back({key, *std::move(record)});
    std::push_heap(heap.begin(), heap.end());
  }
  std::sort_heap(heap.begin(), heap.end());
  shuffled_.emplace();
  for (size_t i = heap.size(); i > 0; --i) {
    shuffled_->push_back(std::move(heap[i - 1].record));
  }
  return absl::OkStatus();
}

absl::Status SetReader::Finish() {
  ended_ = true;
  if (good_ == 0) return report_.NothingRead("problems");
  // If a limit ended the reading, ids may come after it.
  if (!read_all_) return absl::OkStatus();
  for (const std::string& id : options_.ids) {
    if (!wanted_.at(id)) report_.missing_ids.push_back(id);
  }
  if (report_.missing_ids.empty()) return absl::OkStatus();
  if (!options_.strict && report_.missing_ids.size() < wanted_.size()) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(report_.Notes().back());
}

absl::StatusOr<std::optional<SetRecord>> SetReader::Next() {
  while (!ended_) {
    if (options_.shuffle && !shuffled_) ESP_RETURN_IF_ERROR(Shuffle());
    std::optional<SetRecord> record;
    // Beyond the limit nothing is returned, and records skipped there are not
    // reported.
    if (options_.limit == 0 || chosen_ - options_.first < options_.limit) {
      if (!shuffled_) {
        ESP_ASSIGN_OR_RETURN(record, NextChosen());
      } else if (!shuffled_->empty()) {
        record = std::move(shuffled_->back());
        shuffled_->pop_back();
      }
    }
    if (!record) {
      ESP_RETURN_IF_ERROR(Finish());
      break;
    }
    const int64_t place = chosen_++ - options_.first;
    if (place < 0 || place % options_.shards != options_.shard) continue;
    ++report_.read;
    return record;
  }
  return std::optional<SetRecord>();
}

}  // namespace espalier
