#include "models/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "models/tokenizer/byte_alphabet.h"
#include "nlohmann/json.hpp"

namespace espalier {

using nlohmann::json;

const char kGpt2Pattern[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

const char kLlama3Pattern[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

const char kQwen2Pattern[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

namespace {

// Class P, and the ASCII punctuation that Unicode classifies as symbols.
constexpr char kPunctuation[] = R"([\p{P}$+<=>^`|~])";

bool BoolOr(const json& object, const char* key, bool fallback) {
  const auto it = object.find(key);
  return it != object.end() && it->is_boolean() ? it->get<bool>() : fallback;
}

std::string StringOr(const json& object, const char* key,
                     const char* fallback) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>()
                                               : fallback;
}

// A pattern that matches exactly `text`.
std::string Literal(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const bool plain = (c & 0x80) != 0 || (c >= 'a' && c <= 'z') ||
                       (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      pattern += c;
    } else {
      absl::StrAppend(&pattern, "\\x{", absl::Hex(static_cast<uint8_t>(c)),
                      "}");
    }
  }
  return pattern;
}

}  // namespace

absl::StatusOr<PreTokenizer> PreTokenizer::FromJson(const json& value) {
  PreTokenizer result;
  if (!value.is_null()) ESP_RETURN_IF_ERROR(result.AddStage(value));
  return result;
}

absl::StatusOr<PreTokenizer> PreTokenizer::FromPattern(
    std::string_view pattern) {
  PreTokenizer result;
  result.byte_level_ = true;
  ESP_RETURN_IF_ERROR(result.AddPattern(pattern, Behavior::kIsolated, false));
  result.stages_.back().spelled = false;
  return result;
}

absl::Status PreTokenizer::AddStage(const json& value) {
  if (!value.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat("pre_tokenizer: expected an object, found ",
                     value.dump().substr(0, 80)));
  }
  const std::string type = StringOr(value, "type", "");
  if (type == "Sequence") {
    const auto list = value.find("pretokenizers");
    if (list == value.end() || !list->is_array()) {
      return absl::InvalidArgumentError(
          "pre_tokenizer: a Sequence without the array \"pretokenizers\"");
    }
    for (const json& item : *list) {
      // Only one level occurs; deeper nesting could exhaust the stack.
      if (item.is_object() && StringOr(item, "type", "") == "Sequence") {
        return absl::UnimplementedError(
            "pre_tokenizer: a Sequence within a Sequence");
      }
      ESP_RETURN_IF_ERROR(AddStage(item));
    }
    return absl::OkStatus();
  }
  if (type == "ByteLevel") {
    if (BoolOr(value, "add_prefix_space", true)) {
      stages_.emplace_back().prefix_space = true;
    }
    if (BoolOr(value, "use_regex", true)) {
      ESP_RETURN_IF_ERROR(AddPattern(kGpt2Pattern, Behavior::kIsolated, false));
    }
    byte_level_ = true;
    return absl::OkStatus();
  }
  if (type == "Split") return AddSplit(value);
  if (type == "Digits") {
    return BoolOr(value, "individual_digits", false)
               ? AddPattern(R"(\p{N})", Behavior::kIsolated, false)
               : AddPattern(R"(\p{N}+)", Behavior::kIsolated, false);
  }
  if (type == "Punctuation") {
    ESP_ASSIGN_OR_RETURN(
        const Behavior behavior,
        ParseBehavior(StringOr(value, "behavior", "Isolated")));
    return AddPattern(kPunctuation, behavior, false);
  }
  return absl::UnimplementedError(absl::StrCat(
      "pre_tokenizer \"", type,
      "\" is not supported; supported are ByteLevel, Split, Digits, "
      "Punctuation and Sequences of these (byte-level BPE)"));
}

absl::StatusOr<PreTokenizer::Behavior> PreTokenizer::ParseBehavior(
    const std::string& name) {
  constexpr std::pair<const char*, Behavior> kNames[] = {
      {"Isolated", Behavior::kIsolated},
      {"Removed", Behavior::kRemoved},
      {"Contiguous", Behavior::kContiguous},
      {"MergedWithPrevious", Behavior::kMergedWithPrevious},
      {"MergedWithNext", Behavior::kMergedWithNext}};
  for (const auto& [known, behavior] : kNames) {
    if (name == known) return behavior;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("pre_tokenizer: behavior \"", name,
                   "\" is unknown; expected Isolated, Removed, Contiguous, "
                   "MergedWithPrevious or MergedWithNext"));
}

absl::Status PreTokenizer::AddSplit(const json& value) {
  const auto pattern = value.find("pattern");
  std::string regex;
  if (pattern != value.end() && pattern->is_object()) {
    regex = StringOr(*pattern, "Regex", "");
    if (regex.empty()) regex = Literal(StringOr(*pattern, "String", ""));
  }
  if (regex.empty()) {
    return absl::InvalidArgumentError(
        "pre_tokenizer: Split needs \"pattern\" with a \"Regex\" or a "
        "\"String\"");
  }
  ESP_ASSIGN_OR_RETURN(const Behavior behavior,
                       ParseBehavior(StringOr(value, "behavior", "Isolated")));
  return AddPattern(regex, behavior, BoolOr(value, "invert", false));
}

absl::Status PreTokenizer::AddPattern(std::string_view pattern,
                                      Behavior behavior, bool invert) {
  absl::StatusOr<Regex> regex = Regex::Compile(pattern);
  if (!regex.ok()) {
    return absl::Status(
        regex.status().code(),
        absl::StrCat("pre_tokenizer: ", regex.status().message()));
  }
  Stage stage;
  stage.pattern.push_back(*std::move(regex));
  stage.behavior = behavior;
  stage.invert = invert;
  stage.spelled = byte_level_;
  stages_.push_back(std::move(stage));
  return absl::OkStatus();
}

absl::Status PreTokenizer::Split(std::string_view text, bool first,
                                 Pieces& pieces) const {
  pieces.text.assign(text);
  pieces.ranges.clear();
  if (text.empty()) return absl::OkStatus();
  pieces.ranges.push_back({0, static_cast<uint32_t>(text.size())});
  for (const Stage& stage : stages_) {
    if (stage.prefix_space) {
      if (first) PrependSpaces(pieces);
    } else {
      ESP_RETURN_IF_ERROR(Cut(stage, pieces));
    }
  }
  return absl::OkStatus();
}

void PreTokenizer::PrependSpaces(Pieces& pieces) {
  Pieces spaced;
  for (const TextRange range : pieces.ranges) {
    const auto begin = static_cast<uint32_t>(spaced.text.size());
    if (pieces.text[range.begin] != ' ') spaced.text += ' ';
    spaced.text.append(pieces.text, range.begin, range.end - range.begin);
    spaced.ranges.push_back({begin, static_cast<uint32_t>(spaced.text.size())});
  }
  pieces = std::move(spaced);
}

absl::Status PreTokenizer::Cut(const Stage& stage, Pieces& pieces) {
  std::vector<TextRange> cut, matches;
  cut.reserve(pieces.ranges.size());
  for (const TextRange range : pieces.ranges) {
    const std::string_view piece(pieces.text.data() + range.begin,
                                 range.end - range.begin);
    if (!stage.spelled) {
      ESP_RETURN_IF_ERROR(stage.pattern[0].FindAll(piece, matches));
    } else {
      // Match on the spelled text, then map characters back to bytes.
      const std::string spelled = SpellBytes(piece);
      ESP_RETURN_IF_ERROR(stage.pattern[0].FindAll(spelled, matches));
      std::vector<uint32_t> byte_at(spelled.size() + 1, 0);
      uint32_t at = 0;
      for (uint32_t i = 0; i < piece.size(); ++i) {
        byte_at[at] = i;
        at += static_cast<uint32_t>(
            SpellByte(static_cast<uint8_t>(piece[i])).size());
      }
      byte_at[at] = static_cast<uint32_t>(piece.size());
      for (TextRange& m : matches) m = {byte_at[m.begin], byte_at[m.end]};
    }
    for (TextRange& m : matches) {
      m.begin += range.begin;
      m.end += range.begin;
    }
    Arrange(stage, range, matches, cut);
  }
  pieces.ranges = std::move(cut);
  return absl::OkStatus();
}

void PreTokenizer::Arrange(const Stage& stage, TextRange whole,
                           const std::vector<TextRange>& matches,
                           std::vector<TextRange>& out) {
  struct Span {
    TextRange range;
    bool match;
  };
  std::vector<Span> spans;
  uint32_t at = whole.begin;
  for (const TextRange m : matches) {
    if (m.begin > at) spans.push_back({{at, m.begin}, stage.invert});
    spans.push_back({m, !stage.invert});
    at = m.end;
  }
  if (at < whole.end) spans.push_back({{at, whole.end}, stage.invert});

  const size_t first = out.size();
  const auto join = [&](uint32_t end) { out.back().end = end; };
  bool last_match = false;
  for (const auto& [range, match] : spans) {
    const bool any = out.size() > first;
    bool joined = false;
    switch (stage.behavior) {
      case Behavior::kIsolated:
        break;
      case Behavior::kRemoved:
        joined = match;
        break;
      case Behavior::kContiguous:
        joined = any && match == last_match;
        if (joined) join(range.end);
        break;
      case Behavior::kMergedWithPrevious:
        joined = any && match && !last_match;
        if (joined) join(range.end);
        break;
      case Behavior::kMergedWithNext:
        joined = any && !match && last_match;
        if (joined) join(range.end);
        break;
    }
    if (!joined) out.push_back(range);
    last_match = match;
  }
  out.erase(
      std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(first),
                     out.end(), [](TextRange r) { return r.begin == r.end; }),
      out.end());
}

}  // namespace espalier
