#include "datasets/answers/reworded_amounts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "datasets/answers/find/last_statement.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr size_t kLongestAmount = 40;

// With "^2" and "^3" for the signs of these powers.
std::string WithPowers(std::string_view text) {
  std::string out(text);
  for (const auto& [sign, power] :
       {std::pair<std::string_view, std::string_view>{"\u00b2", "^2"},
        {"\u00b3", "^3"}}) {
    const size_t at = out.find(sign);
    if (at != std::string::npos) out.replace(at, sign.size(), power);
  }
  return out;
}

// Whether a text is a numeral and a known unit.
bool IsAmount(std::string_view text) {
  const size_t end = text.find_first_not_of("0123456789.,-");
  if (end == kNowhere || end == 0 || text.size() > kLongestAmount) return false;
  const std::string_view unit = TrimBlanks(text.substr(end));
  return unit.find_first_of("0123456789=+*(") == kNowhere &&
         ReadUnit(" " + WithPowers(unit)).known;
}

// The word for a unit of time, "" if it is none.
std::string_view TimeUnit(std::string_view word) {
  if (word.ends_with(".")) word.remove_suffix(1);
  for (const std::string_view hour : {"h", "hr", "hrs", "hour", "hours"}) {
    if (word == hour) return "hours";
  }
  for (const std::string_view minute :
       {"m", "min", "mins", "minute", "minutes"}) {
    if (word == minute) return "minutes";
  }
  for (const std::string_view second :
       {"s", "sec", "secs", "second", "seconds"}) {
    if (word == second) return "seconds";
  }
  return {};
}

// "1 hour 30 min", "2h 15m" and "takes 3 h 20 min" with their units in full;
// empty if there are not two units of time side by side.
std::string WithTimeUnits(std::string_view text) {
  constexpr size_t kLongestTimes = 240;
  if (text.size() > kLongestTimes) return {};
  std::string out;
  size_t units = 0;
  bool shortened = false, joined = false;
  size_t last = kNowhere;  // the end of the last unit in `out`
  for (size_t at = 0; at < text.size();) {
    const bool begins = Digit(text[at]) && (at == 0 || text[at - 1] == ' ');
    if (!begins) {
      out += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && (Digit(text[end]) || text[end] == '.')) ++end;
    size_t unit = end;
    if (unit < text.size() && text[unit] == ' ') ++unit;
    size_t stop = unit;
    while (stop < text.size() && Letter(text[stop])) ++stop;
    const std::string_view word =
        TimeUnit(Lower(text.substr(unit, stop - unit)));
    const bool whole = stop == text.size() || !Digit(text[stop]);
    if (word.empty() || !whole) {
      out += text.substr(at, end - at);
      at = end;
      continue;
    }
    const std::string_view between =
        last == kNowhere ? std::string_view()
                         : TrimBlanks(std::string_view(out).substr(last));
    joined |= last != kNowhere && (between.empty() || between == "," ||
                                   between == "and" || between == ", and");
    if (joined && last != kNowhere && between.empty()) out += "and ";
    out += std::string(text.substr(at, end - at)) + " " + std::string(word);
    shortened |= stop - unit < word.size() - 1 || between.empty();
    last = out.size();
    ++units;
    at = stop;
  }
  return units == 2 && joined && shortened ? out : std::string();
}

// "47-yard" as "47 yard", of all or of the first words.
std::string WithoutUnitHyphen(std::string_view text) {
  const size_t end = text.find_first_not_of("0123456789.");
  if (end == kNowhere || end == 0 || text[end] != '-' ||
      text.size() > kLongestAmount) {
    return {};
  }
  const std::string_view unit = text.substr(end + 1);
  if (unit.empty() || !std::all_of(unit.begin(), unit.end(), Letter) ||
      !ReadUnit(" " + std::string(unit)).known) {
    return {};
  }
  return std::string(text.substr(0, end)) + " " + std::string(unit) + "s";
}

// "Area = 60 cm * 60 cm = 3600 cm^2 = 0.36 m^2": the last side.
std::string_view LastConverted(std::string_view sentence) {
  const size_t last = sentence.rfind(" = ");
  if (last == kNowhere) return {};
  const size_t before = sentence.substr(0, last).rfind(" = ");
  if (before == kNowhere) return {};
  const std::string_view from =
      TrimBlanks(sentence.substr(before + 3, last - before - 3));
  const std::string_view to = TrimBlanks(sentence.substr(last + 3));
  return IsAmount(from) && IsAmount(to) ? to : std::string_view();
}

// The items of a list of bullets at the end of a text, behind a line that ends
// in a colon; empty if there is none, or if one says more than a value.
std::string Bullets(std::string_view text) {
  constexpr size_t kLongestItem = 40, kMostItems = 20, kLongestListed = 1000;
  text = TrimBlanks(text);
  if (text.size() > kLongestListed) return {};
  std::string items;
  size_t count = 0;
  while (!text.empty() && count <= kMostItems) {
    const size_t line = text.rfind('\n');
    const std::string_view last =
        TrimBlanks(text.substr(line == kNowhere ? 0 : line + 1));
    text = TrimBlanks(text.substr(0, line == kNowhere ? 0 : line));
    const bool bullet = last.starts_with("- ") || last.starts_with("* ") ||
                        last.starts_with("\u2022 ");
    if (!bullet) {
      std::string_view head = last;
      while (head.ends_with("*")) head.remove_suffix(1);
      const bool labelled = head.ends_with(":") && count > 1 &&
                            SaysPlainly(head) && head.size() < kLongestLast;
      return labelled ? items : std::string();
    }
    const std::string_view item =
        WithoutLastMarks(last.substr(last.find(' ') + 1));
    if (item.empty() || item.size() > kLongestItem ||
        item.find_first_of(",;:") != kNowhere) {
      return {};
    }
    items = std::string(WithoutFirstMarks(item)) + (items.empty() ? "" : ", ") +
            items;
    ++count;
  }
  return {};
}

