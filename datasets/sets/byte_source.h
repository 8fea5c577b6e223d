// The bytes of a file, plain or gzip, piece by piece, with line numbers.
//
//   ESP_ASSIGN_OR_RETURN(auto source, ByteSource::Open("test.jsonl.gz"));
//   std::string line;
//   while (source->ReadLine(&line, &cut)) ...
//   ESP_RETURN_IF_ERROR(source->status());   // why it ended
//
// Holds 64 KiB of the file, more only if PeekLine needs a longer line. Gzip is
// recognized by its first bytes, whatever the file's name; several concatenated
// gzip streams count as one. A byte order mark is skipped, and "\r\n" ends a
// line as "\n" does. Lines count from 1, in gzip files those of the
// decompressed text.
//
// Thread-compatible.
#ifndef ESPALIER_DATASETS_SETS_BYTE_SOURCE_H_
#define ESPALIER_DATASETS_SETS_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace espalier {

// Maximum size of a record (a line, an element of a JSON list, a row); longer
// ones are reported and skipped. The longest line of the published sets has
// about 10 MB.
inline constexpr size_t kMaxRecordBytes = size_t{64} << 20;

class ByteSource {
 public:
  // NotFound or a similar error if `path` cannot be read; FailedPrecondition
  // for a folder; InvalidArgument for NAME.gz that holds no gzip data.
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(
      const std::string& path);
  // Reads `text`; `name` stands for it in messages.
  static std::unique_ptr<ByteSource> FromText(std::string text,
                                              std::string name);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // The next byte, which Get also consumes; -1 at the end.
  int Peek() { return at_ < buffer_.size() || Fill() ? Byte() : -1; }
  int Get() {
    const int byte = Peek();
    if (byte < 0) return -1;
    ++at_;
    if (byte == '\n') ++line_;
    return byte;
  }
  // The rest of the current line, without its end; false at the end of the
  // source. A line longer than `most` is skipped: *cut is set and *line left
  // empty.
  bool ReadLine(std::string* line, bool* cut, size_t most = kMaxRecordBytes);
  // Up to `most` bytes of what ReadLine would yield, and whether that is the
  // whole line. Valid until the next call.
  std::string_view PeekLine(bool* whole, size_t most = kMaxRecordBytes);
  // Skips blanks, line ends and tabs.
  void SkipSpace();

  int64_t line() const { return line_; }  // of the next byte
  const std::string& name() const { return name_; }
  // "name:line" of the next byte.
  std::string Place() const;
  // Not OK if an error caused the end: DataLoss for truncated or damaged gzip
  // data, Unavailable for system errors.
  const absl::Status& status() const { return status_; }

 private:
  struct GzFile;
  ByteSource(std::string name, std::unique_ptr<GzFile> file);
  int Byte() const { return static_cast<unsigned char>(buffer_[at_]); }
  // Appends bytes to the buffer; false at the end.
  bool Fill();
  bool ReadMore();
  void SkipByteOrderMark();

  std::string name_;
  std::unique_ptr<GzFile> file_;  // null for a text
  std::string buffer_;
  size_t at_ = 0;  // in buffer_
  int64_t line_ = 1;
  absl::Status status_;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_BYTE_SOURCE_H_
