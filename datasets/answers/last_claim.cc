#include "datasets/answers/last_claim.h"

#include <algorithm>
#include <array>
#include <utility>

#include "datasets/answers/find/last_statement.h"
#include "datasets/answers/find/outright.h"
#include "datasets/answers/find/readings.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr size_t kLongestClaimed = 4000;
constexpr size_t kLongestClaim = 160;

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!TrimBlanks(line).empty()) out.push_back(TrimBlanks(line));
  }
  return out;
}

// Whether nothing in a statement turns what it says, and it is no check.
bool ClaimsPlainly(std::string_view statement) {
  std::string lower = PlainLower(statement);
  // "k = 6 or k = -6" are both values.
  constexpr std::string_view kOr = " or ";
  for (size_t at = lower.find(kOr); at != std::string::npos;
       at = lower.find(kOr, at + 1)) {
    if (lower.find('=', at) != std::string::npos) {
      lower.replace(at, kOr.size(), " and");
    }
  }
  return SaysPlainly(lower) && BeginsIn(lower, Reading::kChecks) == 0 &&
         BeginsIn(lower, Reading::kSupposes) == 0 &&
         lower.find(" but ") == kNowhere && lower.find("however") == kNowhere;
}

// Whether a text has a word that joins no values.
bool HasPlainWords(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t begin = static_cast<size_t>(
        std::find_if(rest.begin(), rest.end(),
                     [](char c) { return c == '\\' || Letter(c); }) -
        rest.begin());
    if (begin == rest.size()) return false;
    const bool command = rest[begin] == '\\';
    size_t end = begin + 1;
    while (end < rest.size() && Letter(rest[end])) ++end;
    const std::string_view word = rest.substr(begin, end - begin);
    if (!command && word.size() > 2 && word != "and") return true;
    rest.remove_prefix(end);
  }
  return false;
}

// Without the delimiters of a formula that is all of the text.
std::string_view WithoutFormulaMarks(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4>
      kMarks = {{{"$$", "$$"}, {"$", "$"}, {"\\[", "\\]"}, {"\\(", "\\)"}}};
  for (const auto& [open, close] : kMarks) {
    if (text.size() > open.size() + close.size() && text.starts_with(open) &&
        text.ends_with(close)) {
      const std::string_view inside = TrimBlanks(
          text.substr(open.size(), text.size() - open.size() - close.size()));
      if (inside.find('$') == kNowhere) return WithoutLastMarks(inside);
    }
  }
  return text;
}

// The last formula of a statement, if nothing but marks follows it: a span
// between dollars or brackets, or all of a statement without any.
std::string_view FormulaAtEnd(std::string_view statement) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4>
      kMarks = {{{"$$", "$$"}, {"$", "$"}, {"\\[", "\\]"}, {"\\(", "\\)"}}};
  for (const auto& [open, close] : kMarks) {
    if (!statement.ends_with(close)) continue;
    const std::string_view front =
        statement.substr(0, statement.size() - close.size());
    const size_t start = front.rfind(open);
    if (start == kNowhere) return {};
    return WithoutLastMarks(TrimBlanks(front.substr(start + open.size())));
  }
  if (statement.find('$') != kNowhere) return {};
  // "divided by \u221a3: 5/\u221a3 = 5\u221a3/3", "The area is A = 10"
  const size_t colon = statement.rfind(": ");
  if (colon != kNowhere) statement = statement.substr(colon + 2);
  const std::string_view front = statement.substr(0, statement.find('='));
  size_t start = 0;
  for (size_t at = 0; at < front.size(); at = front.find(' ', at)) {
    while (at < front.size() && front[at] == ' ') ++at;
    const std::string_view word = front.substr(at, front.find(' ', at) - at);
    if (HasPlainWords(word) || IsPhrase(Lower(word), Reading::kIs)) {
      start = at + word.size();
    }
    at += word.size();
  }
  return TrimBlanks(statement.substr(start));
}

