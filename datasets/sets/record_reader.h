// The records of a data file, one at a time: JSON lines, JSON, CSV or TSV, any
// of them gzipped, or a folder of such files.
//
//   ESP_ASSIGN_OR_RETURN(auto reader, RecordReader::Open("SVAMP.json"));
//   while (true) {
//     absl::StatusOr<std::optional<Record>> record = reader->Next();
//     if (!record.ok() && !CanReadOn(record.status())) break;  // damaged file
//     if (!record.ok()) continue;                              // bad record
//     if (!*record) break;                                     // the end
//     ...
//   }
//
// .jsonl has one object per line; .csv and .tsv have a header row and then one
// record per row, whose quoted cells may hold line ends (MMLU's files, which
// have no header, are supported too); the format of anything else is detected
// from its first bytes: a list of objects, an object that holds a list of
// objects, concatenated objects, or rows with a header. Memory is that of one
// record, at most kMaxRecordBytes (byte_source.h); but an object on one line
// that holds a list is read as a whole if it is not longer than that.
//
// Thread-compatible.
#ifndef ESPALIER_DATASETS_SETS_RECORD_READER_H_
#define ESPALIER_DATASETS_SETS_RECORD_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "datasets/sets/byte_source.h"
#include "nlohmann/json.hpp"

namespace espalier {

struct Record {
  std::string place;      // "file:line" where it begins
  nlohmann::json fields;  // an object; cells of a CSV file are text
};

// After a bad record (InvalidArgument) reading can continue with the next one;
// after any other error the file has no more.
inline bool CanReadOn(const absl::Status& status) {
  return absl::IsInvalidArgument(status);
}

// The extension by which a file of this name is read as records, ".jsonl",
// ".json", ".csv" or ".tsv", also before ".gz"; "" for another name.
std::string_view RecordEnding(std::string_view path);

class RecordReader {
 public:
  virtual ~RecordReader() = default;

  // Nothing at the end. Every error names file and line.
  virtual absl::StatusOr<std::optional<Record>> Next() = 0;

  // A folder is searched recursively for .jsonl, .json, .csv and .tsv files,
  // also with .gz, which are read in the order of their paths.
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(
      const std::string& path);
  // Reads from `source`; the format follows from `source->name()` and the first
  // bytes.
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(
      std::unique_ptr<ByteSource> source);
};

// For RecordReader::Open. `delimiter` is ',' or '\t'. InvalidArgument if the
// header is missing or names a column twice.
absl::StatusOr<std::unique_ptr<RecordReader>> MakeCsvReader(
    std::unique_ptr<ByteSource> source, char delimiter);
std::unique_ptr<RecordReader> MakeJsonLinesReader(
    std::unique_ptr<ByteSource> source);
// JSON other than one object per line.
std::unique_ptr<RecordReader> MakeJsonReader(
    std::unique_ptr<ByteSource> source);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_RECORD_READER_H_
