#include "datasets/answers/marks_beside.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "datasets/answers/find/unit_beside.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

constexpr size_t kLongestMark = 40;

// Without what only sets the text: "$}^\\circ\\text{C}$" as "\\circ c".
std::string PlainMarks(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    bool skipped = false;
    for (const std::string_view set :
         {"\\text{", "\\mathrm{", "\\textrm{", "{", "}", "$", "*", "\\,", "\\;",
          "\\ ", "~", "\\!"}) {
      if (!text.substr(i).starts_with(set)) continue;
      i += set.size();
      skipped = true;
      break;
    }
    if (!skipped) out += text[i++];
  }
  return Lower(TrimBlanks(out));
}

// The longest mark that `text` begins with; the row's meaning.
std::string_view MarkAt(std::string_view text) {
  std::string_view found;
  size_t length = 0;
  for (const Phrase& row : Rows(Reading::kMark)) {
    if (row.pattern.size() <= length || !text.starts_with(row.pattern)) {
      continue;
    }
    const bool word = Letter(row.pattern.back());
    if (word && text.size() > row.pattern.size() &&
        (Letter(text[row.pattern.size()]) || Digit(text[row.pattern.size()]))) {
      continue;
    }
    found = row.meaning;
    length = row.pattern.size();
  }
  return found;
}

// "cm\u00b3", "cm^3": "power-cm3"
std::string PowerAt(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && Letter(text[end])) ++end;
  const std::string_view unit = text.substr(0, end);
  if (unit.empty() || !ReadUnit(unit).known) return {};
  const std::string_view rest = text.substr(end);
  for (const auto& [sign, power] :
       {std::pair<std::string_view, char>("\u00b2", '2'),
        {"\u00b3", '3'},
        {"^2", '2'},
        {"^3", '3'}}) {
    if (rest.starts_with(sign)) {
      return absl::StrCat("power-", std::string(unit), std::string(1, power));
    }
  }
  return {};
}

// A sign of money that ends the text in front of the number; its meaning.
std::string_view MarkInFront(std::string_view text) {
  while (!text.empty() && (Blank(text.back()) || text.back() == '{')) {
    text.remove_suffix(1);
  }
  for (const Phrase& row : Rows(Reading::kMark)) {
    if (row.meaning.starts_with("money-") && !Letter(row.pattern.back()) &&
        text.ends_with(row.pattern)) {
      return row.meaning;
    }
  }
  return {};
}

std::string MarkOf(std::string_view text, std::string_view number) {
  const size_t at = PlaceOfNumber(text, number);
  if (at == kNowhere) return {};
  const std::string_view front = MarkInFront(text.substr(0, at));
  if (!front.empty()) return std::string(front);
  if (UnitBeside(text, number) == " dollars") return "money-usd";
  std::string behind =
      PlainMarks(text.substr(at + number.size(), kLongestMark));
  if (behind.starts_with("^")) behind.erase(0, 1);
  const std::string power = PowerAt(behind);
  return power.empty() ? std::string(MarkAt(behind)) : power;
}

std::string_view KindOf(std::string_view mark) {
  return mark.substr(0, mark.find('-'));
}

// Kinds that change a number that has none of them.
bool ChangesPlain(std::string_view kind) {
  return kind == "era" || kind == "base" || kind == "side";
}

}  // namespace

bool OtherMarks(std::string_view gold, std::string_view answer,
                std::string_view number) {
  if (number.empty()) return false;
  const std::string a = MarkOf(gold, number), b = MarkOf(answer, number);
  if (a == b) return false;
  return KindOf(a) == KindOf(b) || ChangesPlain(KindOf(a)) ||
         ChangesPlain(KindOf(b));
}

std::string_view FirstNumeral(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && !Digit(text[at])) ++at;
  size_t end = at;
  while (
      end < text.size() &&
      (Digit(text[end]) || ((text[end] == '.' || text[end] == ',') &&
                            end + 1 < text.size() && Digit(text[end + 1])))) {
    ++end;
  }
  return text.substr(at, end - at);
}

bool IsAnagram(std::string_view a, std::string_view b) {
  constexpr size_t kLongest = 4;
  if (a == b || a.size() != b.size() || a.size() < 2 || a.size() > kLongest ||
      !std::all_of(a.begin(), a.end(), Letter) ||
      !std::is_permutation(a.begin(), a.end(), b.begin())) {
    return false;
  }
  return std::any_of(a.begin(), a.end(),
                     [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace espalier