// The sides of a chain of equations, and whether the last ones are rounded.
struct Chain {
  std::vector<std::string_view> sides;
  size_t exact = 0;  // how many of them are
};

Chain ChainOf(std::string_view formula) {
  Chain out;
  size_t depth = 0, start = 0;
  bool rounded = false;
  const auto add = [&](size_t end) {
    out.sides.push_back(TrimBlanks(formula.substr(start, end - start)));
    if (!rounded) out.exact = out.sides.size();
  };
  for (size_t at = 0; at < formula.size(); ++at) {
    const std::string_view rest = formula.substr(at);
    if (rest[0] == '{' || rest[0] == '(' || rest[0] == '[') ++depth;
    if (rest[0] == '}' || rest[0] == ')' || rest[0] == ']') depth -= depth > 0;
    const bool other =
        at > 0 && std::string_view("<>!:=\\").find(formula[at - 1]) != kNowhere;
    size_t sign = 0;
    if (rest[0] == '=' && !other && !rest.starts_with("=>")) sign = 1;
    for (const std::string_view nearly : {"\u2248", "\\approx"}) {
      if (rest.starts_with(nearly)) sign = nearly.size();
    }
    if (depth > 0 || sign == 0) continue;
    add(at);
    rounded |= sign > 1;
    at += sign - 1;
    start = at + 1;
  }
  add(formula.size());
  return out;
}

// Without LaTeX commands.
std::string WithoutCommands(std::string_view formula) {
  std::string out;
  for (size_t at = 0; at < formula.size(); ++at) {
    if (formula[at] == '\\') {
      while (at + 1 < formula.size() && Letter(formula[at + 1])) ++at;
      continue;
    }
    out += formula[at];
  }
  return out;
}

// Whether a side names what the other one gives: "T", "v_0", "P(A)", "W",
// "\\int_0^1 x dx", "\\frac{dy}{dx}".
bool NamesResult(std::string_view side) {
  for (const std::string_view operation :
       {"\\int", "\\sum", "\\prod", "\\lim", "\\det", "\\frac{d", "\\oint"}) {
    if (side.starts_with(operation)) return true;
  }
  if (side.empty() || !(Letter(side[0]) || side[0] == '\\')) return false;
  std::string_view name = side;
  // "P(A)", "f(2)"; not "f(x + 1)"
  if (const size_t open = side.find('('); open != kNowhere && open > 0) {
    name = side.substr(0, open);
    const std::string_view inside = side.substr(open + 1);
    if (!inside.ends_with(")") ||
        inside.find_first_of("+-*/^=( ") != kNowhere) {
      return false;
    }
  }
  return name.find_first_of("+-*/^|<> ") == kNowhere &&
         (name.find_first_of("0123456789") == kNowhere ||
          name.find('_') != kNowhere);
}

// "In the triangle: 5/\u221a3 = 5\u221a3/3", "W = \\int ... = kx^2/2",
// "\\ln 2 \\approx 0.693": the last exact side.
void AddChainEnd(std::string_view statement, std::vector<std::string>& out) {
  const std::string_view formula = FormulaAtEnd(statement);
  const Chain chain = ChainOf(formula);
  if (chain.sides.size() < 2 || chain.exact < 2) return;
  const std::string_view last = chain.sides[chain.exact - 1];
  const bool several = std::any_of(
      chain.sides.begin(), chain.sides.end(), [](std::string_view side) {
        const size_t at = side.find_first_of(",;");
        // "\\,"
        return at != kNowhere && (at == 0 || side[at - 1] != '\\');
      });
  const std::string_view left = chain.sides[0];
  const bool letters = HasLetters(WithoutCommands(last));
  const bool numeral = last.find_first_not_of("-0123456789.,") == kNowhere;
  // "x = 1 = 7" contradicts itself.
  const bool through_numeral = std::any_of(
      chain.sides.begin() + 1,
      chain.sides.begin() + static_cast<std::ptrdiff_t>(chain.exact) - 1,
      [](std::string_view side) {
        return side.find_first_not_of("-0123456789.,") == kNowhere;
      });
  // "$x = 1/2$ and $y = 3/2$": several values.
  const std::string_view front = statement.substr(
      0, static_cast<size_t>(formula.data() - statement.data()));
  const bool others = front.find('=') != kNowhere;
  // A number behind an equation in an unknown, or behind one of numbers, may be
  // a step or a check.
  const bool stands = NamesResult(left) || (letters && chain.exact > 2) ||
                      (!HasLetters(WithoutCommands(left)) && !letters);
  if (last.empty() || numeral || through_numeral || others ||
      HasPlainWords(last) || several || !stands) {
    return;
  }
  out.emplace_back(last);
}

