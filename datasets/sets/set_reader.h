// The problems of a published file one at a time: recognized, checked,
// selected.
//
//   ESP_ASSIGN_OR_RETURN(auto reader,
//                        SetReader::Open("HumanEval.jsonl.gz", {.limit = 20}));
//   while (true) {
//     ESP_ASSIGN_OR_RETURN(std::optional<SetRecord> record, reader->Next());
//     if (!record) break;
//     Use(record->question, record->fields.at("test"));
//   }
//   for (const std::string& note : reader->report().Notes()) ...
//
// The kind of set (set_kind.h) is that of the first record whose columns are
// known. A record that cannot be read, or that repeats an earlier id, is
// skipped, counted and reported; with `strict` it is an error, as is a
// truncated file. Next fails if no problem could be read.
//
// Selection happens in this order: ids, shuffle, first and limit, shard. So the
// shards of one selection are disjoint and together cover it.
//
// Multiple-choice records whose right options are given by integers are read
// ahead up to the first 0, at most 1,000 of them, since a number one past the
// end refuses the whole set, even beyond the limit. Bad records among those are
// reported once what follows them is returned.
//
// Memory: one record, or those read ahead, and 24 bytes per id seen. A shuffle
// holds `first` + `limit` records, those of the smallest keys so far, and
// without a limit all of the file's. The order depends only on the seed and the
// problems' positions in the file.
//
// Thread-compatible.
#ifndef ESPALIER_DATASETS_SETS_SET_READER_H_
#define ESPALIER_DATASETS_SETS_SET_READER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datasets/sets/record_reader.h"
#include "datasets/sets/set_kind.h"

namespace espalier {

// Which problems of a set are read.
struct SetOptions {
  int64_t limit = 0;     // problems at most; 0: 200 of a generated set, all of
                         // a file
  uint64_t seed = 2000;  // of generated sets; from 2000 on for tests
  int64_t first = 0;     // index of the first problem
  int shard = 0;         // every `shards`-th problem, starting with this one
  int shards = 1;
  std::vector<std::string> ids;  // only these; empty: all
  // Only for files.
  std::optional<uint64_t> shuffle;  // seed of the order; nothing: file order
  // Maps columns: {"question", "problem"} reads the column "problem" as the
  // question; "question.problem" is a nested member.
  std::map<std::string, std::string> columns;
  // "": recognized; with columns: plain, or choice if they name options.
  std::string kind;
  bool strict = false;  // the first bad record is an error
};

// InvalidArgument names the option that is out of range.
absl::Status CheckSetOptions(const SetOptions& options);

// The options that select problems, besides seed, first, limit and shard: for
// records of runs. Empty if they select nothing.
nlohmann::json ChoiceJson(const SetOptions& options);

// Bad records that were skipped.
struct Skips {
  int64_t count = 0;
  std::vector<std::string> errors;  // of the first few: "file:12: ..."

  void Add(const absl::Status& error);
};

// Counts and errors from reading a file.
struct ReadReport {
  std::string file;
  std::string kind;
  int64_t read = 0;     // problems or solutions returned
  int64_t skipped = 0;  // bad records
  // "file:12: ..." of the first few skipped, and what truncated the file.
  std::vector<std::string> errors;
  std::vector<std::string> missing_ids;

  void AddSkipped(const absl::Status& error);
  void AddSkipped(const Skips& more);
  // The error for a file without any `things`.
  absl::Status NothingRead(std::string_view things) const;
  // Messages for the user, one line each; none if all went well.
  std::vector<std::string> Notes() const;
};

class SetReader {
 public:
  static absl::StatusOr<std::unique_ptr<SetReader>> Open(
      const std::string& path, SetOptions options);
  // Reads problems of `records`; `name` stands for the file in messages.
  static absl::StatusOr<std::unique_ptr<SetReader>> Create(
      std::unique_ptr<RecordReader> records, std::string name,
      SetOptions options);

  // The next problem, with a unique id: the publisher's or "file:line". Nothing
  // at the end.
  absl::StatusOr<std::optional<SetRecord>> Next();

  // For what was read so far. `kind` is null before the first problem.
  const ReadReport& report() const { return report_; }
  const SetKind* kind() const { return kind_; }

 private:
  SetReader(std::unique_ptr<RecordReader> records, std::string name,
            SetOptions options, const SetKind* kind);

  absl::StatusOr<std::optional<SetRecord>> NextRead();
  absl::Status LookAhead();
  absl::StatusOr<std::optional<SetRecord>> NextGood();
  absl::StatusOr<SetRecord> Interpret(Record record);
  absl::StatusOr<std::optional<SetRecord>> NextChosen();
  absl::Status Skip(const absl::Status& error);
  absl::Status Shuffle();
  absl::Status Finish();

  std::unique_ptr<RecordReader> records_;
  const SetOptions options_;
  const SetKind* kind_;
  ReadReport report_;
  absl::flat_hash_map<uint64_t, int64_t> lines_;  // of ids seen, by hash
  std::string last_place_;                        // of the previous record
  int64_t in_line_ = 0;  // index of the record within its line
  absl::flat_hash_map<std::string, bool> wanted_;  // ids, and whether seen
  int64_t good_ = 0;                               // readable records
  struct Ahead {
    SetRecord record;
    Skips skipped;  // before it
  };
  std::deque<Ahead> ahead_;      // read but not yet returned
  Skips skipped_;                // since the last one read
  absl::Status ahead_error_;     // error after them
  bool at_end_ = false;          // nothing comes after them
  bool file_ended_ = false;      // and not because of damage
  bool counting_known_ = false;  // whether the set counts options from 0 or 1
  int64_t chosen_ = 0;           // of those, before first and limit
  std::optional<std::vector<SetRecord>> shuffled_;  // last first
  bool read_all_ = false;  // the file's end was reached
  bool ended_ = false;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_SET_READER_H_
