#include "datasets/answers/grade.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

// "1,234.50" as an exact fraction; at least one digit.
std::optional<Rational> ParseDecimal(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (!text.empty() && text[0] == '$') text.remove_prefix(1);
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
  int64_t num = 0, den = 1;
  bool point = false, digits = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' && !point) {
      // A comma separates thousands: exactly three digits follow.
      const auto digit = [&](size_t at) {
        return at < text.size() && Digit(text[at]);
      };
      const bool three = i > 0 && digit(i + 1) && digit(i + 2) &&
                         digit(i + 3) && !digit(i + 4);
      if (!three) return std::nullopt;
      continue;
    }
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!Digit(c)) return std::nullopt;
    digits = true;
    if (num > (kHighest - 9) / 10 || den > kHighest / 10) return std::nullopt;
    num = num * 10 + (c - '0');
    if (point) den *= 10;
  }
  if (!digits) return std::nullopt;
  const int64_t common = std::gcd(num, den);
  return Rational{(negative ? -num : num) / common, den / common};
}

// Whether it contains a lower-case word of more than a few letters.
bool HasWord(std::string_view text) {
  size_t run = 0;
  for (const char c : text) {
    run = c >= 'a' && c <= 'z' ? run + 1 : 0;
    if (run >= 3) return true;
  }
  return false;
}

}  // namespace

std::optional<Rational> ParseNumber(std::string_view text) {
  text = TrimBlanks(text);
  if (!text.empty() && text.back() == '.') text.remove_suffix(1);
  if (!text.empty() && text.back() == '%') text.remove_suffix(1);
  text = TrimBlanks(text);
  if (!text.empty() && text.front() == '$') text.remove_prefix(1);
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return ParseDecimal(text);
  const auto a = ParseDecimal(TrimBlanks(text.substr(0, slash)));
  const auto b = ParseDecimal(TrimBlanks(text.substr(slash + 1)));
  if (!a || !b || b->num == 0) return std::nullopt;
  const __int128 num = static_cast<__int128>(a->num) * b->den;
  const __int128 den = static_cast<__int128>(a->den) * b->num;
  constexpr __int128 kHighest = std::numeric_limits<int64_t>::max();
  if (num > kHighest || num < -kHighest || den > kHighest || den < -kHighest) {
    return std::nullopt;
  }
  const int64_t n = static_cast<int64_t>(num), d = static_cast<int64_t>(den);
  const int64_t common = std::gcd(n, d) * (d < 0 ? -1 : 1);
  return Rational{n / common, d / common};
}

std::string CanonicalAnswer(std::string_view text) {
  text = TrimBlanks(text);
  const bool percent = text.ends_with("%") || text.ends_with("%.");
  if (const auto number = ParseNumber(text)) {
    const std::string sign = percent ? "%" : "";
    if (number->den == 1) return absl::StrCat(number->num, sign);
    return absl::StrCat(number->num, "/", number->den, sign);
  }
  // Case matters in formulas, names and choices: \Delta, 2AB, C. Words consist
  // of letters with at least one in lower case, or are known to the grader.
  const bool letters =
      std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalpha(c) != 0 || std::isspace(c) != 0 ||
               std::string_view(",.'!-").find(static_cast<char>(c)) !=
                   std::string_view::npos;
      });
  const std::string lower = Lower(text);
  const bool known = !ReadAs(lower).empty();
  const bool capital_first =
      text.size() > 3 && Lower(text.substr(1)) == text.substr(1);
  const bool words = letters && (known || capital_first || HasWord(text));
  std::string folded;
  for (const char c : words ? std::string_view(lower) : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (!folded.empty() && folded.back() != ' ') folded += ' ';
    } else {
      folded += c;
    }
  }
  return folded;
}

bool SameAnswerText(std::string_view a, std::string_view b) {
  if (CanonicalAnswer(a) == CanonicalAnswer(b)) return true;
  GradePolicy policy;
  policy.extract = false;
  return GradeAnswer(a, b, policy).equal;
}

}  // namespace espalier
