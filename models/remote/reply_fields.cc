#include "models/remote/reply_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace espalier {

using nlohmann::json;

absl::Status WrongField(std::string_view field, std::string_view expected,
                        const json& found) {
  return absl::InvalidArgumentError(absl::StrCat(
      "the server's reply, field ", AbslView(field), ": expected ",
      AbslView(expected), ", found ",
      found.is_null() ? "none"
                      : absl::StrCat("a value of type ", found.type_name())));
}

const json& Field(const json& object, std::string_view name) {
  static const json& none = *new json();
  if (!object.is_object()) return none;
  const auto found = object.find(std::string(name));
  return found == object.end() ? none : *found;
}

absl::StatusOr<const json*> ListField(const json& object,
                                      std::string_view name) {
  const json& list = Field(object, name);
  if (!list.is_array()) return WrongField(name, "a list", list);
  return &list;
}

absl::StatusOr<int32_t> TokenOf(const json& value, std::string_view field) {
  int64_t id = -1;
  if (value.is_number_integer()) {
    id = value.is_number_unsigned() &&
                 value.get<uint64_t>() > std::numeric_limits<int32_t>::max()
             ? -1
             : value.get<int64_t>();
  } else if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    absl::string_view digits = text;
    if (!absl::ConsumePrefix(&digits, "token_id:") ||
        !absl::SimpleAtoi(digits, &id)) {
      id = -1;
    }
  }
  if (id < 0 || id > std::numeric_limits<int32_t>::max()) {
    return WrongField(field, "token ids", value);
  }
  return static_cast<int32_t>(id);
}

absl::StatusOr<std::vector<int32_t>> TokensField(const json& object,
                                                 std::string_view name) {
  ESP_ASSIGN_OR_RETURN(const json* list, ListField(object, name));
  std::vector<int32_t> tokens;
  tokens.reserve(list->size());
  for (const json& entry : *list) {
    ESP_ASSIGN_OR_RETURN(tokens.emplace_back(), TokenOf(entry, name));
  }
  return tokens;
}

absl::StatusOr<float> LogprobOf(const json& value, std::string_view field) {
  if (value.is_null()) return std::numeric_limits<float>::quiet_NaN();
  if (!value.is_number()) return WrongField(field, "a log-prob", value);
  const double logprob = value.get<double>();
  // Rounding may leave a probability just above 1.
  if (std::isnan(logprob) || logprob > 1e-3) {
    return absl::InvalidArgumentError(
        absl::StrCat("the server's reply, field ", AbslView(field),
                     ": expected log-probs of 0 or below, found ", logprob));
  }
  constexpr double kLowest = -1e30;
  return static_cast<float>(std::min(0.0, std::max(kLowest, logprob)));
}

absl::StatusOr<float> KnownLogprobOf(const json& value,
                                     std::string_view field) {
  if (value.is_null()) return WrongField(field, "a log-prob", value);
  return LogprobOf(value, field);
}

int64_t CountField(const json& object, std::string_view name) {
  const json& value = Field(object, name);
  if (!value.is_number_integer() || value.get<int64_t>() < 0) return 0;
  return value.get<int64_t>();
}

std::string TextField(const json& object, std::string_view name) {
  const json& value = Field(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

void ReadWeightVersions(const json& object, std::vector<std::string>& weights) {
  const json& spans = Field(object, "weight_versions");
  if (!spans.is_array()) return;
  for (const json& span : spans) {
    std::string version = TextField(span, "version");
    if (!version.empty() &&
        std::find(weights.begin(), weights.end(), version) == weights.end()) {
      weights.push_back(std::move(version));
    }
  }
}

std::string ModelSize(const json& entry) {
  const json& meta = Field(entry, "meta");
  if (!meta.is_object()) return "";
  return absl::StrCat(CountField(meta, "n_params"), " parameters, ",
                      CountField(meta, "size"), " bytes");
}

std::string WithIds(const json& body, std::string_view name,
                    absl::Span<const int32_t> ids) {
  std::string text = JsonText(body);
  text.insert(1, absl::StrCat("\"", AbslView(name), "\":[",
                              absl::StrJoin(ids, ","), "],"));
  return text;
}

void ReadUsage(const json& reply, int64_t& prompt, int64_t& cached) {
  const json& usage = Field(reply, "usage");
  prompt = CountField(usage, "prompt_tokens");
  cached = CountField(Field(usage, "prompt_tokens_details"), "cached_tokens");
}

absl::StatusOr<std::vector<const json*>> ChoicesByIndex(const json& reply,
                                                        int n) {
  ESP_ASSIGN_OR_RETURN(const json* choices, ListField(reply, "choices"));
  if (choices->size() != static_cast<size_t>(n)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the server's reply, field choices: expected ", n,
                     ", found ", choices->size()));
  }
  std::vector<const json*> out(choices->size());
  for (const json& choice : *choices) {
    const auto index = static_cast<size_t>(CountField(choice, "index"));
    if (index >= out.size() || out[index] != nullptr) {
      return absl::InvalidArgumentError(
          "the server's reply, field index: choices are not numbered from 0, "
          "each once");
    }
    out[index] = &choice;
  }
  return out;
}

}  // namespace espalier
