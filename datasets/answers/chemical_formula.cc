#include "datasets/answers/chemical_formula.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "datasets/answers/find/readings.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/unicode_math.h"

namespace espalier {
namespace {

constexpr size_t kLongestFormula = 80;
constexpr int kMostBrackets = 3;
constexpr size_t kLongestEquation = 300;

constexpr std::string_view kElements =
    " H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co "
    "Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te "
    "I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir "
    "Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu ";

bool IsElement(std::string_view symbol) {
  return kElements.find(" " + std::string(symbol) + " ") != kNowhere;
}

// "Fe^{2+}" as "Fe2+", "Al_2O_3" as "Al2O3"; empty if it is no formula of
// elements with an index or a charge.
std::string ElementFormula(std::string_view text) {
  std::string out;
  bool counts = false;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c >= 'A' && c <= 'Z') {
      const bool two =
          at + 1 < text.size() && text[at + 1] >= 'a' && text[at + 1] <= 'z';
      const std::string_view symbol = text.substr(at, two ? 2 : 1);
      if (!IsElement(symbol)) return {};
      out += symbol;
      at += symbol.size();
      continue;
    }
    if (c == '^') {
      const size_t sign = text.find_first_not_of("{0123456789", at + 1);
      if (sign == kNowhere || (text[sign] != '+' && text[sign] != '-')) {
        return {};
      }
    } else if (Digit(c) || c == '+' || c == '-') {
      if (out.empty()) return {};
      counts = true;
      out += c;
    } else if (c == '(' || c == ')') {
      out += c;
    } else if ((c != '_' && c != '{' && c != '}') ||
               (c == '{' && at + 1 < text.size() && Letter(text[at + 1]))) {
      return {};
    }
    ++at;
  }
  return counts ? out : std::string();
}

// The digit or sign that a character of two or three bytes sets below or above
// the line, and its length; '\0' if it is none.
std::pair<char, size_t> RaisedOrLowered(std::string_view text) {
  struct Sign {
    std::string_view bytes;
    char plain;
  };
  static constexpr Sign kSigns[] = {
      {"\u00b2", '2'}, {"\u00b3", '3'}, {"\u00b9", '1'}, {"\u207a", '+'},
      {"\u207b", '-'}, {"\u208a", '+'}, {"\u208b", '-'}, {"\u2212", '-'}};
  for (const Sign& sign : kSigns) {
    if (text.starts_with(sign.bytes)) return {sign.plain, sign.bytes.size()};
  }
  // U+2070 to U+2079 and U+2080 to U+2089
  if (text.size() < 3 || text[0] != '\xe2') return {'\0', 0};
  const auto block = static_cast<unsigned char>(text[1]);
  const auto last = static_cast<unsigned char>(text[2]);
  const bool above = block == 0x81 && last >= 0xb0 && last <= 0xb9;
  const bool below = block == 0x82 && last >= 0x80 && last <= 0x89;
  if (!above && !below) return {'\0', 0};
  return {static_cast<char>('0' + (last - (above ? 0xb0 : 0x80))), 3};
}

// Reads formulas and equations out of a text.
class ChemistryScanner {
 public:
  explicit ChemistryScanner(std::string_view text) : text_(text) {}

  // The end of the formula that begins at `at`, and the formula in plain
  // signs: "SO42-". `at` if there is none.
  size_t Formula(size_t at, std::string& out, bool* several) {
    const size_t start = at;
    int braces = 0, brackets = 0, atoms = 0;
    bool lower = false, counts = false;
    out.clear();
    while (at < text_.size()) {
      if (at - start > kLongestFormula) return start;
      const std::string_view rest = text_.substr(at);
      if (const size_t font = Font(rest); font > 0) {
        ++braces;
        at += font;
        continue;
      }
      const char c = rest[0];
      if (c >= 'A' && c <= 'Z') {
        const bool small = rest.size() > 1 && rest[1] >= 'a' && rest[1] <= 'z';
        if (!IsElement(rest.substr(0, small ? 2 : 1))) return start;
        lower |= small;
        ++atoms;
        out += rest.substr(0, small ? 2 : 1);
        at += small ? 2 : 1;
        continue;
      }
      if (atoms == 0) return start;
      if (const size_t state = StateOf(rest); state > 0) {
        at += state;
        break;
      }
      if (const auto [sign, length] = RaisedOrLowered(rest); length > 0) {
        if (rest.starts_with("\u2212")) break;
        counts = true;
        out += sign;
        at += length;
      } else if (Digit(c)) {
        counts = true;
        out += c;
        ++at;
      } else if (c == '(' && rest.size() > 1 && rest[1] >= 'A' &&
                 rest[1] <= 'Z') {
        // Complexes nest two: "K4[Fe(CN)6]".
        if (++brackets > kMostBrackets) return start;
        out += c;
        ++at;
      } else if (c == ')' && brackets > 0) {
        --brackets;
        out += c;
        ++at;
      } else if (c == '}' && braces > 0) {
        --braces;
        ++at;
      } else if (c == '_' || c == '^') {
        const size_t end = Index(at + 1, c == '^', out);
        if (end == at + 1) break;
        counts = true;
        at = end;
      } else if ((c == '+' || c == '-') && EndsCharge(at + 1)) {
        counts = true;
        out += c;
        ++at;
        break;
      } else {
        break;
      }
    }
    // A brace that a font opened may close behind blanks and dollars.
    while (braces > 0 && at < text_.size() && text_[at] == '}') {
      --braces;
      ++at;
    }
    const bool edge =
        at >= text_.size() || (!Letter(text_[at]) && !Digit(text_[at]));
    if (!edge || braces > 0 || brackets > 0 || atoms == 0) return start;
    *several = counts || (atoms > 1 && lower);
    return at;
  }

