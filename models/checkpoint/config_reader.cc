#include "models/checkpoint/config_reader.h"

#include "absl/strings/str_cat.h"
#include "base/foreign.h"
#include "base/parse_json.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Real files nest three deep; the limit protects the stack from hostile ones.
constexpr size_t kMaxDepth = 17;

}  // namespace

absl::StatusOr<json> ParseConfigObject(std::string_view text,
                                       const std::string& file,
                                       std::string* twice) {
  json parsed;
  const JsonOutcome outcome = ReadJson(text,
                                       {.max_depth = kMaxDepth,
                                        .refuse_repeats = false,
                                        .exact_integers = false},
                                       parsed);
  if (twice != nullptr) *twice = outcome.repeated;
  if (outcome.fault != JsonFault::kNone || !parsed.is_object()) {
    if (const std::string note = ForeignBytes(text, Wanted::kModel);
        !note.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(file, ": ", note));
    }
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": expected a JSON object, found ",
                     outcome.fault == JsonFault::kTooDeep
                         ? "deeper nesting than any model has"
                     : outcome.fault != JsonFault::kNone ? "malformed JSON"
                                                         : FoundText(parsed)));
  }
  return parsed;
}

std::string FoundText(const json& value) {
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 80) {
    text.resize(77);
    text.append("...");
  }
  return text;
}

void ConfigReader::Refuse(const std::string& key, const json& found,
                          const std::string& supported) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat(file_, ": key \"", key, "\": found ", FoundText(found),
                   ", supported: ", supported));
}

bool ConfigReader::Has(const char* key) const { return config_.contains(key); }

const json* ConfigReader::Find(const char* key) const {
  const auto found = config_.find(key);
  return found == config_.end() || found->is_null() ? nullptr : &*found;
}

int ConfigReader::Extent(const char* key, int fallback) {
  if (Has(key) && Find(key) == nullptr) {
    Refuse(key, nullptr, absl::StrCat("whole numbers 1 to ", kMaxExtent));
    return 1;
  }
  return ExtentOrNull(key, fallback);
}

int ConfigReader::ExtentOrNull(const char* key, int fallback) {
  const json* value = Find(key);
  if (value == nullptr) return fallback;
  if (!value->is_number_unsigned() || value->get<uint64_t>() < 1 ||
      value->get<uint64_t>() > static_cast<uint64_t>(kMaxExtent)) {
    Refuse(key, *value, absl::StrCat("whole numbers 1 to ", kMaxExtent));
    return 1;
  }
  return value->get<int>();
}

double ConfigReader::Positive(const char* key, double fallback) {
  const json* value = Find(key);
  if (value == nullptr) return fallback;
  // Not (x > 0), so that NaN is rejected too. What is 0 in fp32 is not above 0.
  if (!value->is_number() || !(value->get<float>() > 0) ||
      !(value->get<double>() < 1e30)) {
    Refuse(key, *value, "numbers above 0");
    return fallback;
  }
  return value->get<double>();
}

bool ConfigReader::Flag(const char* key, bool fallback) {
  const json* value = Find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) {
    Refuse(key, *value, "true, false");
    return fallback;
  }
  return value->get<bool>();
}

}  // namespace espalier
