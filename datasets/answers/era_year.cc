#include "datasets/answers/era_year.h"

#include <cstdlib>
#include <string>

#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr size_t kLongestYearText = 300;
constexpr std::string_view kAfterChrist = "ad";

// Without points and blanks: "bce" of "B. C. E.".
std::string EraLetters(std::string_view text) {
  std::string out;
  for (const char c : Lower(text)) {
    if (c != '.' && !Blank(c)) out += c;
  }
  return out;
}

}  // namespace

std::optional<EraYear> ReadEraYear(std::string_view text) {
  text = TrimBlanks(text);
  if (text.size() > kLongestYearText) return std::nullopt;
  const size_t end = text.find_last_of("0123456789") + 1;
  if (end == 0) return std::nullopt;
  size_t start = end;
  while (start > 0 && Digit(text[start - 1])) --start;
  if (end - start > 4 || HasDigits(text.substr(0, start))) return std::nullopt;
  EraYear out;
  out.year = std::atoi(std::string(text.substr(start, end - start)).c_str());
  const std::string_view tail = text.substr(end);
  const std::string era = EraLetters(tail);
  std::string lead = PlainLower(TrimBlanks(text.substr(0, start)));
  if (!era.empty()) {
    if (!Blank(tail[0])) return std::nullopt;
    out.before = era == "bc" || era == "bce";
    if (!out.before && era != kAfterChrist && era != "ce") return std::nullopt;
    out.named = true;
  } else if (lead.ends_with(kAfterChrist) || lead.ends_with("a.d.")) {
    const size_t size = lead.ends_with(kAfterChrist) ? 2 : 4;
    if (lead.size() > size && Letter(lead[lead.size() - size - 1])) {
      return std::nullopt;
    }
    lead = TrimBlanks(lead.substr(0, lead.size() - size));
    out.named = true;
  }
  // "in July 1969"
  const size_t month = EndsIn(lead, Reading::kMonth);
  if (month > 0) {
    lead = TrimBlanks(lead.substr(0, lead.size() - month));
    if (lead.empty()) lead = "in";
  }
  const size_t in = EndsIn(lead, Reading::kInYear);
  out.led = in > 0 && in == lead.size();
  out.alone = lead.empty() || out.led;
  if (out.alone) return out;
  // "It happened | in 44 BC."
  const bool stated = in > 0 || EndsIn(lead, Reading::kCopula) > 0;
  const bool claimed = Affirms(lead) && !Mentions(lead, Reading::kMaybe) &&
                       !Mentions(lead, Reading::kDoubts) &&
                       !Mentions(lead, Reading::kOtherTime) &&
                       lead.find('?') == std::string::npos;
  if (!stated || !claimed) return std::nullopt;
  out.led = month > 0;
  return out;
}

std::optional<bool> SameYear(std::string_view gold, std::string_view answer) {
  const std::optional<EraYear> a = ReadEraYear(gold);
  if (!a || !a->alone) return std::nullopt;
  const std::optional<EraYear> b = ReadEraYear(answer);
  if (!b || a->year != b->year) return std::nullopt;
  if (a->named && b->named) return a->before == b->before;
  // "In 1789." for 1789; "70 AD" for 70, the year.
  if (a->before || b->before) return std::nullopt;
  constexpr int kFirstPlainYear = 100;
  if (a->named || b->named) return true;
  if (b->led && a->year >= kFirstPlainYear) return true;
  return std::nullopt;
}

}  // namespace espalier