// "so the solutions are | 5 and -3/2", "so x lies in | [-2, 8]"
void AddBehindVerb(std::string_view statement, std::vector<std::string>& out) {
  const std::string lower = PlainLower(statement);
  size_t behind = 0;
  for (const std::string_view verb : Phrases(Reading::kLeadsToValue)) {
    const size_t at = lower.rfind(verb);
    if (at == kNowhere || at == 0 || lower[at - 1] != ' ') continue;
    const size_t end = at + verb.size();
    if (end < lower.size() && lower[end] == ' ') behind = std::max(behind, end);
  }
  if (behind == 0) return;
  std::string_view said = TrimBlanks(statement.substr(behind));
  for (const std::string_view word : {"therefore ", "thus ", "then ", "simply ",
                                      "just ", "exactly ", "the interval "}) {
    if (said.starts_with(word)) said = TrimBlanks(said.substr(word.size()));
  }
  said = WithoutFormulaMarks(said);
  // "(x, y) = (3, -1)"
  if (const size_t equal = said.find('=');
      equal != kNowhere && said.starts_with("(") &&
      said.substr(0, equal).find_first_not_of(
          "()abcdefghijklmnopqrstuvwxyz, ") == kNowhere) {
    said = TrimBlanks(said.substr(equal + 1));
  }
  // "CH_4"
  const bool compound = said.size() > 1 && said[0] >= 'A' && said[0] <= 'Z' &&
                        HasDigits(said) &&
                        said.find_first_of(" =+-*/^(") == kNowhere;
  // A number alone may be that of another thing.
  const bool shape = compound || said.find_first_of(",[({:") != kNowhere ||
                     PlainLower(said).find(" and ") != std::string::npos;
  // "is thus eleven"
  constexpr size_t kLongestConcluded = 30;
  const std::string_view verb = std::string_view(lower).substr(0, behind);
  const bool concludes =
      (verb.ends_with(" thus") || verb.ends_with(" therefore")) &&
      said.size() < kLongestConcluded;
  if (said.empty() || !(concludes || (shape && !HasPlainWords(said))) ||
      said.find('=') != kNowhere || !DoubtAbout(statement, said).empty()) {
    return;
  }
  out.emplace_back(said);
  constexpr std::string_view kAnd = " and ";
  if (const size_t at = said.find(kAnd); at != kNowhere) {
    std::string list(said);
    list.replace(at, kAnd.size(), ", ");
    out.push_back(std::move(list));
  }
}

