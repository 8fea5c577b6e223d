#include "datasets/answers/chemical_formula.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "datasets/answers/characters.h"
#include "datasets/answers/readings.h"
#include "datasets/answers/unicode_math.h"

namespace espalier {
namespace {

constexpr size_t kLongestFormula = 80;

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

}  // namespace

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
