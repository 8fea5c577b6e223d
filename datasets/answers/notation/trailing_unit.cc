#include "datasets/answers/notation/trailing_unit.h"

#include <algorithm>
#include <cctype>

#include "datasets/answers/value/units.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/unicode_math.h"

namespace espalier {
namespace {

constexpr size_t kLongestWithUnit = 160;
constexpr size_t kLongestWord = 20;

bool Alpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

size_t SkipBlanks(std::string_view text, size_t at) {
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    if (Blank(rest[0]) || rest[0] == '~') {
      ++at;
    } else if (rest.size() > 1 && rest[0] == '\\' &&
               std::string_view(" ,;:!").find(rest[1]) !=
                   std::string_view::npos) {
      at += 2;
    } else {
      break;
    }
  }
  return at;
}

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() &&
         (Digit(text[at]) || ((text[at] == '.' || text[at] == ',') &&
                              at + 1 < text.size() && Digit(text[at + 1])))) {
    ++at;
  }
  return at;
}

// "\\times 10^{-3}" behind a number.
size_t SkipPowerOfTen(std::string_view text, size_t at) {
  size_t end = SkipBlanks(text, at);
  bool sign = false;
  for (const std::string_view times : {"\\times", "\\cdot", "x", "*"}) {
    if (sign || !text.substr(end).starts_with(times)) continue;
    end = SkipBlanks(text, end + times.size());
    sign = true;
  }
  if (!sign || !text.substr(end).starts_with("10^")) return at;
  end += 3;
  const bool brace = end < text.size() && text[end] == '{';
  if (brace) ++end;
  if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
  const size_t digits = SkipDigits(text, end);
  if (digits == end) return at;
  if (!brace) return digits;
  return digits < text.size() && text[digits] == '}' ? digits + 1 : at;
}

// End of the number that the text begins with; 0 if none.
size_t NumberEnd(std::string_view text) {
  size_t at = SkipBlanks(text, 0);
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  size_t end = SkipDigits(text, at);
  if (end == at) {
    // "10^4"
    for (const std::string_view fraction : {"\\frac{", "\\dfrac{"}) {
      if (!text.substr(at).starts_with(fraction)) continue;
      const size_t top = SkipDigits(text, at + fraction.size());
      if (!text.substr(top).starts_with("}{")) return 0;
      const size_t bottom = SkipDigits(text, top + 2);
      const bool closed = bottom < text.size() && text[bottom] == '}';
      return closed && bottom > top + 2 ? bottom + 1 : 0;
    }
    return 0;
  }
  if (text.substr(at, end - at) == "10" && text.substr(end).starts_with("^")) {
    const size_t power = SkipPowerOfTen("*" + std::string(text.substr(at)), 0);
    return power > 0 ? at + power - 1 : 0;
  }
  // "1.6e-19"
  if (end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const size_t sign = text[end + 1] == '-' || text[end + 1] == '+' ? 1 : 0;
    const size_t digits = SkipDigits(text, end + 1 + sign);
    if (digits > end + 1 + sign) return digits;
  }
  if (end < text.size() && text[end] == '/' && end + 1 < text.size() &&
      Digit(text[end + 1])) {
    end = SkipDigits(text, end + 1);
  }
  end = SkipPowerOfTen(text, end);
  // "100\\pi m^2"
  constexpr std::string_view kPi = "\\pi";
  const size_t pi = SkipBlanks(text, end);
  const std::string_view rest = text.substr(std::min(pi, text.size()));
  const bool whole = rest.size() > kPi.size() && !Alpha(rest[kPi.size()]);
  return rest.starts_with(kPi) && whole ? pi + kPi.size() : end;
}