// "| 2 1 |\n| 7 4 |" at the end as a matrix.
void AddMatrixLines(const std::vector<std::string_view>& lines,
                    std::vector<std::string>& out) {
  constexpr size_t kMostRows = 5;
  std::vector<std::string> rows;
  size_t columns = 0;
  for (size_t i = lines.size(); i > 0 && rows.size() <= kMostRows; --i) {
    std::string_view line = lines[i - 1];
    if (line.size() < 5 || !line.starts_with("|") || !line.ends_with("|")) {
      break;
    }
    line = TrimBlanks(line.substr(1, line.size() - 2));
    if (line.find('|') != kNowhere || HasPlainWords(line)) return;
    std::string row;
    size_t entries = 0;
    while (!(line = TrimBlanks(line)).empty()) {
      const std::string_view entry = line.substr(0, line.find(' '));
      line.remove_prefix(entry.size());
      if (entries++ > 0) row += " & ";
      row += entry;
    }
    if (columns != 0 && entries != columns) return;
    columns = entries;
    rows.push_back(std::move(row));
  }
  if (rows.size() < 2 || rows.size() > kMostRows) return;
  std::string matrix = "\\begin{pmatrix} ";
  for (size_t i = rows.size(); i > 0; --i) {
    matrix += rows[i - 1];
    matrix += i > 1 ? " \\\\ " : " \\end{pmatrix}";
  }
  out.push_back(std::move(matrix));
}

// What follows "1.", "2nd:", "3)" at the start of a line; empty if another
// place than `place` stands there.
std::string_view BehindPlace(std::string_view line, size_t place) {
  size_t digits = 0;
  while (digits < line.size() && Digit(line[digits])) ++digits;
  if (line.substr(0, digits) != std::to_string(place)) return {};
  std::string_view rest = line.substr(digits);
  for (const std::string_view ending : {"st", "nd", "rd", "th"}) {
    if (rest.starts_with(ending)) rest.remove_prefix(ending.size());
  }
  if (rest.empty() || std::string_view(".:)").find(rest[0]) == kNowhere) {
    return {};
  }
  return WithoutLastMarks(WithoutFirstMarks(TrimBlanks(rest.substr(1))));
}

// "1st: Mel\n2nd: Eve" at the end as "Mel, Eve".
void AddRanking(const std::vector<std::string_view>& lines,
                std::vector<std::string>& out) {
  constexpr size_t kLongestItem = 30;
  size_t first = lines.size();
  while (first > 0 && BehindPlace(lines[first - 1], 1).empty()) --first;
  // A first item alone, or one that nothing leads to, is no ranking.
  if (first < 2 || first == lines.size()) return;
  std::string list;
  for (size_t i = first - 1; i < lines.size(); ++i) {
    const std::string_view item = BehindPlace(lines[i], i - first + 2);
    if (item.empty() || item.size() > kLongestItem ||
        item.find_first_of(".:,=?") != kNowhere) {
      return;
    }
    if (!list.empty()) list += ", ";
    list += item;
  }
  out.push_back(std::move(list));
}

// "Answer: invalid" in the last line.
void AddBehindAnswer(std::string_view last, std::vector<std::string>& out) {
  constexpr size_t kLongestSaid = 80;
  const size_t colon = last.find(':');
  if (colon == kNowhere || colon > 40) return;
  std::string label = PlainLower(last.substr(0, colon));
  std::erase_if(label, [](char c) { return c == '*' || c == '#'; });
  const std::string_view name = TrimBlanks(label);
  if (name != "answer" && name != "final answer" && name != "the answer") {
    return;
  }
  const std::string_view said =
      WithoutLastMarks(WithoutFirstMarks(last.substr(colon + 1)));
  // "Ann Lee (born Ray) - she discovered it"
  const size_t more = std::min({said.find(" ("), said.find(" - "),
                                said.find(" \u2013 "), said.find(" \u2014 ")});
  constexpr size_t kShortestName = 3;
  if (more < kLongestSaid && more >= kShortestName &&
      HasLetters(said.substr(0, more)) && !HasDigits(said.substr(0, more)) &&
      SaysPlainly(said)) {
    out.emplace_back(said.substr(0, more));
  }
  if (said.empty() || said.size() > kLongestSaid ||
      said.find_first_of("?.:;") != kNowhere) {
    return;
  }
  out.emplace_back(said);
}

