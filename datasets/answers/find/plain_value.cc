#include "datasets/answers/find/plain_value.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "datasets/answers/find/extract_answer.h"
#include "datasets/answers/find/readings.h"
#include "datasets/answers/find/stated_number.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/number_place.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

// Longer texts are not sentences.
constexpr size_t kLongestPlain = 200;

}  // namespace

// What a plain sentence states about a formula in it: "The value of $x$ is |
// 6.", where `tail` is the text behind the formula. Empty if it states nothing.
std::string SaidBehind(std::string_view tail) {
  tail = tail.substr(0, SentenceLength(tail));
  const std::string lower = PlainLower(tail);
  size_t at = kNowhere, behind = 0;
  for (const std::string_view verb : Phrases(Reading::kSays)) {
    const size_t found = lower.rfind(verb);
    if (found == kNowhere) continue;
    if (at != kNowhere && found + verb.size() <= behind) continue;
    at = found;
    behind = found + verb.size();
  }
  if (at == kNowhere) return {};
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
    if (where != kNowhere && where > 0) return number.text + number.unit;
  }
  return said;
}

namespace {

// The rows of aligned lines; those of a nested matrix belong to their row.
std::vector<std::string> Rows(std::string_view body) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (size_t at = 0; at < body.size(); ++at) {
    const std::string_view rest = body.substr(at);
    if (rest.starts_with("\\begin{")) ++depth;
    if (rest.starts_with("\\end{")) --depth;
    if (rest.starts_with("\\\\") && depth == 0) {
      out.emplace_back();
      at += 1 + LineSkip(rest.substr(2));
    } else if (rest[0] != '&' || depth > 0) {
      out.back() += rest[0];
    }
  }
  while (out.size() > 1 && TrimBlanks(out.back()).empty()) out.pop_back();
  return out;
}

using NameSet = std::set<std::string_view>;

// Possible unknowns: letters except e and i, and Greek letters except pi; none
// inside a word.
NameSet NamesIn(std::string_view formula) {
  constexpr std::string_view kGreek[] = {
      "alpha", "beta", "gamma",  "delta", "theta", "lambda", "mu",  "nu",
      "rho",   "tau",  "varphi", "phi",   "psi",   "sigma",  "eta", "omega"};
  NameSet out;
  for (size_t at = 0; at < formula.size();) {
    const bool command = formula[at] == '\\';
    const size_t start = at;
    if (command || Letter(formula[at])) ++at;
    while (command && at < formula.size() && Letter(formula[at])) ++at;
    const std::string_view name = formula.substr(start, at - start);
    if (name.empty()) {
      ++at;
    } else if (command) {
      const std::string_view word = name.substr(1);
      const bool words = word.starts_with("text") || word == "mathrm" ||
                         word == "mbox" || word == "operatorname";
      if (words) at = std::min(formula.find('}', at), formula.size());
      if (std::find(std::begin(kGreek), std::end(kGreek), word) !=
          std::end(kGreek)) {
        out.insert(name);
      }
    } else if (name != "e" && name != "i") {
      out.insert(name);
    }
  }
  return out;
}

// The unknown whose value a row gives, "b = 8"; else empty.
std::string_view SolvedFor(std::string_view row) {
  const size_t equal = row.find('=');
  if (equal == kNowhere) return {};
  const std::string_view left = TrimBlanks(row.substr(0, equal));
  const NameSet names = NamesIn(left);
  const std::string_view right = row.substr(equal + 1);
  const bool value =
      std::any_of(right.begin(), right.end(), Digit) && NamesIn(right).empty();
  const bool one = names.size() == 1 && *names.begin() == left;
  return one && value ? left : std::string_view();
}

// Whether the rows in front of the last one leave it with a single unknown:
// others are given at once, "b = 6", or absent from a row still to be solved.
// "a + b = 10, b = 8, a = 2" answers with two.
bool SingleUnknown(const std::vector<std::string>& rows,
                   std::string_view unknown) {
  NameSet seen, open;
  bool alone = false;
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    const std::string_view solved = SolvedFor(rows[i]);
    if (!solved.empty() && solved != unknown) {
      if (seen.contains(solved)) return false;
      seen.insert(solved);
      continue;
    }
    const NameSet names = NamesIn(rows[i]);
    alone |= names.size() == 1 && names.contains(unknown);
    for (const std::string_view name : names) {
      if (!seen.contains(name) && name != unknown) open.insert(name);
      seen.insert(name);
    }
  }
  return alone || open.empty();
}

}  // namespace

