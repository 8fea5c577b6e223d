#include "datasets/tasks/find_answer.h"

#include <algorithm>

#include "datasets/grade/grade.h"

namespace espalier {
namespace {

// The text between the brace at `open` and the one that closes it.
std::optional<std::string> InBraces(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;  // whatever it is, it is no brace
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && --depth == 0) {
      return std::string(text.substr(open + 1, i - open - 1));
    }
  }
  return std::nullopt;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<std::string> LastBoxed(std::string_view text) {
  constexpr std::string_view kMark = "\\boxed";
  size_t at = text.rfind(kMark);
  while (at != std::string_view::npos) {
    const size_t open = text.find_first_not_of(' ', at + kMark.size());
    if (open != std::string_view::npos && text[open] == '{') {
      if (auto found = InBraces(text, open)) return found;
    }
    text = text.substr(0, at);  // so that all of it is looked at only once
    at = text.rfind(kMark);
  }
  return std::nullopt;
}

std::optional<std::string> AfterLast(std::string_view text,
                                     std::string_view mark) {
  const size_t at = text.rfind(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + mark.size());
  rest = rest.substr(0, rest.find('\n'));
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == ':')) {
    rest.remove_prefix(1);
  }
  if (rest.empty()) return std::nullopt;
  return std::string(rest);
}

std::optional<std::string> LastNumber(std::string_view text) {
  const auto part = [&](size_t i) {
    const char c = text[i];
    return IsDigit(c) || c == '.' || c == ',' || c == '/';
  };
  for (size_t end = text.size(); end > 0;) {
    while (end > 0 && !IsDigit(text[end - 1])) --end;
    size_t begin = end;
    while (begin > 0 && part(begin - 1)) --begin;
    if (begin > 0 && text[begin - 1] == '-') --begin;
    const std::string_view all = text.substr(begin, end - begin);
    if (ParseNumber(all)) return std::string(all);
    // "1,2,3" is a list; its last digits are a number.
    const std::string_view last =
        all.substr(std::min(all.find_last_of("-.,/") + 1, all.size()));
    if (ParseNumber(last)) return std::string(last);
    end = begin;
  }
  return std::nullopt;
}

}  // namespace espalier
