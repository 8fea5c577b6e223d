#include "datasets/answers/find/plain_formulas.h"

#include <algorithm>
#include <iterator>

#include "datasets/answers/find/answer_spans.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/words/characters.h"

namespace espalier {
namespace {

// Signs between two operands, in the order in which they are tried. "-" and "/"
// also occur in words and numbers that are not formulas.
constexpr std::string_view kSigns[] = {
    "<=",     ">=",     "!=",     "==",     "=",      "<",      ">",
    "+",      "-",      "*",      "/",      "^",      "\u2264", "\u2265",
    "\u2260", "\u2248", "\u00b7", "\u22c5", "\u00d7", "\u00f7", "\u00b1",
    "\u222a", "\u2229", "\u2208", "\u2212", "\u2261"};
constexpr std::string_view kLeading[] = {"-", "+", "\u2212", "\u00b1"};
constexpr std::string_view kOpens[] = {"\u27e8"};
// What may follow an operand directly.
constexpr std::string_view kPowers[] = {"\u00b2", "\u00b3", "\u00b9", "\u2070",
                                        "\u2074", "\u2075", "\u2076", "\u2077",
                                        "\u2078", "\u2079", "\u207f", "\u207b"};
constexpr std::string_view kLows[] = {"\u2080", "\u2081", "\u2082", "\u2083",
                                      "\u2084", "\u2085", "\u2086", "\u2087",
                                      "\u2088", "\u2089"};
constexpr std::string_view kConstants[] = {
    "\u03c0", "\u221e", "\u2205", "\u03b8", "\u03b1", "\u03b2",
    "\u03bb", "\u00bd", "\u00bc", "\u00be", "\u2153", "\u2154",
    "\u2155", "\u215b", "\u215c", "\u215d", "\u215e"};
constexpr std::string_view kFunctions[] = {
    "sqrt", "cbrt", "sin",    "cos",    "tan",    "cot", "sec",
    "csc",  "log",  "arcsin", "arccos", "arctan", "ln",  "exp",
    "pi",   "gcd",  "lcm",    "inf",    "abs",    "det", "infinity"};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // The end of the formula that begins at `at`; `at` if none does.
  size_t FormulaAt(size_t at) {
    strong_ = false;
    const size_t end = Chain(at);
    return strong_ && !NoFormula(text_.substr(at, end - at)) ? end : at;
  }

 private:
  static constexpr int kDeepest = 16;

  template <size_t n>
  size_t OneOf(const std::string_view (&words)[n], size_t at) const {
    for (const std::string_view word : words) {
      if (text_.substr(at).starts_with(word)) return word.size();
    }
    return 0;
  }

  size_t SkipBlanks(size_t at) const {
    while (at < text_.size() && text_[at] == ' ') ++at;
    return at;
  }