std::string LastRow(std::string_view formula) {
  const std::string_view text = TrimBlanks(formula);
  const std::string whole(formula);
  constexpr std::string_view kBegin = "\\begin{", kEnd = "\\end{";
  const size_t open = text.find('}');
  const size_t end = text.rfind(kEnd);
  if (!text.starts_with(kBegin) || open == kNowhere || end == kNowhere ||
      end < open || text.find('}', end) + 1 != text.size()) {
    return whole;
  }
  const std::string_view name =
      text.substr(kBegin.size(), open - kBegin.size());
  if (!name.starts_with("align") && !name.starts_with("split") &&
      !name.starts_with("gather") && !name.starts_with("eqnarray")) {
    return whole;
  }
  const std::vector<std::string> rows =
      Rows(WithoutSpacing(text.substr(open + 1, end - open - 1)));
  if (rows.size() < 2) return whole;
  std::string_view said = TrimBlanks(rows.back());
  while (said.starts_with("\\quad") || said.starts_with("\\qquad")) {
    said = TrimBlanks(said.substr(said.find_first_of("d") + 1));
  }
  while (said.ends_with(".") || said.ends_with(",")) said.remove_suffix(1);
  constexpr std::string_view kCongruent = "\\equiv";
  if (said.starts_with(kCongruent)) {
    said.remove_prefix(kCongruent.size());
    return std::string(TrimBlanks(said.substr(0, said.find("\\pmod"))));
  }
  const size_t equal = said.rfind('=');
  if (equal == kNowhere || equal + 1 >= said.size()) return whole;
  if (said.starts_with("=")) {
    return std::string(TrimBlanks(said.substr(equal + 1)));
  }
  // "x + 3 &= 7 \\\\ x &= 4"; "x &= 1 \\\\ y &= 2" says two things.
  bool worked = false, named = false;
  const std::string_view unknown = TrimBlanks(said.substr(0, equal));
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    const std::string_view row = TrimBlanks(rows[i]);
    const size_t sign = row.find('=');
    worked |= sign != kNowhere && TrimBlanks(row.substr(0, sign)).size() > 1;
    named |= NamesIn(row).contains(unknown);
  }
  const NameSet names = NamesIn(unknown);
  const bool solved = names.size() == 1 && *names.begin() == unknown && named &&
                      SingleUnknown(rows, unknown);
  return worked && solved ? std::string(said) : whole;
}

// "the 8th prime", "5 squared": words and one number that is not their value.
bool MakesAnother(std::string_view text) {
  const auto place = LastNumberPlace(text);
  return place && text.find_first_of("=+*/^\\()[]{}<>|_,") == kNowhere &&
         text.find(' ') != kNowhere && text.find("\u2264") == kNowhere &&
         text.find("\u2265") == kNowhere &&
         !LastNumberPlace(text.substr(0, place->start)) &&
         FindStatedNumber(text, true).trust == Trust::kNone;
}

// The plain formula that a sentence ends in: "(x - 2)(x + 3)" of "Factoring, we
// get (x - 2)(x + 3)". Numbers and points do not count.
std::optional<std::string> PlainFormula(std::string_view text) {
  constexpr std::string_view kFunctions[] = {"sqrt", "sin", "cos", "tan",
                                             "log",  "ln",  "exp", "pi"};
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && Letter(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    const bool function =
        std::find(std::begin(kFunctions), std::end(kFunctions), word) !=
        std::end(kFunctions);
    if (word.size() >= 2 && !function) start = end;
    at = std::max(end, at + 1);
  }
  const std::string_view lead = text.substr(0, start);
  const std::string_view said = TrimBlanks(text.substr(start));
  const bool sign =
      said.find_first_of("^+|<>") != kNowhere || said.find(")(") != kNowhere ||
      said.find("\u221a") != kNowhere || said.find("\u00b2") != kNowhere ||
      said.find("\u00b3") != kNowhere || said.find("\u2264") != kNowhere ||
      said.find("\u2265") != kNowhere;
  if (!sign || said.find_first_of("\\$=,:;~") != kNowhere || lead.empty() ||
      said.size() < 3 ||
      EndsIn(PlainLower(WithoutMarks(lead)), Reading::kStates) == 0 ||
      OfUnknown(PlainLower(
          WithoutMarks(lead.substr(ClauseStart(PlainLower(lead)))))) ||
      StanceBeside(lead, {}) != Stance::kStates ||
      StanceAt(text, start, text.size()) != Stance::kStates) {
    return std::nullopt;
  }
  return std::string(said);
}