  // The end of the equation that begins at `at`, and the equation with the
  // terms of each side in order; `at` if there is none.
  size_t Equation(size_t at, std::string& out) {
    const size_t start = at;
    std::string sides[2];
    int side = 0;
    size_t braces = 0;
    std::vector<std::string> terms;
    while (true) {
      at = SkipBlanks(at, braces);
      std::string term;
      while (at < text_.size() && Digit(text_[at])) term += text_[at++];
      if (term == "1") term.clear();
      at = SkipBlanks(at, braces);
      std::string formula;
      bool several = false;
      const size_t end = Formula(at, formula, &several);
      if (end == at || end - start > kLongestEquation) return start;
      terms.push_back(term + " " + formula);
      size_t next = SkipBlanks(end, braces);
      if (next < text_.size() && text_[next] == '+') {
        at = next + 1;
        continue;
      }
      std::sort(terms.begin(), terms.end());
      for (const std::string& one : terms) sides[side] += one + "+";
      terms.clear();
      const size_t arrow = side == 0 ? Arrow(text_.substr(next)) : 0;
      if (side == 0 && arrow == 0) return start;
      at = side == 0 ? next + arrow : end;
      if (++side == 2) break;
    }
    while (braces > 0 && at < text_.size() && text_[at] == '}') {
      --braces;
      ++at;
    }
    out = sides[0] + ">" + sides[1];
    return braces > 0 ? start : at;
  }

 private:
  static size_t Font(std::string_view rest) {
    for (const std::string_view font :
         {"\\text{", "\\mathrm{", "\\ce{", "\\textrm{", "\\mathsf{"}) {
      if (rest.starts_with(font)) return font.size();
    }
    return 0;
  }

  static size_t StateOf(std::string_view rest) {
    for (const std::string_view state : {"(g)", "(l)", "(s)", "(aq)"}) {
      if (rest.starts_with(state)) return state.size();
    }
    return 0;
  }

  static size_t Arrow(std::string_view rest) {
    for (const std::string_view arrow :
         {"-->", "->", "=>", "=", "\u2192", "\u27f6", "\u21cc",
          "\\rightleftharpoons", "\u21d2", "\\rightarrow", "\\longrightarrow",
          "\\to ", "\\to\\", "\\Rightarrow"}) {
      if (!rest.starts_with(arrow)) continue;
      return arrow.ends_with("\\") ? arrow.size() - 1 : arrow.size();
    }
    return 0;
  }

  static constexpr size_t kMostBraces = 8;  // open at a time
  size_t SkipBlanks(size_t at, size_t& braces) const {
    while (at < text_.size()) {
      const std::string_view rest = text_.substr(at);
      if (rest[0] == ' ') {
        ++at;
      } else if (rest.starts_with("\\,") || rest.starts_with("\\;") ||
                 rest.starts_with("\\ ") || rest.starts_with("\\:")) {
        at += 2;
      } else if (rest.starts_with("\\ce{") && braces < kMostBraces) {
        ++braces;
        at += 4;
      } else if (rest.starts_with("\\mathrm{") && Equated(at)) {
        ++braces;
        at += 8;
      } else {
        break;
      }
    }
    return at;
  }

  // Whether the braces that open at `at` hold more than one formula.
  bool Equated(size_t at) const {
    const std::string_view inside =
        text_.substr(at, kLongestFormula).substr(sizeof("\\mathrm{") - 1);
    const size_t end = inside.find_first_of("+=>}\\");
    return end != kNowhere &&
           (inside[end] == '+' || Digit(inside[0]) || inside[end] == '\\');
  }

