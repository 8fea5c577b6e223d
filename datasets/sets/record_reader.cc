#include "datasets/sets/record_reader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/json_lists.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kEndings = {".jsonl", ".json", ".csv",
                                                      ".tsv"};

class FolderReader : public RecordReader {
 public:
  explicit FolderReader(std::vector<std::string> files)
      : files_(std::move(files)) {}

  absl::StatusOr<std::optional<Record>> Next() override {
    while (true) {
      if (reader_ == nullptr) {
        if (next_ == files_.size()) return std::optional<Record>();
        auto opened = RecordReader::Open(files_[next_++]);
        if (!opened.ok()) return Passable(opened.status());
        reader_ = *std::move(opened);
      }
      auto record = reader_->Next();
      if (record.ok() && *record) return record;
      if (!record.ok() && CanReadOn(record.status())) return record;
      reader_ = nullptr;
      if (!record.ok()) return Passable(record.status());
    }
  }

 private:
  // A damaged file does not end the folder: its error becomes one after which
  // reading continues (CanReadOn).
  static absl::Status Passable(const absl::Status& error) {
    return absl::InvalidArgumentError(error.message());
  }

  const std::vector<std::string> files_;
  size_t next_ = 0;
  std::unique_ptr<RecordReader> reader_;  // of files_[next_ - 1], or null
};

absl::StatusOr<std::unique_ptr<RecordReader>> OpenFolder(
    const std::string& path) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(path, error), end;
       !error && it != end; it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    std::string file = it->path().string();
    if (!RecordEnding(file).empty()) files.push_back(std::move(file));
  }
  if (error) {
    return FileError("read the folder", path, error.value());
  }
  if (files.empty()) {
    return absl::NotFoundError(absl::StrCat(
        path, ": the folder holds no .jsonl, .json, .csv or .tsv file"));
  }
  std::sort(files.begin(), files.end());
  return std::make_unique<FolderReader>(std::move(files));
}

}  // namespace

std::string_view RecordEnding(std::string_view path) {
  const std::string lower = absl::AsciiStrToLower(AbslView(path));
  std::string_view name = lower;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  for (const std::string_view ending : kEndings) {
    if (name.ends_with(ending)) return ending;
  }
  return "";
}

absl::StatusOr<std::unique_ptr<RecordReader>> RecordReader::Open(
    const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return OpenFolder(path);
  ESP_ASSIGN_OR_RETURN(auto source, ByteSource::Open(path));
  const std::string_view ending = RecordEnding(path);
  if (ending.empty() || ending == ".json") {
    ESP_RETURN_IF_ERROR(CheckOneList(path));
  }
  return Open(std::move(source));
}

absl::StatusOr<std::unique_ptr<RecordReader>> RecordReader::Open(
    std::unique_ptr<ByteSource> source) {
  const std::string_view ending = RecordEnding(source->name());
  if (ending == ".csv") return MakeCsvReader(std::move(source), ',');
  if (ending == ".tsv") return MakeCsvReader(std::move(source), '\t');
  source->SkipSpace();
  const int first = source->Peek();
  if (ending == ".jsonl" && first != '[') {
    return MakeJsonLinesReader(std::move(source));
  }
  if (!ending.empty() || first == '[' || first == '{') {
    return MakeJsonReader(std::move(source));
  }
  bool whole = false;
  const std::string_view line = source->PeekLine(&whole);
  if (line.find('\t') != std::string_view::npos) {
    return MakeCsvReader(std::move(source), '\t');
  }
  if (line.find(',') != std::string_view::npos) {
    return MakeCsvReader(std::move(source), ',');
  }
  return MakeJsonLinesReader(std::move(source));
}

}  // namespace espalier
