#include "models/tokenizer/text_normalizer.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/tokenizer/json_fields.h"
#include "models/tokenizer/piece_model.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Published steps lengthen a text by a few times at most; a hostile file can
// double it step by step.
constexpr size_t kMostGrowth = 64;
constexpr size_t kSpareBytes = 1 << 16;

std::string Collapse(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  // At the end, literal marks in the text are removed along with the spaces.
  while (true) {
    if (absl::EndsWith(out, " ")) {
      out.pop_back();
    } else if (absl::EndsWith(out, AbslView(kSpaceMark))) {
      out.resize(out.size() - kSpaceMark.size());
    } else {
      return out;
    }
  }
}

void Prepend(const NormalizerStep& step, TextPlace place, std::string& text) {
  if (text.empty() || place == TextPlace::kContinued ||
      (step.first_only && place != TextPlace::kStart) ||
      (step.unless_there && absl::StartsWith(text, step.to))) {
    return;
  }
  text.insert(0, step.to);
}

}  // namespace

absl::StatusOr<std::string> TextNormalizer::Apply(std::string_view text,
                                                  TextPlace place) const {
  const size_t most = kMostGrowth * text.size() + kSpareBytes;
  std::string out(text);
  for (const NormalizerStep& step : steps_) {
    switch (step.kind) {
      case NormalizerStep::kForm: {
        ESP_ASSIGN_OR_RETURN(out, Normalized(out, step.form));
        break;
      }
      case NormalizerStep::kCharMap:
        out = step.map->Apply(out, most);
        break;
      case NormalizerStep::kCollapse:
        out = Collapse(out);
        break;
      case NormalizerStep::kPrepend:
        Prepend(step, place, out);
        break;
      case NormalizerStep::kReplace:
        out = absl::StrReplaceAll(out, {{step.from, step.to}});
        break;
    }
    if (out.size() > most) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the normalizer produces ", out.size(),
                       " bytes or more from a text of ", text.size(),
                       "; expected at most ", kMostGrowth, " times as many"));
    }
  }
  return out;
}

absl::StatusOr<TextNormalizer> TextNormalizer::FromJson(const json& value) {
  TextNormalizer result;
  if (value.is_null()) return result;
  if (TextField(value, "type") != "Sequence") {
    ESP_RETURN_IF_ERROR(result.AddFromJson(value));
    return result;
  }
  const json& list = JsonField(value, "normalizers");
  if (!list.is_array()) {
    return WrongType("normalizer: normalizers of a Sequence", "an array", list);
  }
  for (const json& item : list) {
    ESP_RETURN_IF_ERROR(result.AddFromJson(item));
  }
  return result;
}

absl::Status TextNormalizer::AddFromJson(const json& value) {
  const std::string type = TextField(value, "type");
  constexpr std::pair<const char*, NormalForm> kForms[] = {
      {"NFC", NormalForm::kNfc},
      {"NFD", NormalForm::kNfd},
      {"NFKC", NormalForm::kNfkc},
      {"NFKD", NormalForm::kNfkd}};
  for (const auto& [name, form] : kForms) {
    if (type == name) {
      Add({.kind = NormalizerStep::kForm, .form = form});
      return absl::OkStatus();
    }
  }
  if (type == "Prepend") {
    Add({.kind = NormalizerStep::kPrepend, .to = TextField(value, "prepend")});
    return absl::OkStatus();
  }
  if (type == "Replace") {
    const std::string from = TextField(JsonField(value, "pattern"), "String");
    if (from.empty()) {
      return WrongType("normalizer: pattern of Replace",
                       "an object with a \"String\"",
                       JsonField(value, "pattern"));
    }
    const std::string to = TextField(value, "content");
    if (to.size() > kMostGrowth * from.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "normalizer: Replace of ", from.size(), " bytes by ", to.size(),
          "; expected at most ", kMostGrowth, " times as many"));
    }
    Add({.kind = NormalizerStep::kReplace, .from = from, .to = to});
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      absl::StrCat("normalizer \"", type,
                   "\" is not supported; supported are NFC, NFD, NFKC, NFKD, "
                   "Prepend, Replace and one Sequence of these"));
}

}  // namespace espalier
