// Records of JSON lines and of JSON documents.
#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "datasets/sets/json_lists.h"
#include "datasets/sets/record_reader.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Json = nlohmann::json;

absl::Status TooLong(const std::string& place) {
  return absl::InvalidArgumentError(
      absl::StrCat(place, ": the record is longer than ", kMaxRecordBytes >> 20,
                   " MiB, which is the limit; shorten or remove it"));
}

class JsonLinesReader : public RecordReader {
 public:
  explicit JsonLinesReader(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)) {}

  absl::StatusOr<std::optional<Record>> Next() override {
    while (true) {
      std::string place = source_->Place();
      bool cut = false;
      if (!source_->ReadLine(&line_, &cut)) {
        ESP_RETURN_IF_ERROR(source_->status());
        return std::optional<Record>();
      }
      // A line broken off by truncation is not a record.
      ESP_RETURN_IF_ERROR(source_->status());
      if (cut) return TooLong(place);
      if (line_.find_first_not_of(" \t\r") == std::string::npos) continue;
      ESP_ASSIGN_OR_RETURN(Json fields, ParseJsonObject(line_, place));
      return Record{std::move(place), std::move(fields)};
    }
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string line_;
};

absl::Status NotAnObject(const std::string& place, const Json& value) {
  return absl::InvalidArgumentError(
      absl::StrCat(place, ": expected a JSON object, found a value of type ",
                   value.type_name()));
}

bool IsListOfObjects(const Json& value) {
  return value.is_array() && !value.empty() && value[0].is_object();
}