// {"reasoning": "...", "answer": "A"}
void AddJsonAnswer(std::string_view text, std::vector<std::string>& out) {
  constexpr std::string_view kKey = "answer\":";
  if (!text.starts_with("{") || !text.ends_with("}")) return;
  const size_t at = text.rfind(kKey);
  if (at == kNowhere || text.find(kKey) != at) return;
  std::string_view value = TrimBlanks(text.substr(at + kKey.size()));
  value = TrimBlanks(value.substr(0, value.size() - 1));
  if (value.size() > 2 && value.starts_with("\"") && value.ends_with("\"")) {
    value = value.substr(1, value.size() - 2);
  }
  if (!value.empty() && value.find_first_of("\"{}\\") == kNowhere) {
    out.emplace_back(value);
  }
}

// "...; in interval notation: | [-2, 5)"
void AddBehindLabel(std::string_view clause, std::vector<std::string>& out) {
  const size_t colon = clause.find(": ");
  if (colon == kNowhere || HasPlainWords(clause.substr(colon))) return;
  const std::string label = PlainLower(clause.substr(0, colon));
  const auto rows = Rows(Reading::kResultLabel);
  if (std::any_of(rows.begin(), rows.end(), [&label](const Phrase& row) {
        return row.pattern == label;
      })) {
    out.emplace_back(WithoutFormulaMarks(TrimBlanks(clause.substr(colon + 1))));
  }
}

// "..., hence | c = 13", "..., or | y = 2x - 5", "roots in total: | 1, -1":
// the formulas of the last clause, without a rounded value or what a letter
// stands for behind them.
void AddLastClause(std::string_view sentence, std::vector<std::string>& out) {
  struct Joint {
    std::string_view words;
    bool concludes;
  };
  constexpr Joint kJoints[] = {
      {", hence ", true}, {", so ", true}, {", therefore ", true},
      {", thus ", true},  {"Then ", true}, {": ", false},
      {", or ", false},   {"; ", false},   {", that's ", false},
      {" form, ", false},
  };
  size_t behind = 0;
  bool concludes = false;
  for (const Joint& joint : kJoints) {
    const size_t at = sentence.rfind(joint.words);
    if (at == kNowhere || at + joint.words.size() < behind) continue;
    behind = at + joint.words.size();
    concludes = joint.concludes;
  }
  std::string_view said = sentence.substr(behind);
  for (const std::string_view more :
       {", about ", ", approximately ", ", where ", ", or about "}) {
    said = said.substr(0, said.find(more));
  }
  said = WithoutFormulaMarks(WithoutLastMarks(said));
  const bool plain_or = said.find(" or ") != kNowhere;
  const bool numeral = said.find_first_not_of("-0123456789.,/%$ ") == kNowhere;
  const bool named = said.find('=') != kNowhere;
  if (said.size() + 2 >= sentence.size()) return;
  // A number, or one of a letter, may be a step.
  if (said.empty() || HasPlainWords(said) || numeral ||
      (named && !concludes && !plain_or && HasDigits(said) &&
       !HasLetters(WithoutCommands(said.substr(said.rfind('=')))))) {
    return;
  }
  out.emplace_back(said);
}

// Whether a letter that may be a choice stands alone in a text; "A" may be a
// word.
bool NamesLetter(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool alone = (at == 0 || !Letter(text[at - 1])) &&
                       (at + 1 == text.size() || !Letter(text[at + 1]));
    const bool word = c == 'A' && at + 2 < text.size() && text[at + 1] == ' ' &&
                      Letter(text[at + 2]);
    if (alone && c >= 'A' && c <= 'H' && !word) return true;
  }
  return false;
}

// Without why, and without emphasis.
std::string WithoutReason(std::string_view sentence) {
  for (const std::string_view reason : {" because ", " since "}) {
    if (const size_t at = sentence.find(reason); at != kNowhere) {
      sentence = sentence.substr(0, at);
    }
  }
  std::string out(sentence);
  std::erase(out, '*');
  return out;
}

