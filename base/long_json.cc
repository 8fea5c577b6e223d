#include "base/long_json.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/status_macros.h"

namespace espalier {
namespace {

// Writes text in large pieces, since each may be a system call.
class JsonWriter {
 public:
  JsonWriter(const std::vector<LongJson::Elements>& arrays,
             const PieceSink& put)
      : arrays_(arrays), put_(put) {}

  absl::Status Value(const nlohmann::json& json, size_t depth) {
    if (json.is_binary()) return Long(json.get_binary().subtype(), depth);
    if (!json.is_structured() || json.empty()) return Text(JsonText(json));
    const bool object = json.is_object();
    std::string before = object ? "{\n" : "[\n";
    for (const auto& [key, value] : json.items()) {
      before.append(depth + 1, ' ');
      if (object) absl::StrAppend(&before, JsonText(key), ": ");
      ESP_RETURN_IF_ERROR(Text(before));
      ESP_RETURN_IF_ERROR(Value(value, depth + 1));
      before = ",\n";
    }
    return Text("\n" + std::string(depth, ' ') + (object ? "}" : "]"));
  }

  absl::Status Flush() {
    if (text_.empty()) return absl::OkStatus();
    const absl::Status status = put_(text_);
    text_.clear();
    return status;
  }

 private:
  absl::Status Long(size_t number, size_t depth) {
    std::string before = "[\n";
    before.append(depth + 1, ' ');
    const std::string between = "," + before.substr(1);
    bool some = false;
    ESP_RETURN_IF_ERROR(arrays_[number]([&](const nlohmann::json& element) {
      ESP_RETURN_IF_ERROR(Text(some ? between : before));
      some = true;
      return Value(element, depth + 1);
    }));
    return Text(some ? "\n" + std::string(depth, ' ') + "]" : "[]");
  }

  absl::Status Text(const std::string& text) {
    constexpr size_t kPiece = 64 << 10;
    text_ += text;
    return text_.size() < kPiece ? absl::OkStatus() : Flush();
  }

  const std::vector<LongJson::Elements>& arrays_;
  const PieceSink& put_;
  std::string text_;
};

}  // namespace

nlohmann::json LongJson::Array(Elements elements) {
  arrays_.push_back(std::move(elements));
  return nlohmann::json::binary({}, arrays_.size() - 1);
}

absl::Status LongJson::Write(const PieceSink& put) const {
  JsonWriter writer(arrays_, put);
  ESP_RETURN_IF_ERROR(writer.Value(json, 0));
  return writer.Flush();
}

nlohmann::json LongJson::Whole() const {
  std::string text;
  const absl::Status status = Write([&](std::string_view piece) {
    text += piece;
    return absl::OkStatus();
  });
  return status.ok() ? ParseJsonOrNull(text) : nlohmann::json();
}

}  // namespace espalier
