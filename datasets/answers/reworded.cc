#include "datasets/answers/reworded.h"

#include <algorithm>
#include <utility>

#include "datasets/answers/characters.h"
#include "datasets/answers/clean_text.h"
#include "datasets/answers/compare_value.h"
#include "datasets/answers/last_statement.h"
#include "datasets/answers/names_said.h"
#include "datasets/answers/number_words.h"
#include "datasets/answers/parser.h"
#include "datasets/answers/phrases.h"
#include "datasets/answers/plain_fact.h"
#include "datasets/answers/reworded_amounts.h"
#include "datasets/answers/reworded_names.h"
#include "datasets/answers/stance.h"
#include "datasets/answers/thoughts.h"
#include "datasets/answers/times_dates.h"
#include "datasets/answers/units.h"
#include "datasets/answers/verdict_meant.h"

namespace espalier {
namespace {

constexpr size_t kLongestWorded = 8000;

// With "or" between values as "and".
std::string WithAnd(std::string_view text) {
  std::string out(text);
  constexpr std::string_view kOr = " or ";
  for (size_t at = out.find(kOr); at != std::string::npos;
       at = out.find(kOr, at)) {
    out.replace(at, kOr.size(), " and ");
  }
  return out;
}

// The length of "x", "x_1", "x\u2081" at the start of a text; 0 if it begins
// otherwise.
size_t NameLength(std::string_view text) {
  if (text.empty() || !Letter(text[0])) return 0;
  size_t end = 1;
  if (end < text.size() && text[end] == '_') ++end;
  const bool brace = end > 1 && end < text.size() && text[end] == '{';
  if (brace) ++end;
  while (end < text.size() && Digit(text[end])) ++end;
  if (brace && end < text.size() && text[end] == '}') ++end;
  while (end + 2 < text.size() && text.substr(end, 2) == "\xe2\x82") end += 3;
  return end < text.size() && Letter(text[end]) ? 0 : end;
}

// The names of "x = 2 or x = -3", "x_1 = 2, x_2 = -3", "x = 2, -3"; empty if a
// text is no list of values of this kind.
std::string NamesAssigned(std::string_view text) {
  constexpr std::string_view kJoints[] = {", and ", ", or ", ", ",
                                          "; ",     " and ", " or "};
  std::string names;
  size_t values = 0;
  while (!text.empty()) {
    size_t end = text.size(), length = 0;
    for (const std::string_view joint : kJoints) {
      const size_t at = text.find(joint);
      if (at < end) {
        end = at;
        length = joint.size();
      }
    }
    std::string_view item = TrimBlanks(text.substr(0, end));
    text.remove_prefix(end + length);
    const size_t name = NameLength(item);
    const std::string_view rest = TrimBlanks(item.substr(name));
    if (name > 0 && rest.starts_with("=")) {
      names += item[0];
      item = TrimBlanks(rest.substr(1));
    } else if (names.empty()) {
      return {};
    }
    ++values;
    size_t run = 0;
    for (const char c : item) {
      run = Letter(c) ? run + 1 : 0;
      if (run > 4) return {};
    }
    if (item.empty() || !HasDigits(item) ||
        item.find_first_of("=:?<>") != kNowhere) {
      return {};
    }
  }
  return values > 1 ? names : std::string();
}

// "Roots: 2 and -3", "(x - 2)(x + 3) = 0\nx = 2 or x = -3",
// "... => x = 2, -3": the values at the end of a text.
void AddValues(std::string_view text, std::string_view sentence,
               std::vector<RewordedPair>& out, std::string_view gold) {
  if (gold.find_first_of(",") == kNowhere && gold.find(" or ") == kNowhere &&
      gold.find(" and ") == kNowhere && gold.find("\\pm") == kNowhere) {
    return;
  }
  LabelledPart last = WithoutLeadWords(sentence);
  for (const std::string_view arrow : {"\u27f9", "\u21d2", "\u2192", "=>", "->",
                                       "\\implies", "\\Rightarrow"}) {
    const size_t at = last.said.rfind(arrow);
    if (at == kNowhere) continue;
    last.said = TrimBlanks(last.said.substr(at + arrow.size()));
  }
  const std::string label = PlainLower(last.label);
  const std::string names = NamesAssigned(last.said);
  const bool listed = !label.empty() && IsPhrase(label, Reading::kListLabel) &&
                      last.said.find_first_of(":?<>") == kNowhere &&
                      HasDigits(last.said);
  // "y = 3" of "x + y = 5, y = 3" is one value.
  const bool same =
      !names.empty() && names.find_first_not_of(names[0]) == std::string::npos;
  std::string sorted = names;
  std::sort(sorted.begin(), sorted.end());
  const bool apart =
      gold.starts_with("(") &&
      std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (!listed && !(same && names.size() > 0) && !(apart && names.size() > 1)) {
    return;
  }
  if (!label.empty() && !listed) return;
  if (!Claims(text, WithAnd(sentence), last.said)) return;
  out.push_back({std::string(gold), std::string(last.said)});
}

// "Domain: x != 2"
void AddLabelled(std::string_view text, std::string_view sentence,
                 std::vector<RewordedPair>& out, std::string_view gold) {
  const LabelledPart last = WithoutLeadWords(sentence);
  if (!last.label.empty() && last.said.find_first_of(":?") == kNowhere &&
      IsPhrase(PlainLower(last.label), Reading::kListLabel) &&
      // "2, -3 (only 2 is valid)"
      !Mentions(PlainLower(last.said), Reading::kIs) &&
      Claims(text, sentence, last.said)) {
    out.push_back({std::string(gold), std::string(last.said)});
  }
}

// "Half of the cake is left." as "1/2".
void AddFraction(std::string_view text, std::string_view sentence,
                 std::vector<RewordedPair>& out, std::string_view gold) {
  const std::string lower = PlainLower(sentence);
  const size_t of = lower.find(" of ");
  if (of == kNowhere || of > 30 || !HasDigits(gold) || HasDigits(lower) ||
      lower.find(" of ", of + 1) != kNowhere || !SaysPlainly(sentence) ||
      sentence.size() + 8 < text.size()) {
    return;
  }
  // "two thirds of twelve" is a product.
  const std::string_view whole = std::string_view(lower).substr(of + 4);
  if ((BeginsIn(whole, Reading::kArticle) == 0 &&
       BeginsIn(whole, Reading::kOwner) == 0) ||
      std::count(whole.begin(), whole.end(), ' ') < 2 ||
      whole.find(',') != kNowhere || whole.find(" and ") != kNowhere) {
    return;
  }
  std::string front = lower.substr(0, of);
  std::replace(front.begin(), front.end(), '-', ' ');
  const std::string number = NumberInWords(front);
  if (number.find('/') != std::string::npos) {
    out.push_back({std::string(gold), number});
  }
}

// "{x : x > 2}" and "<3, 4>" with the signs that LaTeX has for these.
void AddBrackets(std::string_view text, std::vector<RewordedPair>& out,
                 std::string_view gold) {
  constexpr size_t kLongest = 200;
  if (text.size() > kLongest) return;
  std::string said(text);
  if (const size_t colon = said.find(" : ");
      said.starts_with("{") && colon != std::string::npos) {
    said.replace(colon, 3, " | ");
    for (const std::string_view real : {" \u2208 \u211d", "\u2208\u211d"}) {
      const size_t at = said.find(real);
      if (at < colon) said.erase(at, real.size());
    }
    out.push_back({std::string(gold), said});
    return;
  }
  const size_t open = said.find('<'), close = said.rfind('>');
  const bool vector =
      open != std::string::npos && close == said.size() - 1 &&
      std::string_view(said).substr(open, close - open).find(',') != kNowhere &&
      said.find('<', open + 1) == std::string::npos &&
      said.find('>') == close && gold.find("langle") != kNowhere;
  if (!vector) return;
  said.replace(close, 1, "\\rangle");
  said.replace(open, 1, "\\langle ");
  out.push_back({std::string(gold), said});
}

// Whether an equation's left side is made by an operation on functions:
// "d/dx (x^2)", "(f + g)(x)", "f(g(x))".
bool IsOperation(std::string_view left) {
  std::string plain;
  for (const char c : left) {
    if (!Blank(c)) plain += c;
  }
  for (const std::string_view ring : {"\u2218", "\\circ"}) {
    const size_t at = plain.find(ring);
    if (at != std::string::npos) plain.replace(at, ring.size(), "o");
  }
  for (const std::string_view lead :
       {"d/dx", "\\frac{d}{dx}", "\\frac{d}{dt}", "d/dt"}) {
    if (plain.starts_with(lead)) return true;
  }
  // "A \u222a B", "A \\cap B"
  if (plain.size() > 2 && plain.size() < 12 && plain[0] >= 'A' &&
      plain[0] <= 'Z' && plain.back() >= 'A' && plain.back() <= 'Z') {
    const std::string_view sign =
        std::string_view(plain).substr(1, plain.size() - 2);
    for (const std::string_view join :
         {"\u222a", "\u2229", "\\cup", "\\cap", "\\setminus", "\\"}) {
      if (sign == join) return true;
    }
  }
  // "(f + g)(x)", "(fg)(x)"
  if (plain.size() > 6 && plain[0] == '(' && plain[1] == 'f') {
    const std::string_view rest = std::string_view(plain).substr(2);
    for (const std::string_view sign : {"+", "-", "*", "o", "/", ""}) {
      if (rest == std::string(sign) + "g)(x)") return true;
    }
  }
  for (const std::string_view lead : {"f(g(", "g(f(", "(fog)(", "(gof)("}) {
    const std::string_view rest =
        std::string_view(plain).substr(std::min(lead.size(), plain.size()));
    const size_t end = rest.find_first_not_of("-0123456789");
    if (plain.starts_with(lead) && end != kNowhere && end > 0 &&
        rest.substr(end).find_first_not_of(')') == kNowhere) {
      return true;
    }
  }
  return plain == "f(g(x))" || plain == "g(f(x))" || plain == "f'(x)" ||
         plain == "f''(x)" || plain == "y'" || plain == "dy/dx";
}

// "So x^2 - 9 = (x - 3)(x + 3)" without "So"; of "d/dx (x^2) = 2x" the right
// side.
void AddEquation(std::string_view text, std::string_view sentence,
                 std::vector<RewordedPair>& out, std::string_view gold) {
  const LabelledPart last = WithoutLeadWords(sentence);
  const size_t equal = last.said.find('=');
  if (equal == kNowhere || equal == 0 ||
      last.said.find_first_of("<>:?;") != kNowhere ||
      gold.find('=') != kNowhere) {
    return;
  }
  const bool label = last.label.empty() ||
                     IsPhrase(PlainLower(last.label), Reading::kListLabel) ||
                     IsPhrase(PlainLower(last.label), Reading::kResultLabel);
  if (!label) return;
  const bool cut = last.said.size() < sentence.size();
  const bool operation = IsOperation(TrimBlanks(last.said.substr(0, equal)));
  // "y = 3" may be one of several.
  const std::string_view side = TrimBlanks(last.said.substr(0, equal));
  if (NameLength(side) == side.size() || (!cut && !operation)) return;
  if (!Claims(text, sentence, last.said)) return;
  if (operation) {
    const std::string_view right =
        TrimBlanks(last.said.substr(last.said.rfind('=') + 1));
    out.push_back({std::string(gold), std::string(right)});
  } else {
    out.push_back({std::string(gold), std::string(last.said)});
  }
}

// "The molar mass of H2O is 2(1) + 16 = 18 g/mol": the last side, if the one
// in front is a calculation with numbers that gives it.
void AddCalculated(std::string_view text, std::string_view sentence,
                   std::vector<RewordedPair>& out, std::string_view gold) {
  const size_t equal = sentence.rfind('=');
  if (equal == kNowhere || equal == 0 || !HasDigits(gold)) return;
  std::string_view right = TrimBlanks(sentence.substr(equal + 1));
  // "350 g of flour"
  right = right.substr(0, right.find(" of "));
  size_t start = equal;
  constexpr std::string_view kSigns = "0123456789.,+-*/() ";
  while (start > 0) {
    const char c = sentence[start - 1];
    const bool sign =
        kSigns.find(c) != kNowhere || static_cast<unsigned char>(c) >= 0x80;
    if (!sign) break;
    --start;
  }
  const std::string_view front = sentence.substr(0, start);
  const std::string_view left =
      TrimBlanks(sentence.substr(start, equal - start));
  const size_t end = right.find_first_not_of("0123456789.,");
  const bool apart =
      start == 0 || sentence[start] == ' ' || front.back() == '=';
  if (!HasDigits(left) || left.size() > 120 || right.size() > 40 || end == 0 ||
      end == kNowhere || !apart) {
    return;
  }
  const auto a = ParseMath(left), b = ParseMath(right.substr(0, end));
  if (!a.ok() || !b.ok()) return;
  const GradePolicy policy;
  ValueComparer comparer(policy);
  if (!comparer.Equal(*a, *b)) return;
  if (!Claims(text, sentence, sentence.substr(equal))) return;
  out.push_back({std::string(gold), std::string(right)});
}

// "x + 3 = 4, x = 1": the last equation, if it solves the one in front.
void AddSolved(std::string_view text, std::string_view sentence,
               std::vector<RewordedPair>& out, std::string_view gold) {
  const LabelledPart last = WithoutLeadWords(sentence);
  const size_t comma = last.said.rfind(", ");
  if (comma == kNowhere || !last.label.empty() || gold.find(',') != kNowhere) {
    return;
  }
  const std::string_view before = last.said.substr(0, comma);
  std::string_view solved = TrimBlanks(last.said.substr(comma + 2));
  solved = TrimBlanks(solved.substr(BeginsIn(solved, Reading::kTherefore)));
  const size_t name = NameLength(solved);
  if (name == 0 || !TrimBlanks(solved.substr(name)).starts_with("=") ||
      std::count(solved.begin(), solved.end(), '=') != 1) {
    return;
  }
  const std::string_view value = solved.substr(solved.find('=') + 1);
  // The equation in front has the letter, with something done to it.
  const size_t part = before.rfind(", ");
  const std::string_view equation =
      TrimBlanks(before.substr(part == kNowhere ? 0 : part + 2));
  const size_t equal = equation.find('=');
  const std::string_view left = TrimBlanks(equation.substr(0, equal));
  const bool worked = equal != kNowhere && left.find(solved[0]) != kNowhere &&
                      left.find_first_of("0123456789+*/^()") != kNowhere &&
                      NameLength(left) != left.size();
  const auto letters = std::count_if(left.begin(), left.end(), Letter);
  if (!worked || letters != 1 || HasLetters(value) || !HasDigits(value)) {
    return;
  }
  if (!Claims(text, sentence, solved)) return;
  out.push_back({std::string(gold), std::string(solved)});
}

// Whether it is a known unit, also of temperature.
bool IsUnit(std::string_view unit) {
  constexpr std::string_view kDegree = "\u00b0";
  if (unit.starts_with(kDegree)) {
    return unit == "\u00b0C" || unit == "\u00b0F";
  }
  return ReadUnit(" " + std::string(unit)).known;
}

// "20 \u00b0C = 293 K": the last side of two amounts with units.
void AddConverted(std::string_view text, std::string_view sentence,
                  std::vector<RewordedPair>& out, std::string_view gold) {
  const size_t equal = sentence.find(" = ");
  if (equal == kNowhere || !HasDigits(gold)) return;
  const std::string_view left = TrimBlanks(sentence.substr(0, equal)),
                         right = TrimBlanks(sentence.substr(equal + 3));
  const auto amount = [](std::string_view side) {
    const size_t end = side.find_first_not_of("0123456789.,-");
    if (end == kNowhere || end == 0 || side.size() > 24) return false;
    const std::string_view unit = TrimBlanks(side.substr(end));
    return unit.find_first_of("0123456789=+*(") == kNowhere && IsUnit(unit);
  };
  // "F = ma = 20 kg m/s^2"
  const size_t last = right.rfind(" = ");
  const std::string_view value =
      last == kNowhere ? right : TrimBlanks(right.substr(last + 3));
  const bool formula = last != kNowhere && left.size() < 4 &&
                       HasLetters(left) && !HasDigits(left) &&
                       !HasDigits(right.substr(0, last)) && last < 20 &&
                       amount(value);
  const bool both = amount(left) && amount(right);
  if ((!formula && !both) || !Claims(text, sentence, value)) return;
  out.push_back({std::string(gold), std::string(value)});
}

// "Nitrogen boils at -196 \u00b0C (77 K)", "3 field goals (22, 34 and 41
// yards)": the amount in front without the bracket behind it.
void AddWithoutBracket(std::string_view text, std::string_view sentence,
                       std::vector<RewordedPair>& out, std::string_view gold) {
  const size_t open = sentence.rfind(" (");
  if (open == kNowhere || !sentence.ends_with(")") || !HasDigits(gold)) return;
  const std::string_view inside =
      sentence.substr(open + 2, sentence.size() - open - 3);
  const std::string_view front = sentence.substr(0, open);
  const size_t digits = inside.find_first_not_of("0123456789.,-");
  const bool amount = !inside.empty() &&
                      (Digit(inside[0]) || inside[0] == '-') &&
                      digits != kNowhere && !HasDigits(inside.substr(digits)) &&
                      IsUnit(TrimBlanks(inside.substr(digits))) &&
                      IsUnit(front.substr(front.rfind(' ') + 1));
  const bool list = inside.find(", ") != kNowhere && HasDigits(inside) &&
                    Digit(front[0]) &&
                    !HasDigits(front.substr(std::min(
                        front.find_first_not_of("0123456789"), front.size())));
  if ((!amount && !list) || !Claims(text, sentence, front)) return;
  out.push_back({std::string(gold), std::string(front)});
}

// "J. K. Rowling" as "JK Rowling".
std::string WithInitialsJoined(std::string_view name) {
  constexpr size_t kLongestNamed = 600;
  std::string out;
  if (name.size() > kLongestNamed) return std::string(name);
  for (size_t at = 0; at < name.size(); ++at) {
    const bool initial = name[at] == '.' && at > 0 && name[at - 1] >= 'A' &&
                         name[at - 1] <= 'Z' &&
                         (at == 1 || !Letter(name[at - 2]));
    if (!initial) {
      out += name[at];
      continue;
    }
    // A blank up to the next initial.
    if (at + 3 < name.size() && name[at + 1] == ' ' && name[at + 3] == '.') {
      ++at;
    }
  }
  return out;
}

// "12.5% of the residents were under 18": the share.
void AddShare(std::string_view text, std::string_view sentence,
              std::vector<RewordedPair>& out, std::string_view gold) {
  const size_t percent = sentence.find('%');
  if (percent == kNowhere || percent > 8 || !HasDigits(gold)) return;
  // "45% were Catholic"
  const std::string tail = PlainLower(sentence.substr(percent + 1));
  if (tail.starts_with(" ") && !HasDigits(tail) && SaysPlainly(sentence) &&
      BeginsIn(std::string_view(tail).substr(1), Reading::kIs) > 0 &&
      sentence.size() + 8 >= text.size() &&
      sentence.find_first_not_of("0123456789.") == percent) {
    out.push_back(
        {std::string(gold), std::string(sentence.substr(0, percent + 1))});
    return;
  }
  if (!sentence.substr(percent + 1).starts_with(" of ") ||
      sentence.substr(0, percent).find_first_not_of("0123456789.") !=
          kNowhere) {
    return;
  }
  // The other number is a bound.
  const std::string_view rest = sentence.substr(percent + 1);
  const size_t number = rest.find_first_of("0123456789");
  if (number == kNowhere ||
      EndsIn(TrimBlanks(PlainLower(rest.substr(0, number))),
             Reading::kAgeLimit) == 0 ||
      HasDigits(
          rest.substr(rest.find_first_not_of("0123456789", number) == kNowhere
                          ? rest.size()
                          : rest.find_first_not_of("0123456789", number)))) {
    return;
  }
  const std::string_view share = sentence.substr(0, percent + 1);
  if (!SaysPlainly(sentence) || sentence.size() + 8 < text.size()) return;
  out.push_back({std::string(gold), std::string(share)});
}

// Whether a text denies, doubts or attributes something.
bool LeavesOpen(std::string_view text) {
  const std::string lower = PlainLower(text);
  for (const Reading reading :
       {Reading::kDenies, Reading::kMaybe, Reading::kWrong, Reading::kOtherTry,
        Reading::kAttributes, Reading::kMisleads}) {
    if (Mentions(lower, reading)) return true;
  }
  return lower.find('?') != std::string::npos;
}

// "f(x) = x + 1 if x >= 0, and f(x) = 1 - x if x < 0" in the notation of gold,
// "\\begin{cases} x + 1 & x >= 0 \\\\ 1 - x & x < 0 \\end{cases}".
void AddCases(std::string_view text, std::vector<RewordedPair>& out,
              std::string_view gold) {
  constexpr std::string_view kCases = "\\begin{cases}";
  constexpr size_t kLongest = 600, kMostParts = 6;
  if (gold.find(kCases) == kNowhere || text.size() > kLongest ||
      text.find(kCases) != kNowhere) {
    return;
  }
  std::string plain;
  for (const char c : text) {
    if (c != '$' && c != '*' && c != '`') plain += c;
  }
  // The last "=" in front of a value: "f(x) = x + 1" as "x + 1".
  const auto value_of = [](std::string_view part) {
    const size_t equal = part.rfind('=');
    const bool name = equal != kNowhere && equal > 0 &&
                      std::string_view("<>!").find(part[equal - 1]) == kNowhere;
    part = TrimBlanks(name ? part.substr(equal + 1) : part);
    while (part.ends_with(",") || part.ends_with(".") || part.ends_with(";")) {
      part.remove_suffix(1);
    }
    return TrimBlanks(part);
  };
  std::string cases;
  size_t parts = 0;
  std::string_view rest = plain;
  while (!rest.empty() && parts < kMostParts) {
    size_t end = rest.size(), length = 0;
    for (const std::string_view joint : {", and ", "; ", "\n", ". ", " and "}) {
      const size_t at = rest.find(joint);
      if (at < end) {
        end = at;
        length = joint.size();
      }
    }
    const std::string_view part =
        WithoutLastMarks(WithoutFirstMarks(rest.substr(0, end)));
    rest.remove_prefix(end + length);
    const std::string padded = " " + PlainLower(part);
    size_t word = kNowhere, behind = 0;
    for (const std::string_view condition : Phrases(Reading::kOnlyOn)) {
      const size_t at = padded.find(" " + std::string(condition) + " ");
      if (at == kNowhere) continue;
      word = at;
      behind = at + condition.size() + 1;
    }
    if (word == kNowhere) continue;
    std::string_view condition = TrimBlanks(part.substr(behind));
    std::string_view value = TrimBlanks(part.substr(0, word));
    // "for x >= 0, f(x) = x + 1"
    if (value.empty()) {
      const size_t stop = condition.find_first_of(",:");
      if (stop == kNowhere) return;
      value = condition.substr(stop + 1);
      condition = condition.substr(0, stop);
    }
    if (value.find('=') == kNowhere && value.find(' ') != kNowhere &&
        value.find_first_of("+-*/^0123456789") == kNowhere) {
      continue;
    }
    if (condition.find_first_of("<>=") == kNowhere &&
        std::none_of(condition.begin(), condition.end(), [](char c) {
          return static_cast<unsigned char>(c) >= 0x80 || c == '\\';
        })) {
      return;
    }
    cases += (parts == 0 ? "" : " \\\\ ") + std::string(value_of(value)) +
             " & " + std::string(condition);
    ++parts;
  }
  if (parts < 2 || LeavesOpen(plain)) return;
  const size_t begin = gold.find(kCases);
  out.push_back({std::string(gold), std::string(gold.substr(0, begin)) +
                                        std::string(kCases) + " " + cases +
                                        " \\end{cases}"});
}

// "1:15 PM + 2 h 30 min = 3:45 PM"
void AddTime(std::string_view text, std::string_view sentence,
             std::vector<RewordedPair>& out, std::string_view gold) {
  if (TimeOfDay(gold).empty()) return;
  // "Arrival: 10:30 in the morning"
  const LabelledPart labelled = WithoutLeadWords(sentence);
  if (!labelled.label.empty() && !TimeOfDay(labelled.said).empty() &&
      Claims(text, sentence, labelled.said)) {
    out.push_back({std::string(gold), std::string(labelled.said)});
  }
  const size_t equal = sentence.rfind('=');
  if (equal == kNowhere) return;
  const std::string_view right = TrimBlanks(sentence.substr(equal + 1));
  if (TimeOfDay(right).empty() || sentence.find(':') > equal ||
      !Claims(text, sentence, right)) {
    return;
  }
  out.push_back({std::string(gold), std::string(right)});
}

// "dropped by 25%, from $40 to $30": without the two amounts.
void AddChange(std::string_view text, std::string_view sentence,
               std::vector<RewordedPair>& out, std::string_view gold) {
  const size_t comma = sentence.rfind(", from ");
  if (comma == kNowhere || !HasDigits(gold)) return;
  const std::string_view tail = sentence.substr(comma + 7);
  const size_t to = tail.find(" to ");
  if (to == kNowhere || tail.find_first_of(",;=") != kNowhere ||
      !HasDigits(tail.substr(0, to)) || !HasDigits(tail.substr(to)) ||
      !HasDigits(sentence.substr(0, comma)) ||
      std::count(tail.begin(), tail.end(), ' ') > 6) {
    return;
  }
  const std::string_view front = sentence.substr(0, comma);
  if (!Claims(text, sentence, front)) return;
  out.push_back({std::string(gold), std::string(front)});
}

// "slope 2, intercept 1 -> y = 2x + 1": the equation behind the last arrow.
void AddImplied(std::string_view text, std::string_view sentence,
                std::vector<RewordedPair>& out, std::string_view gold) {
  size_t behind = 0;
  for (const std::string_view arrow :
       {"\u27f9", "\u21d2", "\u2192", "=>", "->"}) {
    const size_t at = sentence.rfind(arrow);
    if (at != kNowhere) behind = std::max(behind, at + arrow.size());
  }
  if (behind == 0) return;
  const std::string_view said = TrimBlanks(sentence.substr(behind));
  if (said.find('=') == kNowhere || said.find_first_of(":?,;") != kNowhere ||
      !Claims(text, sentence, said)) {
    return;
  }
  out.push_back({std::string(gold), std::string(said)});
}

// "Adding: 2x = 6, so x = 3. Then y = 7 - 3 = 4.": the values of x and y, if
// gold is a pair and the last two equations give them.
void AddPair(std::string_view text, std::string_view sentence,
             std::vector<RewordedPair>& out, std::string_view gold) {
  if (gold.front() != '(' || gold.back() != ')' ||
      std::count(gold.begin(), gold.end(), ',') != 1 ||
      text.size() > 2 * kLongestLast || text.find_first_of("$\\") != kNowhere) {
    return;
  }
  // The last value of each letter, and where the text gives it.
  const auto value_of = [text](char letter, size_t* place) {
    std::string_view value;
    for (size_t at = 0; at + 2 < text.size(); ++at) {
      const bool name =
          text[at] == letter && (at == 0 || text[at - 1] == ' ' ||
                                 text[at - 1] == '\n' || text[at - 1] == '*');
      if (!name || !TrimBlanks(text.substr(at + 1)).starts_with("=")) continue;
      size_t end = at;
      while (end < text.size() &&
             std::string_view(",;\n").find(text[end]) == kNowhere &&
             !(text[end] == '.' &&
               (end + 1 == text.size() || Blank(text[end + 1])))) {
        ++end;
      }
      const std::string_view chain = text.substr(at, end - at);
      value = WithoutLastMarks(chain.substr(chain.rfind('=') + 1));
      *place = at;
    }
    return value;
  };
  size_t x_at = 0, y_at = 0;
  const std::string_view x = value_of('x', &x_at), y = value_of('y', &y_at);
  const auto number = [](std::string_view value) {
    return !value.empty() && HasDigits(value) &&
           value.find_first_not_of("0123456789./-") == kNowhere;
  };
  // The text ends with one of them.
  const std::string_view last = x_at < y_at ? y : x;
  const bool ends = WithoutLastMarks(text).ends_with(last);
  if (!number(x) || !number(y) || !ends ||
      !Claims(text, sentence, WithoutLastMarks(sentence))) {
    return;
  }
  out.push_back(
      {std::string(gold), "(" + std::string(x) + ", " + std::string(y) + ")"});
}

// "2.5 moles of CO2" as "2.5 moles".
void AddAmountOf(std::string_view text, std::string_view sentence,
                 std::vector<RewordedPair>& out, std::string_view gold) {
  if (!HasDigits(gold) || !HasLetters(gold)) return;
  const size_t blank = sentence.rfind(' ');
  if (blank == kNowhere || !IsFormulaSign(sentence.substr(blank + 1))) return;
  std::string_view front = TrimBlanks(sentence.substr(0, blank));
  if (front.ends_with(" of"))
    front = TrimBlanks(front.substr(0, front.size() - 3));
  const size_t unit = front.rfind(' ');
  if (unit == kNowhere || unit == 0 || !Digit(front[unit - 1]) ||
      !ReadUnit(" " + std::string(front.substr(unit + 1))).known ||
      !Claims(text, sentence, front)) {
    return;
  }
  out.push_back({std::string(gold), std::string(front)});
}

// "H$_2$SO$_4$" as "H_2SO_4": only indexes and charges are formulas.
std::string WithoutIndexDollars(std::string_view text) {
  std::string out;
  bool changed = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const bool index = at > 0 &&
                       (Letter(text[at - 1]) || Digit(text[at - 1]) ||
                        text[at - 1] == ')' || text[at - 1] == '$') &&
                       (rest.starts_with("$_") || rest.starts_with("$^"));
    const size_t close = index ? rest.substr(0, 10).find('$', 2) : kNowhere;
    if (close == kNowhere) {
      out += text[at];
      continue;
    }
    out += rest.substr(1, close - 1);
    at += close;
    changed = true;
  }
  return changed ? out : std::string();
}

// "0.1 M" as "0.1 mol/L", if the answer is in this unit.
void AddMolar(std::string_view gold, std::string_view answer,
              std::vector<RewordedPair>& out) {
  constexpr std::string_view kMolar = " M";
  gold = TrimBlanks(gold);
  std::string_view number = gold;
  for (const std::string_view unit :
       {"\\text{ M}", "\\,\\text{M}", "\\text{M}", " \\text{ M}",
        "\\ \\text{M}", "\\mathrm{M}", "~\\text{M}"}) {
    if (number.ends_with(unit)) {
      number = TrimBlanks(number.substr(0, number.size() - unit.size()));
    }
  }
  if (number.ends_with(kMolar)) number.remove_suffix(kMolar.size());
  number = TrimBlanks(number);
  if (number.size() == gold.size() || number.empty() ||
      number.find_first_not_of("0123456789.") != kNowhere) {
    return;
  }
  for (const std::string_view unit : Phrases(Reading::kMolarUnit)) {
    if (Lower(answer).find(unit) == std::string::npos) continue;
    out.push_back({std::string(number) + " mol/L", std::string(answer)});
    return;
  }
}

}  // namespace