// Start of a time of day at the end of the text, "12:30", "2:15 p.m"; npos if
// none.
size_t TimeStart(std::string_view text) {
  const std::string lower = Lower(text);
  std::string_view rest = lower;
  for (const std::string_view half : Phrases(Reading::kHalfOfDay)) {
    if (!rest.ends_with(half)) continue;
    rest = TrimBlanks(rest.substr(0, rest.size() - half.size()));
    break;
  }
  const size_t colon = rest.rfind(':');
  if (colon == kNowhere || colon == 0 || rest.size() != colon + 3 ||
      !Digit(rest[colon + 1]) || !Digit(rest[colon + 2])) {
    return kNowhere;
  }
  size_t start = colon;
  while (start > 0 && Digit(rest[start - 1])) --start;
  return start < colon && colon - start <= 2 ? start : kNowhere;
}

// What a last sentence of words states without formula markup: a point or a
// value with signs that words do not have, "(2, -1)", "60\u00b0".
std::optional<std::string> PlainValue(std::string_view text) {
  text = TrimBlanks(text);
  while (text.ends_with(".") || text.ends_with("*")) text.remove_suffix(1);
  text = text.substr(text.rfind('\n') + 1);
  text = text.substr(SentenceStart(text));
  if (text.size() > kLongestPlain) return std::nullopt;
  if (auto formula = PlainFormula(text)) return formula;
  size_t start = kNowhere;
  if (text.ends_with(")")) {
    start = text.rfind('(');
    const std::string_view inside = text.substr(std::min(start, text.size()));
    if (start == kNowhere || inside.find(',') == kNowhere) return std::nullopt;
  } else if (text.ends_with("\u00b0")) {
    start = text.rfind(' ') + 1;
  } else {
    start = TimeStart(text);
  }
  if (start == kNowhere || start == 0 || text[start - 1] != ' ') {
    return std::nullopt;
  }
  const std::string_view lead = text.substr(0, start),
                         said = text.substr(start);
  std::string lower = PlainLower(WithoutMarks(lead));
  // "is at the point"
  if (const size_t shape = EndsIn(lower, Reading::kShape)) {
    lower.resize(TrimBlanks(lower.substr(0, lower.size() - shape)).size());
    if (lower.ends_with(" the")) lower.resize(lower.size() - 4);
  }
  const bool verb = EndsIn(lower, Reading::kStates) > 0 ||
                    lower.ends_with("shows") ||
                    EndsIn(lower, Reading::kExplains) > 0;
  const bool time = said.find(':') != kNowhere;
  if (!verb || (!time && std::any_of(said.begin(), said.end(), Letter)) ||
      std::none_of(said.begin(), said.end(), Digit) ||
      lead.find_first_of("=\\") != kNowhere ||
      StanceBeside(lead, {}) != Stance::kStates ||
      StanceAt(text, start, text.size()) != Stance::kStates) {
    return std::nullopt;
  }
  return std::string(said);
}

// A last line that consists only of an answer: "**15 minutes**", "30".
std::optional<std::string> LastLine(std::string_view text) {
  text = TrimBlanks(text);
  const size_t line = text.rfind('\n');
  if (line == kNowhere) return std::nullopt;
  std::string_view last = TrimBlanks(text.substr(line + 1));
  // "Ann: 5\nBob: 8\nTotal: 13"
  last.remove_prefix(StartsWith(PlainLower(last), Reading::kTotalLabel));
  bool bold = false;
  for (const std::string_view mark : {"**", "__"}) {
    bold |= last.size() > 4 && last.starts_with(mark) && last.ends_with(mark) &&
            last.substr(2, last.size() - 4).find(mark) == kNowhere;
  }
  if (bold) last = last.substr(2, last.size() - 4);
  if (last.size() > 60 || last.find_first_of("$\\:", 1) != kNowhere ||
      last.find_first_of("\\:") == 0) {
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

std::optional<std::string> LastFence(std::string_view text) {
  const size_t close = text.rfind("```");
  if (close == kNowhere || close == 0) return std::nullopt;
  if (!TrimBlanks(text.substr(close + 3)).empty()) return std::nullopt;
  const size_t open = text.rfind("```", close - 1);
  if (open == kNowhere) return std::nullopt;
  std::string_view content = text.substr(open + 3, close - open - 3);
  // The first line names a language.
  const size_t line = content.find('\n');
  if (line == kNowhere) return std::nullopt;
  content = TrimBlanks(content.substr(line));
  if (content.empty() || content.find('\n') != kNowhere) return std::nullopt;
  return std::string(content);
}

}  // namespace espalier