// The unit without commands: "\\text{ k}\\Omega" is " kΩ". Empty if there is
// anything else.
std::string PlainUnit(std::string_view text) {
  std::string out;
  int open = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t next = SkipBlanks(text, at);
    if (next > at) {
      // "\\mu m"
      if (!out.ends_with("μ")) out += ' ';
      at = next;
      continue;
    }
    const char c = text[at];
    if (c == '\\') {
      size_t end = at + 1;
      while (end < text.size() && Alpha(text[end])) ++end;
      const std::string_view name = text.substr(at + 1, end - at - 1);
      at = end;
      if (name == "mu") {
        out += "μ";
      } else if (name == "Omega") {
        out += "Ω";
      } else if (name == "cdot" || name == "times" || name == "left" ||
                 name == "right") {
        out += ' ';
      } else if (name == "frac" || name == "dfrac") {
        // "\\frac{J}{mol}"
        int depth = 0;
        size_t close = at;
        for (; close < text.size(); ++close) {
          if (text[close] == '{') ++depth;
          if (text[close] == '}' && --depth == 0) break;
        }
        if (at >= text.size() || text[at] != '{' || close + 1 >= text.size() ||
            text[close + 1] != '{') {
          return {};
        }
        const std::string top = PlainUnit(text.substr(at + 1, close - at - 1));
        if (top.empty()) return {};
        out += " " + top + "/";
        at = close + 1;
      } else if (name != "text" && name != "mathrm" && name != "mbox" &&
                 name != "textrm" && name != "rm" && name != "operatorname") {
        return {};
      }
      continue;
    }
    ++at;
    if (c == '{') {
      ++open;
    } else if (c == '}') {
      if (--open < 0) return {};
    } else if (Alpha(c) || c == '/' || c == '^' || c == '(' || c == ')' ||
               ((Digit(c) || c == '-') && !out.empty() &&
                (out.back() == '^' || out.back() == '-'))) {
      out += c;
    } else if (c == '*') {
      out += ' ';
    } else {
      return {};
    }
  }
  return open == 0 ? out : std::string();
}

// Whether such letters are unlikely to be a product.
bool Sure(std::string_view unit) {
  static constexpr std::string_view kPairs[] = {"Hz", "Pa", "kJ", "kW", "kV"};
  for (size_t at = 0; at < unit.size();) {
    size_t end = at;
    while (end < unit.size() && Alpha(unit[end])) ++end;
    const std::string_view word = unit.substr(at, end - at);
    if (word.size() > 2 || std::find(std::begin(kPairs), std::end(kPairs),
                                     word) != std::end(kPairs)) {
      return true;
    }
    at = std::max(end, at + 1);
  }
  return unit.find("Ω") != std::string_view::npos;
}

}  // namespace

std::optional<TrailingUnit> FindTrailingUnit(std::string_view raw) {
  if (raw.size() > kLongestWithUnit) return std::nullopt;
  const std::string text = AsciiMath(raw);
  const size_t end = NumberEnd(text);
  if (end == 0) return std::nullopt;
  const std::string unit = PlainUnit(std::string_view(text).substr(end));
  const std::string_view letters = TrimBlanks(unit);
  if (letters.empty() ||
      !(Alpha(letters[0]) || static_cast<uint8_t>(letters[0]) >= 0x80)) {
    return std::nullopt;
  }
  const bool known = ReadUnit(unit).known;
  const bool upright = text.find("\\mathrm{", end) != std::string::npos ||
                       text.find("\\text{", end) != std::string::npos;
  // "12 men" counts something; "12 ab" need not.
  const bool word =
      unit[0] == ' ' && letters.size() >= 3 && letters.size() <= kLongestWord &&
      std::all_of(letters.begin(), letters.end(),
                  [](unsigned char c) { return std::islower(c) != 0; });
  if (!known && !word) return std::nullopt;
  // "20 m/s", not written as a formula.
  const bool plain = unit[0] == ' ' && letters.find('/') != text.npos &&
                     text.find('\\') == std::string::npos;
  return TrailingUnit{text.substr(0, end), " " + std::string(letters),
                      known && (upright || plain || Sure(letters))};
}

}  // namespace espalier
