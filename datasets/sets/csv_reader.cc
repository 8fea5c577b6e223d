// Records of CSV and TSV files (RFC 4180): a header row, then one record per
// row. A quoted cell may hold the delimiter, line ends and doubled quotes.
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/utf8.h"
#include "datasets/sets/record_reader.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

// Whether a cell is a number, with commas between thousands.
bool IsNumber(const std::string& cell) {
  bool digit = false;
  for (const char c : cell) {
    digit |= c >= '0' && c <= '9';
    if (std::string_view("0123456789.,-").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return digit;
}

// The columns of a file without a header row, inferred from its first record;
// none if `cells` is a header. MMLU has a question, four options and the right
// one's letter, MGSM a question and a number.
std::vector<std::string> NamesWithoutRow(const std::vector<std::string>& cells,
                                         char delimiter) {
  const auto letter = [](const std::string& cell) {
    return cell.size() == 1 && cell[0] >= 'A' && cell[0] <= 'D';
  };
  if (cells.size() == 6 && letter(cells[5]) && !letter(cells[4])) {
    return {"question", "A", "B", "C", "D", "answer"};
  }
  if (cells.size() == 2 && delimiter == '\t' && IsNumber(cells[1])) {
    return {"question", "answer_number"};
  }
  return {};
}

class CsvReader : public RecordReader {
 public:
  CsvReader(std::unique_ptr<ByteSource> source, char delimiter)
      : source_(std::move(source)), delimiter_(delimiter) {}

  absl::Status ReadNames() {
    const std::string place = source_->Place();
    ESP_ASSIGN_OR_RETURN(const bool found, ReadRow());
    if (!found) {
      return absl::InvalidArgumentError(absl::StrCat(
          place, ": expected a row of column names, found an empty file"));
    }
    names_ = NamesWithoutRow(cells_, delimiter_);
    held_ = !names_.empty();
    if (held_) return absl::OkStatus();
    names_ = std::move(cells_);
    std::set<std::string> seen;
    for (const std::string& name : names_) {
      if (!seen.insert(name).second) {
        return absl::InvalidArgumentError(
            absl::StrCat(place, ": the first row names the column \"", name,
                         "\" twice; expected distinct column names"));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<Record>> Next() override {
    if (!held_) {
      ESP_ASSIGN_OR_RETURN(const bool found, ReadRow());
      if (!found) return std::optional<Record>();
    }
    held_ = false;
    if (cells_.size() != names_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          place_, ": the row has ", cells_.size(), " cells, expected ",
          names_.size(), " as in the first row",
          cells_.size() > names_.size() ? "; a cell with commas needs quotes"
                                        : ""));
    }
    Record record{place_, nlohmann::json::object()};
    for (size_t i = 0; i < names_.size(); ++i) {
      record.fields[names_[i]] = std::move(cells_[i]);
    }
    return record;
  }

 private:
  // Reads the cells of the next row that is not blank.
  absl::StatusOr<bool> ReadRow() {
    while (true) {
      place_ = source_->Place();
      if (source_->Peek() < 0) {
        ESP_RETURN_IF_ERROR(source_->status());
        return false;
      }
      cells_.assign(1, "");
      bytes_ = 0;
      problem_.clear();
      while (ReadCell()) cells_.emplace_back();
      // A row broken off by truncation does not count.
      ESP_RETURN_IF_ERROR(source_->status());
      if (!problem_.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(place_, ": ", problem_));
      }
      if (cells_.size() == 1 && cells_[0].empty()) continue;
      for (size_t i = 0; i < cells_.size(); ++i) {
        if (!FirstInvalidUtf8(cells_[i])) continue;
        return absl::InvalidArgumentError(
            absl::StrCat(place_, ": cell ", i + 1,
                         " of the row is not UTF-8; save the file as UTF-8"));
      }
      return true;
    }
  }

  // Reads a cell and its delimiter; false if the row ends too.
  bool ReadCell() {
    bool quoted = false;
    if (source_->Peek() == '"') {
      source_->Get();
      quoted = true;
      if (!ReadQuoted()) return false;
    }
    while (true) {
      int c = source_->Get();
      if (c == '\r' && (source_->Peek() == '\n' || source_->Peek() < 0)) {
        c = source_->Get();
      }
      if (c < 0 || c == '\n') return false;
      if (c == delimiter_) return true;
      if (quoted && problem_.empty()) {
        problem_ = absl::StrCat(
            "cell ", cells_.size(),
            " continues after its closing quote; double a quote inside a cell");
      }
      Append(c);
    }
  }

  // Up to the closing quote; false if the file ends before it.
  bool ReadQuoted() {
    while (true) {
      const int c = source_->Get();
      if (c < 0) {
        if (problem_.empty()) {
          problem_ = absl::StrCat("the quote that opens cell ", cells_.size(),
                                  " is never closed");
        }
        return false;
      }
      if (c == '"') {
        if (source_->Peek() != '"') return true;
        source_->Get();
      }
      Append(c);
    }
  }

  void Append(int c) {
    if (++bytes_ <= kMaxRecordBytes) {
      cells_.back().push_back(static_cast<char>(c));
      return;
    }
    cells_.back().clear();
    cells_.back().shrink_to_fit();
    problem_ =
        absl::StrCat("the row is longer than ", kMaxRecordBytes >> 20,
                     " MiB, which is the limit; is a closing quote missing?");
  }

  std::unique_ptr<ByteSource> source_;
  const char delimiter_;
  std::vector<std::string> names_;
  std::vector<std::string> cells_;
  bool held_ = false;    // cells_ hold a record that is not returned yet
  size_t bytes_ = 0;     // of the row's cells
  std::string place_;    // start of the row
  std::string problem_;  // of the row
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordReader>> MakeCsvReader(
    std::unique_ptr<ByteSource> source, char delimiter) {
  auto reader = std::make_unique<CsvReader>(std::move(source), delimiter);
  ESP_RETURN_IF_ERROR(reader->ReadNames());
  return reader;
}

}  // namespace espalier