// "... in its strictest form. C is correct."
void AddChosen(std::string_view text, std::string_view sentence,
               std::vector<std::string>& out) {
  constexpr size_t kLongestChosen = 60;
  std::string said = WithoutReason(sentence);
  if (said.size() > kLongestChosen || said.size() == text.size() ||
      !ClaimsPlainly(said) || !NamesLetter(said) ||
      !Holds(PlainLower(said), Reading::kChoiceTaken) ||
      NamesLetter(text.substr(0, text.find(sentence)))) {
    return;
  }
  out.push_back(std::move(said));
}

// "Equivalently, | a > 9/4", "That makes it a | Tuesday"
void AddRestated(std::string_view sentence, std::vector<std::string>& out) {
  for (const std::string_view again :
       {"Equivalently, ", "In other words, ", "That makes it a ",
        "That makes it an ", "That makes it ", "This makes it ",
        "Which makes it "}) {
    if (sentence.starts_with(again)) {
      out.emplace_back(sentence.substr(again.size()));
      return;
    }
  }
}

// Whether a line is one item of a list.
bool IsItem(std::string_view line) {
  return line.starts_with("- ") || line.starts_with("* ") ||
         line.starts_with("\u2022") || BehindPlace(line, 1).size() > 0 ||
         (!line.empty() && Digit(line[0]) &&
          line.find_first_of(".)") < std::min<size_t>(3, line.size()));
}

// A last line that is no sentence.
void AddBareLine(const std::vector<std::string_view>& lines,
                 std::vector<std::string>& out) {
  constexpr size_t kLongestLine = 100;
  if (lines.size() < 2 || IsItem(lines.back())) return;
  const std::string_view line =
      WithoutLastMarks(WithoutFirstMarks(lines.back()));
  const std::string lower = PlainLower(line);
  const std::string_view before = lines[lines.size() - 2];
  const bool equation = line.find('=') != kNowhere && !line.starts_with("(");
  if (line.empty() || line.size() > kLongestLine || equation ||
      line.find_first_of(":?") != kNowhere || !ClaimsPlainly(before) ||
      BeginsIn(lower, Reading::kYesNo) > 0 ||
      Mentions(lower, Reading::kCopula) || Holds(lower, Reading::kVerb)) {
    return;
  }
  out.emplace_back(WithoutFormulaMarks(line));
}

}  // namespace

std::vector<std::string> LastClaims(std::string_view text) {
  std::vector<std::string> out;
  text = TrimBlanks(text);
  if (text.size() > kLongestClaimed) return out;
  const std::string plain = WithoutSpacing(WithPlainSigns(text));
  const std::string lower = PlainLower(plain);
  if (lower.find("boxed") != kNowhere) return out;
  const std::vector<std::string_view> lines = LinesOf(plain);
  if (lines.empty()) return out;
  AddJsonAnswer(plain, out);
  AddBehindAnswer(WithoutFirstMarks(lines.back()), out);
  if (const std::string_view only = LastStatementOf(plain);
      only.size() + 2 >= plain.size()) {
    AddChosen(plain, only, out);
  }
  if (lower.find("answer") != kNowhere) return out;
  AddMatrixLines(lines, out);
  AddRanking(lines, out);
  std::string_view last = WithoutLastMarks(WithoutFirstMarks(lines.back()));
  if (!ClaimsPlainly(last)) return out;
  AddBareLine(lines, out);
  std::string_view sentence = LastStatementOf(last);
  if (sentence.size() > kLongestClaim * 2) return out;
  AddChosen(plain, sentence, out);
  AddRestated(sentence, out);
  AddChainEnd(sentence, out);
  AddLastClause(sentence, out);
  // The last clause that concludes.
  for (const std::string_view so :
       {", so ", ", hence ", ", therefore ", "; "}) {
    if (const size_t at = sentence.rfind(so); at != kNowhere) {
      sentence.remove_prefix(at + so.size());
    }
  }
  AddBehindVerb(sentence, out);
  AddBehindLabel(sentence, out);
  return out;
}

}  // namespace espalier
