#include "datasets/answers/words/decimals.h"

#include <algorithm>
#include <string>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"

namespace espalier {
namespace {

// "1,22" as in much of Europe: only a decimal comma.
std::string EuropeanDecimal(std::string_view text) {
  text = TrimBlanks(text);
  for (const std::string_view sign :
       {"$", "\\$", "\u20ac", "\u00a3", "\\euro", "\\pounds"}) {
    if (text.starts_with(sign)) text = TrimBlanks(text.substr(sign.size()));
    if (text.ends_with(sign)) {
      text = TrimBlanks(text.substr(0, text.size() - sign.size()));
    }
  }
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos || comma == 0) return {};
  const std::string_view behind = text.substr(comma + 1);
  std::string_view before = text.substr(0, comma);
  if (before.starts_with("-")) before.remove_prefix(1);
  const auto digits = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), Digit);
  };
  if (!digits(before) || !digits(behind) ||
      (behind.size() == 3 && before[0] != '0')) {
    return {};
  }
  std::string out(text);
  out[comma] = '.';
  return out;
}

// "1,000.99" and "$1.50" without thousands separators and currency signs.
std::string PlainDecimal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (Digit(c) || c == '.' || c == '-')
      out += c;
    else if (std::string_view("$, \\").find(c) == std::string_view::npos) {
      return {};
    }
  }
  return out;
}

// The words behind the last digit: the unit of "2,5 kg".
std::string_view WordsBehind(std::string_view text) {
  const size_t digit = text.find_last_of("0123456789");
  if (digit == std::string_view::npos) return {};
  const std::string_view rest = text.substr(digit + 1);
  const bool words = std::all_of(rest.begin(), rest.end(),
                                 [](char c) { return Letter(c) || c == ' '; });
  return words ? TrimBlanks(rest) : std::string_view();
}

}  // namespace

bool SameDecimal(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty() || a.size() > 60 || b.size() > 60) return false;
  const std::string_view unit = WordsBehind(a), other = WordsBehind(b);
  if (!unit.empty() && !other.empty() && unit != other) return false;
  a = TrimBlanks(a);
  b = TrimBlanks(b);
  a.remove_suffix(unit.size());
  b.remove_suffix(other.size());
  const std::string x = EuropeanDecimal(a), y = EuropeanDecimal(b);
  if (x.empty() == y.empty()) return false;
  const std::string decimal = PlainDecimal(x.empty() ? y : x);
  return !decimal.empty() && decimal == PlainDecimal(x.empty() ? a : b);
}

bool MayBeTwo(std::string_view text) {
  const size_t comma = text.find(',');
  std::string_view plain = TrimBlanks(text);
  plain = TrimBlanks(plain.substr(0, plain.size() - WordsBehind(plain).size()));
  return comma != std::string_view::npos &&
         plain.find_first_not_of("0123456789,-") == std::string_view::npos &&
         plain.rfind(',') + 2 == plain.size();
}

bool DottedGroups(std::string_view text) {
  text = TrimBlanks(text);
  if (text.starts_with("-")) text.remove_prefix(1);
  size_t groups = 0;
  for (size_t end = text.find('.'); end <= text.size(); ++groups) {
    if (end == 0 || end > 3 || (groups > 0 && end != 3) ||
        !std::all_of(text.begin(),
                     text.begin() + static_cast<std::ptrdiff_t>(end), Digit)) {
      return false;
    }
    if (end == text.size()) return groups > 1;
    text.remove_prefix(end + 1);
    end = std::min(text.find('.'), text.size());
  }
  return false;
}

}  // namespace espalier
