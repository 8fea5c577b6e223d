#include "datasets/answers/reworded_equations.h"

#include <algorithm>
#include <utility>

#include "datasets/answers/find/last_statement.h"
#include "datasets/answers/notation/parser.h"
#include "datasets/answers/value/compare_value.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

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

}  // namespace

std::vector<RewordedPair> RewordedEquations(std::string_view gold,
                                            std::string_view text,
                                            std::string_view sentence) {
  std::vector<RewordedPair> out;
  AddValues(text, sentence, out, gold);
  AddEquation(text, sentence, out, gold);
  AddCalculated(text, sentence, out, gold);
  AddSolved(text, sentence, out, gold);
  AddImplied(text, sentence, out, gold);
  AddPair(text, sentence, out, gold);
  return out;
}

std::vector<RewordedPair> RewordedCases(std::string_view gold,
                                        std::string_view text) {
  std::vector<RewordedPair> out;
  AddCases(text, out, gold);
  return out;
}

}  // namespace espalier
