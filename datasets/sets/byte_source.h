// The bytes of a file, plain or gzip, one piece at a time, with line numbers.
//
//   ESP_ASSIGN_OR_RETURN(auto source, ByteSource::Open("test.jsonl.gz"));
//   std::string line;
//   while (source->ReadLine(&line, &cut)) ...
//   ESP_RETURN_IF_ERROR(source->status());   // why it ended
//
// Holds 64 KiB of the file, more only where PeekLine is asked for a longer
// line. Gzip is told by its first bytes, whatever the file is called; several
// gzip streams one after another count as one. A byte order mark is passed
// over, and "\r\n" ends a line as "\n" does. Lines count from 1, in gzip files
// those of the text inside.
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

// A record (a line, an element of a JSON list, a row) may have so many bytes;
// a longer one is named and passed over. The longest line of the published
// sets has about 10 MB.
inline constexpr size_t kMaxRecordBytes = size_t{64} << 20;

class ByteSource {
 public:
  // NotFound and the like where `path` cannot be read; FailedPrecondition for
  // a folder; InvalidArgument for NAME.gz that holds no gzip data.
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(
      const std::string& path);
  // Reads `text`; `name` stands for it in messages.
  static std::unique_ptr<ByteSource> FromText(std::string text,
                                              std::string name);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // The next byte, and for Get the one after it from then on; -1 at the end.
  int Peek() { return at_ < buffer_.size() || Fill() ? Byte() : -1; }
  int Get() {
    const int byte = Peek();
    if (byte < 0) return -1;
    ++at_;
    if (byte == '\n') ++line_;
    return byte;
  }
  // The rest of the current line, without its end; false at the end of all. A
  // line longer than `most` is passed over up to its end: *cut is set and
  // *line left empty.
  bool ReadLine(std::string* line, bool* cut, size_t most = kMaxRecordBytes);
  // What ReadLine would yield, as far as `most` bytes of it, and whether it is
  // all of the line. Valid until the next call.
  std::string_view PeekLine(bool* whole, size_t most = kMaxRecordBytes);
  // Passes over blanks, line ends and tabs.
  void SkipSpace();

  int64_t line() const { return line_; }  // of the next byte
  const std::string& name() const { return name_; }
  // "name:line" of the next byte.
  std::string Place() const;
  // Not OK where the end came from an error: DataLoss for truncated or damaged
  // gzip data, Unavailable for what the system reports.
  const absl::Status& status() const { return status_; }

 private:
  struct GzFile;
  ByteSource(std::string name, std::unique_ptr<GzFile> file);
  int Byte() const { return static_cast<unsigned char>(buffer_[at_]); }
  // Adds bytes after the buffer's; false at the end.
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