// "all real x \\neq 2" as "all real numbers except 2".
std::string RealsExcept(std::string_view text) {
  constexpr size_t kLongestReals = 80;
  if (text.size() > kLongestReals) return {};
  std::string plain;
  for (const char c : text) {
    if (c != '$') plain += c;
  }
  std::string_view rest = plain;
  for (const std::string_view all :
       {"all real numbers ", "all real ", "All real numbers ", "All real "}) {
    if (!rest.starts_with(all)) continue;
    rest.remove_prefix(all.size());
    if (rest.size() < 3 || !Letter(rest[0]) || rest[1] != ' ') return {};
    rest = TrimBlanks(rest.substr(2));
    for (const std::string_view sign : {"\\neq", "\\ne", "\u2260", "!="}) {
      if (!rest.starts_with(sign)) continue;
      rest = TrimBlanks(rest.substr(sign.size()));
      return rest.find_first_not_of("0123456789-/.,\\{}frac ") == kNowhere
                 ? "all real numbers except " + std::string(rest)
                 : std::string();
    }
    return {};
  }
  return {};
}

// Without backticks around formulas; empty if there are none, or code.
std::string WithoutBackticks(std::string_view text) {
  const auto ticks = std::count(text.begin(), text.end(), '`');
  if (ticks == 0 || ticks % 2 != 0 || text.find("``") != kNowhere ||
      ticks > 20) {
    return {};
  }
  std::string out(text);
  std::erase(out, '`');
  return out;
}

// "The series diverges to infinity.", where the only sentence says nothing
// else.
bool DivergesToInfinity(std::string_view text) {
  constexpr size_t kLongest = 80;
  const std::string lower = PlainLower(WithoutLastMarks(TrimBlanks(text)));
  return lower.size() <= kLongest && EndsIn(lower, Reading::kToInfinity) > 0 &&
         LastSentenceStart(text) == 0 && SaysPlainly(text);
}

}  // namespace

std::string_view TotalAtEnd(std::string_view text) {
  std::string_view sentence = LastStatementOf(text);
  const std::string lower = PlainLower(sentence);
  constexpr std::string_view kTotal = "total";
  size_t word = lower.ends_with(" total") ? kTotal.size() : 0;
  word = std::max(word, EndsIn(lower, Reading::kInAll));
  if (word == 0 || sentence.size() > kLongestLast) return {};
  sentence = TrimBlanks(sentence.substr(0, sentence.size() - word));
  const size_t comma = sentence.rfind(", ");
  if (comma == kNowhere) return {};
  std::string_view amount = TrimBlanks(sentence.substr(comma + 2));
  constexpr std::string_view kSo = "so ";
  if (amount.starts_with(kSo)) amount.remove_prefix(kSo.size());
  const bool dollars = amount.size() > 1 && amount[0] == '$' &&
                       amount.find_first_not_of("0123456789.,", 1) == kNowhere;
  const bool numeral = !amount.empty() && Digit(amount[0]) && IsAmount(amount);
  return dollars || numeral ? amount : std::string_view();
}

std::vector<RewordedPair> RewordedAmounts(std::string_view gold,
                                          std::string_view text) {
  std::vector<RewordedPair> out;
  const auto add = [&](std::string_view a, std::string_view b) {
    out.push_back({std::string(a), std::string(b)});
  };
  if (std::string plain = WithoutBackticks(text); !plain.empty()) {
    add(gold, plain);
  }
  if (const std::string items = Bullets(text); !items.empty()) {
    const bool several = gold.find(',') != kNowhere;
    if (several) add(gold, items);
  }
  if (const std::string reals = RealsExcept(WithoutLastMarks(text));
      !reals.empty()) {
    add(gold, reals);
  }
  if (DivergesToInfinity(text)) add(gold, "\\infty");
  if (!HasDigits(gold)) return out;
  const std::string times = WithTimeUnits(text),
                    gold_times = WithTimeUnits(gold);
  if (!times.empty() || !gold_times.empty()) {
    add(gold_times.empty() ? gold : std::string_view(gold_times),
        times.empty() ? text : std::string_view(times));
  }
  const std::string hyphen = WithoutUnitHyphen(WithoutLastMarks(text)),
                    gold_hyphen = WithoutUnitHyphen(gold);
  if (!hyphen.empty() || !gold_hyphen.empty()) {
    add(gold_hyphen.empty() ? gold : std::string_view(gold_hyphen),
        hyphen.empty() ? text : std::string_view(hyphen));
  }
  const std::string_view sentence = LastStatementOf(text);
  for (const std::string_view said :
       {TotalAtEnd(text), LastConverted(sentence)}) {
    if (!said.empty() && Claims(text, sentence, said)) add(gold, said);
  }
  return out;
}

}  // namespace espalier
