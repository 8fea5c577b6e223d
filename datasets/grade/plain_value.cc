#include "datasets/grade/plain_value.h"

#include <algorithm>

#include "datasets/grade/characters.h"
#include "datasets/grade/clean_text.h"
#include "datasets/grade/extract_answer.h"
#include "datasets/grade/phrases.h"
#include "datasets/grade/stance.h"
#include "datasets/grade/stated_number.h"

namespace espalier {
namespace {

constexpr size_t kNone = std::string_view::npos;
// Longer texts are no sentence.
constexpr size_t kLongest = 200;

}  // namespace

// What a plain sentence says of a formula in it: "The value of $x$ is | 6.",
// `tail` being what stands behind the formula. Empty where it says nothing.
std::string SaidBehind(std::string_view tail) {
  tail = tail.substr(0, SentenceLength(tail));
  const std::string lower = PlainLower(tail);
  size_t at = kNone, behind = 0;
  for (const std::string_view verb : Phrases(Reading::kSays)) {
    const size_t found = lower.rfind(verb);
    if (found == kNone) continue;
    if (at != kNone && found + verb.size() <= behind) continue;
    at = found;
    behind = found + verb.size();
  }
  if (at == kNone) return {};
  const std::string said = StripDelimiters(tail.substr(behind));
  if (said.empty()) return {};
  const bool bracket = said[0] == '(' || said[0] == '[' || said[0] == '{' ||
                       said.starts_with("\\left");
  const bool digits = std::any_of(said.begin(), said.end(), Digit);
  const bool words = std::any_of(said.begin(), said.end(), Letter);
  if (!digits) return {};
  if (bracket || !words) return said;
  const StatedNumber number = FindStatedNumber(said, true);
  if (number.trust != Trust::kStated) return {};
  // "10 when x = 3" is 10.
  const std::string plain = PlainLower(said);
  for (const std::string_view word : Phrases(Reading::kWhenOrWhy)) {
    const size_t where = plain.find(" " + std::string(word) + " ");
    if (where != kNone && where > 0) return number.text + number.unit;
  }
  return said;
}

// "the 8th prime", "5 squared": words and one number that is not what they say.
bool MakesAnother(std::string_view text) {
  const auto place = LastNumberPlace(text);
  return place && text.find_first_of("=+*/^\\()[]{}<>|_,") == kNone &&
         text.find(' ') != kNone &&
         !LastNumberPlace(text.substr(0, place->start)) &&
         FindStatedNumber(text, true).trust == Trust::kNone;
}

// What the last sentence of words says without any: a point or a value with
// signs that words do not have, "(2, -1)", "60\u00b0".
std::optional<std::string> PlainValue(std::string_view text) {
  text = TrimBlanks(text);
  if (text.size() > kLongest) return std::nullopt;
  while (text.ends_with(".") || text.ends_with("*")) text.remove_suffix(1);
  size_t start = kNone;
  if (text.ends_with(")")) {
    start = text.rfind('(');
    const std::string_view inside = text.substr(std::min(start, text.size()));
    if (start == kNone || inside.find(',') == kNone) return std::nullopt;
  } else if (text.ends_with("\u00b0")) {
    start = text.rfind(' ') + 1;
  }
  if (start == kNone || start == 0 || text[start - 1] != ' ') {
    return std::nullopt;
  }
  const std::string_view lead = text.substr(0, start),
                         said = text.substr(start);
  const std::string lower = PlainLower(WithoutMarks(lead));
  const bool verb = EndsIn(lower, Reading::kStates) > 0 ||
                    EndsIn(lower, Reading::kExplains) > 0;
  if (!verb || std::any_of(said.begin(), said.end(), Letter) ||
      std::none_of(said.begin(), said.end(), Digit) ||
      lead.find_first_of("=\\") != kNone ||
      StanceBeside(lead, {}) != Stance::kStates ||
      StanceAt(text, start, text.size()) != Stance::kStates) {
    return std::nullopt;
  }
  return std::string(said);
}

// A last line of its own that is an answer: "**15 minutes**", "30".
std::optional<std::string> LastLine(std::string_view text) {
  text = TrimBlanks(text);
  const size_t line = text.rfind('\n');
  if (line == kNone) return std::nullopt;
  std::string_view last = TrimBlanks(text.substr(line + 1));
  const bool bold = last.size() > 4 && last.starts_with("**") &&
                    last.ends_with("**") &&
                    last.substr(2, last.size() - 4).find("**") == kNone;
  if (bold) last = last.substr(2, last.size() - 4);
  if (last.size() > 60 || last.find_first_of("$\\:") != kNone) {
    return std::nullopt;
  }
  const auto place = LastNumberPlace(last);
  const std::string_view before = TrimBlanks(text.substr(0, line));
  const std::string_view above = before.substr(before.rfind('\n') + 1);
  const bool prose = std::any_of(above.begin(), above.end(), Letter);
  if (!place || place->start > 1 || (!bold && !prose)) return std::nullopt;
  const auto words = std::count(last.begin(), last.end(), ' ');
  if (words > (bold ? 3 : 1)) return std::nullopt;
  if (FindStatedNumber(last, true).trust != Trust::kStated) {
    return std::nullopt;
  }
  return std::string(last);
}

}  // namespace espalier
