#include "datasets/answers/find/base_beside.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

// The number that a text begins with; 0 if none, or one too long for a base.
int LeadingBase(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && Digit(text[end])) ++end;
  return end == 0 || end > 2 ? 0 : std::atoi(std::string(text, 0, end).c_str());
}

// "\\boxed{52}_8", "\\boxed{52}_{8}": the base behind the last digits.
int BaseBehind(std::string_view text, std::string_view digits) {
  const size_t at = text.rfind(digits);
  if (at == kNowhere) return 0;
  std::string_view rest = text.substr(at + digits.size());
  while (rest.starts_with("}") || rest.starts_with(")")) rest.remove_prefix(1);
  if (!rest.starts_with("_")) return 0;
  rest.remove_prefix(1);
  if (rest.starts_with("{")) rest.remove_prefix(1);
  return LeadingBase(rest);
}

// The number that "FF_{16}" is; of too many digits, any.
uint64_t BaseOf(std::string_view based) {
  const size_t mark = based.find('_');
  const auto base = static_cast<uint64_t>(LeadingBase(based.substr(mark + 2)));
  uint64_t value = 0;
  for (const char c : based.substr(0, mark)) {
    const int digit = Digit(c) ? c - '0' : c - 'A' + 10;
    value = value * base + static_cast<uint64_t>(digit);
  }
  return value;
}

}  // namespace

int BaseBeside(std::string_view text, std::string_view digits) {
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), Digit)) {
    return 0;
  }
  if (const int behind = BaseBehind(text, digits); behind > 0) return behind;
  const std::string lower = PlainLower(
      text.substr(text.size() - std::min(text.size(), kLongestLook)));
  int found = 0;
  bool several = false;
  const auto add = [&](int base) {
    several |= base > 0 && found > 0 && found != base;
    if (base > 0) found = base;
  };
  for (const std::string_view word : Phrases(Reading::kBase)) {
    for (size_t at = lower.find(word); at != kNowhere;
         at = lower.find(word, at + 1)) {
      std::string_view rest = std::string_view(lower).substr(at + word.size());
      while (rest.starts_with(" ") || rest.starts_with("-") ||
             rest.starts_with("$")) {
        rest.remove_prefix(1);
      }
      add(LeadingBase(rest));
    }
  }
  for (const Phrase& row : Rows(Reading::kBaseName)) {
    if (lower.find(row.pattern) != kNowhere) {
      add(std::atoi(std::string(row.meaning).c_str()));
    }
  }
  return several ? 0 : found;
}

std::string WithBaseBehind(std::string_view text) {
  constexpr size_t kMostDigits = 40;
  text = TrimBlanks(text);
  if (const size_t equal = text.find('='); equal != kNowhere) {
    const std::string_view left = TrimBlanks(text.substr(0, equal)),
                           right = TrimBlanks(text.substr(equal + 1));
    if (right.find('=') != kNowhere || left.empty() || right.empty()) return {};
    const bool behind = left[0] != '0';
    const std::string_view plain = behind ? left : right;
    std::string based = WithBaseBehind(behind ? right : left);
    // "254 = 0xFF" is none.
    const bool same = !based.empty() && plain == std::to_string(BaseOf(based));
    return same ? based : std::string();
  }
  while (text.size() > 2 && text.front() == '`' && text.back() == '`') {
    text = text.substr(1, text.size() - 2);
  }
  if (text.size() < 3 || text.size() > kMostDigits || text[0] != '0') return {};
  constexpr std::pair<char, int> kBases[] = {{'x', 16}, {'o', 8}, {'b', 2}};
  for (const auto& [letter, base] : kBases) {
    if (text[1] != letter) continue;
    std::string digits;
    for (const char c : text.substr(2)) {
      const int upper = std::toupper(static_cast<unsigned char>(c));
      const int value = Digit(c)                       ? c - '0'
                        : upper >= 'A' && upper <= 'F' ? upper - 'A' + 10
                                                       : base;
      if (value >= base) return {};
      digits += static_cast<char>(upper);
    }
    return absl::StrCat(digits, "_{", base, "}");
  }
  return {};
}

}  // namespace espalier