  char At(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  // "10-20", "3/4", "2024-05-06": numbers, whatever is between them.
  static bool NoFormula(std::string_view said) {
    return said.find_first_not_of("0123456789-/.,") == said.npos ||
           said.size() < 2;
  }

  // Alternating operands and signs; returns where they are complete.
  size_t Chain(size_t at) {
    if (depth_ >= kDeepest) return at;
    ++depth_;
    size_t end = at;
    size_t next = Operand(at);
    while (next > end) {
      end = next;
      const size_t sign = SkipBlanks(end);
      const bool spaced = sign > end;
      const size_t length = Sign(sign, spaced);
      if (length == 0) break;
      const size_t from = SkipBlanks(sign + length);
      const bool dash = text_[sign] == '-' || text_[sign] == '/';
      // "10-20", but not "x - 2"
      const bool was = strong_;
      next = Operand(from);
      if (next == from) {
        strong_ = was;
        break;
      }
      // The article: "x = 2 - a root of both".
      if (spaced && (text_[from] == 'a' || text_[from] == 'I') &&
          next == from + 1 && At(next) == ' ' && dash) {
        strong_ = was;
        break;
      }
      strong_ |= !dash || spaced || Letter(text_[from]) ||
                 Letter(text_[end - 1]) || text_[end - 1] == ')' ||
                 text_[from] == '(';
    }
    --depth_;
    return end;
  }

  size_t Sign(size_t at, bool spaced) const {
    size_t length = OneOf(kSigns, at);
    // "2 x 10^-6"
    if (spaced && At(at) == 'x' && At(at + 1) == ' ' && at > 1 &&
        Digit(text_[at - 2]) && Digit(At(at + 2))) {
      return 1;
    }
    // "5 : 2", but not a sentence's colon.
    if (spaced && At(at) == ':' && At(at + 1) == ' ' && Digit(At(at + 2))) {
      return 1;
    }
    // "**" marks bold text; "--" and "->" are not signs.
    if (length == 1 && (At(at + 1) == text_[at] || text_.substr(at, 2) == "->"))
      length =
          text_.substr(at, 2) == "**" && !spaced && At(at + 2) != ' ' ? 2 : 0;
    return length;
  }

  size_t Operand(size_t at) {
    at += OneOf(kLeading, at);
    size_t end = at;
    // Factors side by side: "3x", "2(x+1)", "9\u03c0", "f(x)".
    while (true) {
      size_t next = Factor(end, end > at);
      // "12 \u03c0 feet"
      if (next == end && end > at && At(end) == ' ' &&
          text_.substr(end + 1).starts_with("\u03c0")) {
        next = Factor(end + 1, true);
      }
      if (next == end) break;
      end = next;
    }
    // "3i" is not a unit.
    const std::string_view said = text_.substr(at, end - at);
    strong_ |= said.size() > 1 && Digit(said[0]) &&
               said.find_first_not_of("0123456789") == said.size() - 1 &&
               std::string_view("ixyzn").find(said.back()) != said.npos;
    return end;
  }

  // One number, letter, root, function or bracket with its powers.
  size_t Factor(size_t at, bool beside) {
    size_t end = at;
    const char c = At(at);
    if (Digit(c)) {
      end = Number(at);
      // "5 1/2"
      const size_t part = SkipBlanks(end);
      if (part == end + 1 && Digit(At(part)) && !beside) {
        const size_t over = Number(part);
        if (At(over) == '/' && Digit(At(over + 1))) end = Number(over + 1);
      }
    } else if (Letter(c)) {
      end = Name(at, beside);
    } else if (c == '(' || c == '[' || c == '{' || OneOf(kOpens, at) > 0) {
      end = Bracket(at);
    } else if (c == '|' && !beside) {
      end = Bars(at);
    } else if (text_.substr(at).starts_with("\u221a")) {
      const size_t under = at + std::string_view("\u221a").size();
      end = Factor(under, false);
      if (end == under) return at;
      strong_ = true;
    } else if (const size_t length = OneOf(kConstants, at)) {
      end = at + length;
      strong_ = true;
    }
    if (end == at) return at;
    for (size_t low = OneOf(kLows, end); low > 0; low = OneOf(kLows, end)) {
      end += low;
    }
    for (size_t up = OneOf(kPowers, end); up > 0; up = OneOf(kPowers, end)) {
      end += up;
      strong_ = true;
    }
    if (At(end) == '_' && (Digit(At(end + 1)) || Letter(At(end + 1))) &&
        !Letter(At(end + 2))) {
      end += 2;
    }
    if (text_.substr(end).starts_with("\u00b0")) {
      end += std::string_view("\u00b0").size();
    }
    // "5! = 120"; an exclamation mark at the end of a sentence is not one.
    if (At(end) == '!' && At(end + 1) != '=') {
      const size_t behind = SkipBlanks(end + 1);
      if (OneOf(kSigns, behind) > 0) ++end;
    }
    return end;
  }

  size_t Number(size_t at) const {
    size_t end = at;
    while (Digit(At(end))) ++end;
    while (At(end) == ',' && Digit(At(end + 1)) && Digit(At(end + 2)) &&
           Digit(At(end + 3)) && !Digit(At(end + 4))) {
      end += 4;
    }
    if (At(end) == '.' && Digit(At(end + 1))) {
      ++end;
      while (Digit(At(end))) ++end;
    }
    if (At(end) == '%') ++end;
    return end;
  }

  // A single letter, several behind a factor ("3xy"), or a function.
  size_t Name(size_t at, bool beside) {
    size_t end = at;
    while (Letter(At(end))) ++end;
    const std::string_view word = text_.substr(at, end - at);
    if (At(end) == '\'' && Letter(At(end + 1))) return at;
    for (const std::string_view function : kFunctions) {
      if (word != function) continue;
      if (word == "pi" || word.starts_with("inf")) {
        strong_ |= word == "pi";
        return end;
      }
      const size_t of = SkipBlanks(end);
      const size_t over = Factor(of, false);
      if (over == of) return at;
      strong_ = true;
      return over;
    }
    // "x" itself; "2ab", not "2nd" or "5km".
    if (word.size() == 1) return end;
    const bool product = beside && word.size() == 2 && word != "nd" &&
                         word != "rd" && word != "st" && word != "th" &&
                         word != "km" && word != "cm" && word != "mm" &&
                         word != "kg" && word != "mg" && word != "ml" &&
                         word != "am" && word != "pm" && word != "ft" &&
                         word != "in" && word != "lb" && word != "oz";
    return product ? end : at;
  }

  size_t Bracket(size_t at) {
    if (depth_ >= kDeepest) return at;
    const bool was = strong_;
    const size_t opens = OneOf(kOpens, at);
    size_t end = at + std::max<size_t>(opens, 1), items = 0;
    while (true) {
      const size_t from = SkipBlanks(end);
      const size_t next = Chain(from);
      if (next == from) break;
      ++items;
      end = SkipBlanks(next);
      if (At(end) != ',' && At(end) != ';') break;
      ++end;
    }
    const char close = At(end);
    const bool closes = opens > 0
                            ? text_.substr(end).starts_with("\u27e9")
                            : close == ')' || close == ']' || close == '}';
    if (items == 0 || !closes) {
      strong_ = was;
      return at;
    }
    if (opens > 0) end += std::string_view("\u27e9").size() - 1;
    strong_ |= items > 1 || text_[at] == '{';
    return end + 1;
  }

  size_t Bars(size_t at) {
    const bool was = strong_;
    const size_t end = Chain(at + 1);
    if (end == at + 1 || At(end) != '|') {
      strong_ = was;
      return at;
    }
    strong_ = true;
    return end + 1;
  }

  std::string_view text_;
  int depth_ = 0;
  bool strong_ = false;
};

bool BeginsWord(std::string_view text, size_t at) {
  return at == 0 || Blank(text[at - 1]) ||
         std::string_view("(\"'*:").find(text[at - 1]) != text.npos ||
         text.substr(0, at).ends_with("\u2014");
}

bool EndsWord(std::string_view text, size_t at) {
  return at == text.size() || Blank(text[at]) ||
         std::string_view(".,;:!?)\"'*").find(text[at]) != text.npos ||
         text.substr(at).starts_with("\u2014") ||
         text.substr(at).starts_with("\u2026");
}

// Whether a sign joins the text before or behind `at` to a formula: "7 puppies
// / | 20 puppies".
bool SignBefore(std::string_view text, size_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  const std::string_view lead = text.substr(0, at);
  for (const std::string_view sign : kSigns) {
    if (lead.ends_with(sign)) return !lead.ends_with("**");
  }
  return lead.ends_with("\u2013") || lead.ends_with("$") ||
         lead.ends_with(" x");
}

bool SignBehind(std::string_view text, size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  const std::string_view rest = text.substr(at);
  for (const std::string_view sign : kSigns) {
    if (rest.starts_with(sign)) return !rest.starts_with("**");
  }
  return rest.starts_with("\u2013");
}

// Whether the text has natural-language words, which function names are not.
bool ReadsAsProse(std::string_view text) {
  constexpr int kFewest = 2;
  int words = 0;
  for (size_t at = 0; at < text.size() && words < kFewest;) {
    size_t end = at;
    while (end < text.size() && Letter(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    const bool function =
        std::find(std::begin(kFunctions), std::end(kFunctions), word) !=
        std::end(kFunctions);
    words += word.size() >= 2 && !function && !IsUnitWord(word) ? 1 : 0;
    at = std::max(end, at + 1);
  }
  return words >= kFewest;
}

}  // namespace

std::string MarkFormulas(std::string_view text) {
  if (text.size() > kLongestMarked || text.find('\\') != text.npos ||
      text.find("```") != text.npos || text.find("$$") != text.npos ||
      text.find("</") != text.npos || !ReadsAsProse(text) ||
      !Formulas(text).empty()) {
    return {};
  }
  Scanner scanner(text);
  std::string out;
  bool any = false;
  for (size_t at = 0; at < text.size();) {
    // "9.8 m/s\u00b2"
    const bool unit = at > 1 && text[at - 1] == ' ' && Digit(text[at - 2]) &&
                      Letter(text[at]);
    const size_t end = BeginsWord(text, at) && !unit && !SignBefore(text, at)
                           ? scanner.FormulaAt(at)
                           : at;
    // A word continues: "x-axis", "2x4s".
    if (end == at || !EndsWord(text, end) || SignBehind(text, end)) {
      out += text[at++];
      continue;
    }
    any = true;
    out += "\\(";
    out += text.substr(at, end - at);
    out += "\\)";
    at = end;
  }
  return any ? out : std::string();
}

}  // namespace espalier
