#include "datasets/tasks/response_lines.h"

#include "absl/strings/ascii.h"
#include "base/text.h"

namespace espalier {
namespace {

bool HasAnswer(std::string_view line) {
  return line.starts_with("= ") &&
         line.find_first_not_of(" \t\r", 2) != std::string_view::npos;
}

std::optional<std::string> AnswerOfLine(std::string_view line) {
  if (!line.starts_with("= ")) return std::nullopt;
  return CanonicalInteger(line.substr(2));
}

}  // namespace

std::vector<std::string_view> ResponseSteps(std::string_view response) {
  std::vector<std::string_view> steps;
  while (!response.empty()) {
    const size_t end = response.find('\n');
    if (end == response.npos) {
      if (HasAnswer(response)) steps.push_back(response);
      break;
    }
    steps.push_back(response.substr(0, end));
    response.remove_prefix(end + 1);
  }
  return steps;
}

std::optional<std::string> LastAnswerText(std::string_view response) {
  std::optional<std::string> answer;
  for (const std::string_view line : ResponseSteps(response)) {
    if (!HasAnswer(line)) continue;
    answer.emplace(absl::StripAsciiWhitespace(AbslView(line.substr(2))));
  }
  return answer;
}

std::optional<std::string> LastAnswerLine(std::string_view response) {
  std::optional<std::string> answer;
  for (const std::string_view line : ResponseSteps(response)) {
    if (std::optional<std::string> found = AnswerOfLine(line)) {
      answer = std::move(found);
    }
  }
  return answer;
}

std::optional<std::string> CanonicalInteger(std::string_view text) {
  absl::string_view digits = absl::StripAsciiWhitespace(AbslView(text));
  const bool negative = !digits.empty() && digits[0] == '-';
  if (negative) digits.remove_prefix(1);
  if (digits.empty()) return std::nullopt;
  for (const char c : digits) {
    if (!absl::ascii_isdigit(c)) return std::nullopt;
  }
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  std::string out = negative && digits != "0" ? "-" : "";
  return out.append(digits.data(), digits.size());
}

}  // namespace espalier
