#include "datasets/tasks/story_lines.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "datasets/tasks/sentences.h"

namespace espalier {
namespace {

// Removes a canonical number (no sign, no leading zero) from the front of
// `text`.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && absl::ascii_isdigit(text[n])) ++n;
  if (n == 0 || n > 15 || (n > 1 && text[0] == '0')) return std::nullopt;
  int64_t number = 0;
  if (!absl::SimpleAtoi(AbslView(text.substr(0, n)), &number))
    return std::nullopt;
  text.remove_prefix(n);
  return number;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

constexpr std::string_view kCorrection = "wait ";

}  // namespace

std::optional<StoryLine> ParseStoryLine(std::string_view line) {
  StoryLine out;
  out.correction = line.starts_with(kCorrection);
  if (out.correction) line.remove_prefix(kCorrection.size());
  const size_t space = line.find(' ');
  if (space == line.npos) return std::nullopt;
  out.tag = line.substr(0, space);
  line.remove_prefix(space + 1);
  const std::optional<int64_t> first = TakeNumber(line);
  if (!first) return std::nullopt;
  if (out.tag == "=") {
    if (out.correction) return std::nullopt;
    out.kind = StoryLine::Kind::kAnswer;
    out.tag.clear();
  } else if (!SentenceIndex(out.tag)) {
    return std::nullopt;
  }
  if (line.empty()) {
    out.value = *first;
    return out;
  }
  if (out.kind == StoryLine::Kind::kAnswer) return std::nullopt;
  out.kind = StoryLine::Kind::kStep;
  out.left = *first;
  out.op = line[0];
  if (std::string_view("+-*/").find(out.op) == std::string_view::npos) {
    return std::nullopt;
  }
  line.remove_prefix(1);
  const std::optional<int64_t> right = TakeNumber(line);
  if (!right || !TakeChar(line, '=')) return std::nullopt;
  const std::optional<int64_t> value = TakeNumber(line);
  if (!value || !line.empty()) return std::nullopt;
  out.right = *right;
  out.value = *value;
  return out;
}

std::string FormatStoryLine(const StoryLine& line) {
  const absl::string_view begin = AbslView(line.correction ? kCorrection : "");
  switch (line.kind) {
    case StoryLine::Kind::kOpening:
      return absl::StrCat(begin, line.tag, " ", line.value);
    case StoryLine::Kind::kStep:
      return absl::StrCat(begin, line.tag, " ", line.left,
                          std::string(1, line.op), line.right, "=", line.value);
    case StoryLine::Kind::kAnswer:
      break;
  }
  return absl::StrCat("= ", line.value);
}

std::optional<int64_t> ApplyStoryOperation(int64_t left, char op,
                                           int64_t right) {
  int64_t value = 0;
  switch (op) {
    case '+':
      value = left + right;
      break;
    case '-':
      value = left - right;
      break;
    case '*':
      if (__builtin_mul_overflow(left, right, &value)) return std::nullopt;
      break;
    case '/':
      if (right == 0 || left % right != 0) return std::nullopt;
      value = left / right;
      break;
    default:
      return std::nullopt;
  }
  if (value < 0) return std::nullopt;
  return value;
}

absl::StatusOr<StoryJudge> StoryJudge::Create(
    const std::vector<std::string>& expected) {
  StoryJudge judge;
  for (size_t k = 0; k < expected.size(); ++k) {
    const std::optional<StoryLine> line = ParseStoryLine(expected[k]);
    using Kind = StoryLine::Kind;
    const Kind kind = k == 0                    ? Kind::kOpening
                      : k + 1 < expected.size() ? Kind::kStep
                                                : Kind::kAnswer;
    if (!line || line->kind != kind) {
      return absl::InvalidArgumentError(absl::StrCat(
          "story reference: line ", k + 1, " is \"", expected[k],
          "\"; expected an opening \"a 23\", then steps \"b 23+48=71\", then "
          "the answer \"= 71\""));
    }
    judge.expected_.push_back(*line);
    if (kind != Kind::kAnswer) {
      judge.sentences_.push_back(*SentenceIndex(line->tag));
    }
  }
  if (expected.size() < 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "story reference: expected at least an opening and an answer, found ",
        expected.size(), " lines"));
  }
  return judge;
}

bool StoryJudge::TakeBack(size_t sentence) {
  const auto last = std::find_if(
      written_.rbegin(), written_.rend(),
      [&](const Written& line) { return line.sentence == sentence; });
  if (last == written_.rend()) return false;
  state_ = last->before;
  written_.erase(last.base() - 1, written_.end());
  return true;
}

StepVerdict StoryJudge::Next(std::string_view text) {
  const std::optional<StoryLine> line = ParseStoryLine(text);
  if (!line || answered_ ||
      (line->correction && !TakeBack(*SentenceIndex(line->tag)))) {
    state_.path_ok = false;
    return {};
  }
  const State before = state_;
  const StoryLine& want = expected_[state_.next];
  bool ok = line->kind == want.kind && line->tag == want.tag;
  switch (line->kind) {
    case StoryLine::Kind::kOpening:
      ok = ok && line->value == want.value;
      break;
    case StoryLine::Kind::kStep:
      ok =
          ok && line->op == want.op && line->right == want.right &&
          line->left == state_.value &&
          ApplyStoryOperation(line->left, line->op, line->right) == line->value;
      break;
    case StoryLine::Kind::kAnswer:
      ok = ok && line->value == state_.value;
      answered_ = true;
      break;
  }
  if (!answered_) {
    const size_t sentence = *SentenceIndex(line->tag);
    written_.push_back({sentence, before});
    state_.value = line->value;
    state_.next = static_cast<size_t>(
        std::upper_bound(sentences_.begin(), sentences_.end(), sentence) -
        sentences_.begin());
  }
  state_.path_ok = state_.path_ok && ok;
  return {ok, state_.path_ok};
}

}  // namespace espalier
