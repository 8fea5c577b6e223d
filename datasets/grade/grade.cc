#include "datasets/grade/grade.h"

#include <cctype>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "datasets/grade/characters.h"
#include "datasets/grade/clean_text.h"
#include "datasets/grade/grade_answer.h"

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
      // A comma parts thousands: three digits follow, then no fourth.
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
  if (const auto number = ParseNumber(text)) {
    if (number->den == 1) return absl::StrCat(number->num);
    return absl::StrCat(number->num, "/", number->den);
  }
  // In formulas and for single letters case counts: \Delta, choice C.
  bool words = text.find_first_of("\\^_") == std::string_view::npos;
  bool run = false;
  for (size_t i = 1; i < text.size(); ++i) {
    run |= std::isalpha(static_cast<unsigned char>(text[i])) != 0 &&
           std::isalpha(static_cast<unsigned char>(text[i - 1])) != 0;
  }
  words &= run;
  std::string folded;
  for (const char c : TrimBlanks(text)) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (!folded.empty() && folded.back() != ' ') folded += ' ';
    } else {
      folded +=
          words ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : c;
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
