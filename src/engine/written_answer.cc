#include "src/engine/written_answer.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "absl/strings/ascii.h"
#include "base/text.h"
#include "datasets/answers/grade.h"

namespace espalier {
namespace {

bool InNumber(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0 ||
         std::string_view(".,/-+").find(c) != std::string_view::npos;
}

// The last number in `text` with this value.
std::optional<std::string> LastSpelling(const Rational& value,
                                        std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    if (!InNumber(text[end - 1])) {
      --end;
      continue;
    }
    size_t begin = end;
    while (begin > 0 && InNumber(text[begin - 1])) --begin;
    std::string_view number = text.substr(begin, end - begin);
    while (!number.empty() && (number.back() == '.' || number.back() == ',')) {
      number.remove_suffix(1);
    }
    if (ParseNumber(number) == value) return std::string(number);
    end = begin;
  }
  return std::nullopt;
}

}  // namespace

std::string AnswerAsWritten(const std::string& answer,
                            std::string_view response) {
  if (answer.empty() || response.find(answer) != response.npos) return answer;
  if (const auto value = ParseNumber(answer); value && answer.back() != '%') {
    return LastSpelling(*value, response).value_or(answer);
  }
  const std::string lower = absl::AsciiStrToLower(AbslView(response));
  const size_t at = lower.rfind(absl::AsciiStrToLower(answer));
  if (at == lower.npos) return answer;
  return std::string(response.substr(at, answer.size()));
}

}  // namespace espalier