  // "_2", "_{12}", "^{2-}", "^-"
  size_t Index(size_t at, bool charge, std::string& out) const {
    const size_t start = at;
    const bool brace = at < text_.size() && text_[at] == '{';
    if (brace) ++at;
    std::string digits;
    while (at < text_.size() &&
           (Digit(text_[at]) ||
            (charge && (text_[at] == '+' || text_[at] == '-')))) {
      digits += text_[at++];
      if (!brace && !charge) break;
    }
    if (digits.empty() || (charge && digits.find_first_of("+-") == kNowhere)) {
      return start;
    }
    if (brace && (at >= text_.size() || text_[at++] != '}')) return start;
    out += digits;
    return at;
  }

  // Whether a sign in front of `at` is a charge, not one of a sum.
  bool EndsCharge(size_t at) const {
    return at >= text_.size() || Blank(text_[at]) ||
           std::string_view(".,;:)}$*").find(text_[at]) != kNowhere;
  }

  std::string_view text_;
};

// Without the delimiters of a formula.
std::string_view WithoutDollars(std::string_view text) {
  text = TrimBlanks(text);
  while (text.size() > 2 && text.front() == '$' && text.back() == '$') {
    text = TrimBlanks(text.substr(1, text.size() - 2));
  }
  return text;
}

// Gold as a formula or an equation of chemistry; empty if it is none.
struct Chemistry {
  std::string formula, equation;
};

Chemistry ChemistryOf(std::string_view text) {
  Chemistry out;
  text = WithoutDollars(text);
  if (text.empty() || text.size() > kLongestEquation) return out;
  ChemistryScanner scanner(text);
  bool several = false;
  if (scanner.Formula(0, out.formula, &several) != text.size() || !several) {
    out.formula.clear();
  }
  if (scanner.Equation(0, out.equation) != text.size()) out.equation.clear();
  return out;
}

}  // namespace

std::optional<bool> SameChemistry(std::string_view a, std::string_view b) {
  const Chemistry x = ChemistryOf(a), y = ChemistryOf(b);
  if (!x.equation.empty() && !y.equation.empty()) {
    return x.equation == y.equation;
  }
  const auto elements = [](const std::string& formula) {
    return std::count_if(formula.begin(), formula.end(),
                         [](char c) { return c >= 'A' && c <= 'Z'; });
  };
  if (elements(x.formula) < 2 || elements(y.formula) < 2) return std::nullopt;
  return x.formula == y.formula;
}

std::string WithFormulaNamed(std::string_view gold, std::string_view text) {
  constexpr size_t kMostOthers = 20;
  const Chemistry wanted = ChemistryOf(gold);
  const bool equation = !wanted.equation.empty();
  const std::string& key = equation ? wanted.equation : wanted.formula;
  if (key.empty()) return std::string(text);
  std::string out, said;
  std::vector<std::string> others;
  ChemistryScanner scanner(text);
  char front = ' ';  // the last character that is no blank
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const char last = front;
    if (c != ' ') front = c;
    const bool begins =
        (at == 0 || (!Letter(text[at - 1]) && !Digit(text[at - 1]) &&
                     text[at - 1] != '\\' && text[at - 1] != '_')) &&
        ((c >= 'A' && c <= 'Z') || c == '\\' || (equation && Digit(c))) &&
        // A term of a sum begins no equation.
        !(equation && last == '+');
    bool several = false;
    size_t end = at;
    if (begins) {
      end = equation ? scanner.Equation(at, said)
                     : scanner.Formula(at, said, &several);
    }
    if (end == at || (!equation && !several)) {
      out += c;
      ++at;
      continue;
    }
    // "$H_2O$"; a formula of its own lines stays one.
    while (out.ends_with("$") && !out.ends_with("$$") && end < text.size() &&
           text[end] == '$') {
      out.pop_back();
      ++end;
    }
    out += kFormulaName;
    if (said != key) {
      size_t index = static_cast<size_t>(
          std::find(others.begin(), others.end(), said) - others.begin());
      if (index == others.size() && index < kMostOthers) others.push_back(said);
      out += static_cast<char>('a' + index);
      out += "ne";
    }
    at = end;
  }
  return out;
}

bool SameFormula(std::string_view a, std::string_view b) {
  if (a.size() > kLongestFormula || b.size() > kLongestFormula) return false;
  const std::string x = WithoutUpright(AsciiMath(a)),
                    y = WithoutUpright(AsciiMath(b));
  const bool element = std::any_of(
      x.begin(), x.end(), [](unsigned char c) { return std::isupper(c) != 0; });
  const bool plain = std::all_of(x.begin(), x.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_^+-(){}").find(static_cast<char>(c)) !=
               std::string_view::npos;
  });
  const auto marks = [](const std::string& formula) {
    return formula.find_first_of("_^") != std::string::npos;
  };
  if (element && plain && marks(x) && x == y) return true;
  // Where both are marked, the marks count.
  if (marks(x) == marks(y)) return false;
  const std::string formula = ElementFormula(x);
  return !formula.empty() && formula == ElementFormula(y);
}

}  // namespace espalier