std::vector<RewordedPair> Reworded(std::string_view gold,
                                   std::string_view answer) {
  constexpr size_t kLongestGold = 300;
  std::vector<RewordedPair> out;
  gold = TrimBlanks(gold);
  // Thoughts that never end hold no answer.
  if (gold.empty() || gold.size() > kLongestGold ||
      answer.size() > kLongestWorded ||
      WithoutThoughts(answer).size() != answer.size()) {
    return out;
  }
  const std::string plain = WithPlainSigns(TrimBlanks(answer));
  const std::string_view text = plain;
  if (text.empty()) return out;
  // "**Answer:** Yes" and a check mark
  if (static_cast<unsigned char>(text.back()) >= 0x80) {
    const std::string_view bare = WithoutLastMarks(text);
    if (!bare.empty() && bare.size() + 2 < text.size()) {
      out.push_back({std::string(gold), std::string(bare)});
    }
  }
  if (IsPhrase(Lower(gold), Reading::kVerdict)) {
    std::string_view verdict = VerdictAlone(gold, text);
    if (verdict.empty()) verdict = VerdictMeant(text);
    if (!verdict.empty()) {
      out.push_back({std::string(gold), std::string(verdict)});
    }
    return out;
  }
  if (std::string formula = WithoutIndexDollars(text); !formula.empty()) {
    out.push_back({std::string(gold), std::move(formula)});
  }
  AddMolar(gold, answer, out);
  AddCases(text, out, gold);
  AddBrackets(text, out, gold);
  // "JK Rowling" for "J. K. Rowling"
  if (const std::string name = WithInitialsJoined(gold);
      name != gold || WithInitialsJoined(text) != text) {
    if (name == WithInitialsJoined(text)) {
      out.push_back({std::string(gold), std::string(gold)});
    }
  }
  const bool initials =
      gold.find(". ") != kNowhere || text.find("U.S.") != kNowhere;
  if (initials ? StatesFact(WithInitialsJoined(gold), WithInitialsJoined(text))
               : StatesFact(gold, text)) {
    out.push_back({std::string(gold), std::string(gold)});
  }
  for (RewordedPair& pair : RewordedAmounts(gold, text)) {
    out.push_back(std::move(pair));
  }
  // Also without the checks at the end.
  const std::string_view front = WithoutChecks(text);
  for (const std::string_view said : {text, front}) {
    if (said.size() == text.size() && said.data() != text.data()) continue;
    const std::string_view sentence = LastStatementOf(said);
    if (sentence.size() > kLongestLast) continue;
    AddValues(text, sentence, out, gold);
    AddEquation(text, sentence, out, gold);
    AddCalculated(text, sentence, out, gold);
    AddSolved(text, sentence, out, gold);
    AddTime(text, sentence, out, gold);
    AddChange(text, sentence, out, gold);
    AddImplied(text, sentence, out, gold);
    AddLabelled(text, sentence, out, gold);
    AddFraction(text, sentence, out, gold);
    AddConverted(text, sentence, out, gold);
    AddWithoutBracket(text, sentence, out, gold);
    AddShare(text, sentence, out, gold);
    AddPair(text, sentence, out, gold);
    for (std::string& said : RewordedNames(text, sentence, gold)) {
      out.push_back({std::string(gold), std::move(said)});
    }
    AddAmountOf(text, sentence, out, gold);
    if (front.size() == text.size()) break;
  }
  return out;
}

}  // namespace espalier
