#include "src/engine/answer_pattern.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/utf8.h"
#include "datasets/answers/find/extract_answer.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/answers/words/thoughts.h"

namespace espalier {
namespace {

// Models can write bytes that are not UTF-8. Each becomes "?", so the offsets
// of all other bytes are unchanged.
std::string ValidText(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t good = Utf8Stretch(text, true);
    valid += text.substr(0, good);
    text.remove_prefix(good);
    const size_t bad = text.empty() ? 0 : Utf8Stretch(text, false);
    valid.append(bad, '?');
    text.remove_prefix(bad);
  }
  return valid;
}

}  // namespace

absl::StatusOr<AnswerPattern> AnswerPattern::Create(
    const std::string& pattern) {
  AnswerPattern made;
  if (pattern == "boxed") return made;
  if (pattern == "last_number") {
    made.kind_ = Kind::kFound;
    return made;
  }
  made.kind_ = Kind::kRegex;
  auto regex = Regex::Compile("(?m)" + pattern);
  if (!regex.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(regex.status().message(),
                     "; expected boxed, last_number or a regular expression"));
  }
  if (regex->groups() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", pattern, "\" has ", regex->groups(),
        " groups; expected boxed, last_number or a regular expression with one "
        "group (...), the answer; (?:...) does not count"));
  }
  made.regex_ = *std::move(regex);
  return made;
}

std::optional<std::string> AnswerPattern::FindRaw(
    std::string_view response) const {
  response = WithoutThoughts(response);
  if (kind_ == Kind::kBoxed) return BoxedAnswer(response);
  if (kind_ == Kind::kFound) return FindFinalAnswer(response);
  const std::string text = ValidText(response);
  std::vector<TextRange> groups;
  if (!regex_->FindAllGroups(text, groups).ok() || groups.empty()) {
    return std::nullopt;
  }
  const TextRange last = groups.back();
  return text.substr(last.begin, last.end - last.begin);
}

std::optional<std::string> AnswerPattern::Find(
    std::string_view response) const {
  std::optional<std::string> found = FindRaw(response);
  if (!found) return std::nullopt;
  absl::StripAsciiWhitespace(&*found);
  if (found->empty()) return std::nullopt;
  return found;
}

}  // namespace espalier
