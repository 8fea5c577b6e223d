#include "datasets/sets/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"

namespace espalier {
namespace {

// Bytes of gzip data decoded at a time: damage loses up to twice this much of
// the text before it.
constexpr unsigned kGzipPiece = 32 << 10;

}  // namespace

struct ByteSource::GzFile {
  gzFile handle = nullptr;
  ~GzFile() {
    if (handle != nullptr) gzclose(handle);
  }
};

ByteSource::ByteSource(std::string name, std::unique_ptr<GzFile> file)
    : name_(std::move(name)), file_(std::move(file)) {}
ByteSource::~ByteSource() = default;

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Open(
    const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError("open", path, errno);
  struct stat info;
  int error = ::fstat(fd, &info) != 0 ? errno : 0;
  if (error == 0 && S_ISDIR(info.st_mode)) error = EISDIR;
  auto file = std::make_unique<GzFile>();
  if (error == 0) {
    file->handle = gzdopen(fd, "rb");
    if (file->handle == nullptr) error = ENOMEM;
  }
  if (error != 0) {
    ::close(fd);
    return FileError("read", path, error);
  }
  gzbuffer(file->handle, kGzipPiece);
  const bool plain = gzdirect(file->handle) != 0;
  if (plain && path.ends_with(".gz") && info.st_size > 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ":1: expected gzip data because of its name, found something ",
        "else; fetch the file again or rename it"));
  }
  if (const std::string other = ForeignFileNote(path); !other.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", other));
  }
  std::unique_ptr<ByteSource> source(new ByteSource(path, std::move(file)));
  source->SkipByteOrderMark();
  return source;
}

std::unique_ptr<ByteSource> ByteSource::FromText(std::string text,
                                                 std::string name) {
  std::unique_ptr<ByteSource> source(new ByteSource(std::move(name), nullptr));
  source->buffer_ = std::move(text);
  source->SkipByteOrderMark();
  return source;
}

std::string ByteSource::Place() const {
  return absl::StrCat(name_, ":", line_);
}

bool ByteSource::ReadMore() {
  if (file_ == nullptr || !status_.ok()) return false;
  const size_t before = buffer_.size();
  buffer_.resize(before + kGzipPiece);
  const int n = gzread(file_->handle, buffer_.data() + before, kGzipPiece);
  buffer_.resize(before + static_cast<size_t>(n > 0 ? n : 0));
  if (n > 0) return true;
  int code = Z_OK;
  std::string what = gzerror(file_->handle, &code);
  what.erase(0, what.rfind(": ") + 1);  // "<fd:3>: incorrect data check"
  if (code == Z_ERRNO) {
    status_ = FileError("read", name_, errno);
  } else if (code != Z_OK) {
    const int64_t line =
        line_ + std::count(buffer_.begin(), buffer_.end(), '\n');
    status_ = absl::DataLossError(absl::StrCat(
        name_, ":", line, ": the gzip data ",
        code == Z_BUF_ERROR
            ? "ends too early: the file is truncated"
            : absl::StrCat("is damaged (", absl::StripAsciiWhitespace(what),
                           ")"),
        "; nothing from here on can be read; fetch the file again"));
  }
  return false;
}

bool ByteSource::Fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  return ReadMore();
}

void ByteSource::SkipByteOrderMark() {
  while (buffer_.size() < 3 && ReadMore()) {
  }
  if (std::string_view(buffer_).starts_with("\xEF\xBB\xBF")) at_ = 3;
}

std::string_view ByteSource::PeekLine(bool* whole, size_t most) {
  size_t searched = 0;
  while (true) {
    const size_t end = buffer_.find('\n', at_ + searched);
    if (end != std::string::npos || buffer_.size() - at_ >= most) {
      const size_t length = std::min(std::min(end, buffer_.size()) - at_, most);
      *whole = end != std::string::npos && end - at_ <= most;
      std::string_view line(buffer_.data() + at_, length);
      if (*whole && line.ends_with('\r')) line.remove_suffix(1);
      return line;
    }
    searched = buffer_.size() - at_;
    if (!Fill()) {
      *whole = status_.ok();
      return std::string_view(buffer_).substr(at_);
    }
  }
}

bool ByteSource::ReadLine(std::string* line, bool* cut, size_t most) {
  line->clear();
  *cut = false;
  if (Peek() < 0) return false;
  while (Peek() >= 0) {
    const size_t end = buffer_.find('\n', at_);
    const size_t stop = std::min(end, buffer_.size());
    if (line->size() + (stop - at_) > most) {
      *cut = true;
      line->clear();
      line->shrink_to_fit();
    }
    if (!*cut) line->append(buffer_, at_, stop - at_);
    at_ = stop;
    if (end != std::string::npos) {
      Get();
      break;
    }
  }
  if (!line->empty() && line->back() == '\r') line->pop_back();
  return true;
}

void ByteSource::SkipSpace() {
  for (int c = Peek(); c == ' ' || c == '\t' || c == '\r' || c == '\n';
       c = Peek()) {
    Get();
  }
}

}  // namespace espalier
