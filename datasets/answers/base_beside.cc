#include "datasets/answers/base_beside.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "datasets/answers/characters.h"
#include "datasets/answers/phrases.h"
#include "datasets/answers/stance.h"

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

}  // namespace espalier