// Values in sequence: the elements of lists, the elements of a list inside an
// object, other objects as they are.
class JsonReader : public RecordReader {
 public:
  explicit JsonReader(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)) {}

  absl::StatusOr<std::optional<Record>> Next() override {
    while (true) {
      if (!ready_.empty()) {
        absl::StatusOr<Record> record = std::move(ready_.front());
        ready_.pop_front();
        if (!record.ok()) return record.status();
        return *std::move(record);
      }
      source_->SkipSpace();
      if (in_list_) {
        ESP_ASSIGN_OR_RETURN(const bool element, ElementBegins());
        if (element) return Element();
        continue;
      }
      if (in_object_) {
        ESP_ASSIGN_OR_RETURN(const bool whole, NextMember());
        if (whole) return Whole();
        continue;
      }
      const int c = source_->Peek();
      if (c < 0) {
        ESP_RETURN_IF_ERROR(source_->status());
        return std::optional<Record>();
      }
      if (c == '[') {
        Begin(&in_list_);
      } else if (c == '{') {
        ESP_RETURN_IF_ERROR(BeginObject());
      } else {
        return Broken("a list or an object");
      }
    }
  }

 private:
  void Begin(bool* state) {
    source_->Get();
    *state = first_ = true;
  }

  // Objects on a line of their own are records, if more of them follow or they
  // hold no list of records.
  absl::Status BeginObject() {
    const std::string place = source_->Place();
    bool whole = false;
    std::string_view line;
    // Once per line: with many objects in one line, only the first is tried as
    // a line.
    if (source_->line() != line_tried_) line = source_->PeekLine(&whole);
    line_tried_ = source_->line();
    if (whole) {
      auto object = ParseJsonObject(line, place);
      if (object.ok()) {
        std::string text;
        bool cut = false;
        source_->ReadLine(&text, &cut);
        source_->SkipSpace();
        const bool alone = source_->Peek() < 0;
        if (alone && !one_line_records_) {
          std::vector<std::string> lists;
          for (const auto& [name, value] : object->items()) {
            if (IsListOfObjects(value)) lists.push_back(name);
          }
          ESP_RETURN_IF_ERROR(OneListOf(place, lists));
          for (auto& [name, value] : object->items()) {
            if (!IsListOfObjects(value)) continue;
            for (Json& element : value) {
              if (element.is_object()) {
                ready_.push_back(Record{place, std::move(element)});
              } else {
                ready_.push_back(NotAnObject(place, element));
              }
            }
            return absl::OkStatus();
          }
        }
        one_line_records_ = true;
        ready_.push_back(Record{place, *std::move(object)});
        return absl::OkStatus();
      }
      if (one_line_records_) {
        std::string text;
        bool cut = false;
        source_->ReadLine(&text, &cut);
        return object.status();
      }
    }
    object_place_ = place;
    members_.clear();
    too_long_ = false;
    Begin(&in_object_);
    return absl::OkStatus();
  }

  absl::Status Broken(std::string_view expected) {
    ESP_RETURN_IF_ERROR(source_->status());
    const int c = source_->Peek();
    const std::string found =
        c < 0 ? "the end of the file"
              : absl::StrCat("\"", std::string(1, static_cast<char>(c)), "\"");
    return absl::DataLossError(absl::StrCat(
        source_->Place(), ": expected ", std::string(expected), ", found ",
        found, "; nothing from here on can be read as JSON"));
  }

  // Skips the comma before the next element or member; false if the list or
  // object ends with `end`.
  absl::StatusOr<bool> MoreBefore(char end, bool* state) {
    if (source_->Peek() == end) {
      source_->Get();
      *state = false;
      return false;
    }
    if (!first_) {
      if (source_->Peek() != ',') {
        return Broken(absl::StrCat("a comma or ", std::string(1, end)));
      }
      source_->Get();
      source_->SkipSpace();
    }
    first_ = false;
    return true;
  }

  absl::StatusOr<bool> ElementBegins() {
    ESP_ASSIGN_OR_RETURN(const bool more, MoreBefore(']', &in_list_));
    if (!more && in_object_of_list_) {
      in_object_of_list_ = false;
      ESP_RETURN_IF_ERROR(SkipMembers());
    }
    return more;
  }

  absl::StatusOr<std::optional<Record>> Element() {
    std::string place = source_->Place();
    std::string text;
    bool cut = false;
    ESP_RETURN_IF_ERROR(Capture(&text, &cut));
    if (cut) return TooLong(place);
    ESP_ASSIGN_OR_RETURN(Json fields, ParseJsonObject(text, place));
    return Record{std::move(place), std::move(fields)};
  }

  // Reads a member of the current object; true if the object has ended.
  absl::StatusOr<bool> NextMember() {
    ESP_ASSIGN_OR_RETURN(const bool more, MoreBefore('}', &in_object_));
    if (!more) return true;
    std::string member;
    ESP_RETURN_IF_ERROR(CaptureName(&member));
    if (source_->Peek() == '[') {
      source_->Get();
      source_->SkipSpace();
      if (source_->Peek() == '{') {
        in_object_ = false;
        in_list_ = in_object_of_list_ = first_ = true;
        list_ = NameOf(member);
        return false;
      }
      member += '[';
      bool cut = false;
      ESP_RETURN_IF_ERROR(CaptureRest(1, &member, &cut));
      too_long_ = too_long_ || cut;
    } else {
      bool cut = false;
      ESP_RETURN_IF_ERROR(Capture(&member, &cut));
      too_long_ = too_long_ || cut;
    }
    too_long_ = too_long_ || members_.size() + member.size() > kMaxRecordBytes;
    if (!too_long_) {
      absl::StrAppend(&members_, members_.empty() ? "" : ",", member);
    }
    return false;
  }

  absl::StatusOr<std::optional<Record>> Whole() {
    if (too_long_) return TooLong(object_place_);
    ESP_ASSIGN_OR_RETURN(
        Json fields,
        ParseJsonObject(absl::StrCat("{", members_, "}"), object_place_));
    return Record{object_place_, std::move(fields)};
  }

  // What follows the list in its object.
  absl::Status SkipMembers() {
    in_object_ = true;
    first_ = false;
    while (true) {
      source_->SkipSpace();
      ESP_ASSIGN_OR_RETURN(const bool more, MoreBefore('}', &in_object_));
      if (!more) return absl::OkStatus();
      std::string member;
      bool cut = false;
      ESP_RETURN_IF_ERROR(CaptureName(&member));
      const std::string name = NameOf(member);
      if (source_->Peek() == '[') {
        source_->Get();
        source_->SkipSpace();
        if (source_->Peek() == '{') {
          ESP_RETURN_IF_ERROR(OneListOf(object_place_, {list_, name}));
        }
        ESP_RETURN_IF_ERROR(CaptureRest(1, &member, &cut));
      } else {
        ESP_RETURN_IF_ERROR(Capture(&member, &cut));
      }
    }
  }

  // `member` is what CaptureName found.
  static std::string NameOf(const std::string& member) {
    const Json name = ParseJsonOrNull(member.substr(0, member.size() - 1));
    return name.is_string() ? name.get<std::string>() : member;
  }

  // "name" and the colon after it.
  absl::Status CaptureName(std::string* out) {
    if (source_->Peek() != '"') return Broken("a name in quotes");
    bool cut = false;
    ESP_RETURN_IF_ERROR(Capture(out, &cut));
    source_->SkipSpace();
    if (source_->Peek() != ':') return Broken("a colon");
    source_->Get();
    source_->SkipSpace();
    *out += ':';
    return absl::OkStatus();
  }

  // The text of one value: up to the bracket that closes it, the quote that
  // ends it, or what ends a number or word.
  absl::Status Capture(std::string* out, bool* cut) {
    return CaptureRest(0, out, cut);
  }

  absl::Status CaptureRest(int64_t depth, std::string* out, bool* cut) {
    const int64_t begin = source_->line();
    const size_t before = out->size();
    bool in_text = false;
    while (true) {
      const int c = source_->Peek();
      if (c < 0) {
        ESP_RETURN_IF_ERROR(source_->status());
        return absl::DataLossError(absl::StrCat(
            source_->Place(), ": the file ends inside the value that begins ",
            "in line ", begin, "; it seems to be truncated, fetch it again"));
      }
      const bool ends_word = c == ',' || c == ']' || c == '}' || c == ' ' ||
                             c == '\n' || c == '\r' || c == '\t' || c == ':';
      if (!in_text && depth == 0 && ends_word) {
        if (out->size() == before && !*cut) return Broken("a value");
        return absl::OkStatus();
      }
      source_->Get();
      Append(c, out, cut);
      if (in_text) {
        if (c == '\\') {
          if (source_->Peek() >= 0) Append(source_->Get(), out, cut);
        } else if (c == '"') {
          in_text = false;
          if (depth == 0) return absl::OkStatus();
        }
      } else if (c == '"') {
        in_text = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        return absl::OkStatus();
      }
    }
  }

  static void Append(int c, std::string* out, bool* cut) {
    if (*cut) return;
    if (out->size() >= kMaxRecordBytes) {
      *cut = true;
      out->clear();
      out->shrink_to_fit();
      return;
    }
    out->push_back(static_cast<char>(c));
  }

  std::unique_ptr<ByteSource> source_;
  std::deque<absl::StatusOr<Record>> ready_;  // read but not yet returned
  bool one_line_records_ = false;             // a line was a record
  int64_t line_tried_ = 0;                    // the last one tried as a whole
  bool in_list_ = false;                      // of records
  bool in_object_of_list_ = false;
  bool in_object_ = false;  // that may be a record or hold a list of them
  bool first_ = false;      // no element or member of it was read yet
  std::string object_place_;
  std::string list_;     // its member that is in_object_of_list_
  std::string members_;  // of the object, as text
  bool too_long_ = false;
};

}  // namespace

std::unique_ptr<RecordReader> MakeJsonLinesReader(
    std::unique_ptr<ByteSource> source) {
  return std::make_unique<JsonLinesReader>(std::move(source));
}

std::unique_ptr<RecordReader> MakeJsonReader(
    std::unique_ptr<ByteSource> source) {
  return std::make_unique<JsonReader>(std::move(source));
}

}  // namespace espalier
