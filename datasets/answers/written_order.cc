#include "datasets/answers/written_order.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/times_dates.h"

namespace espalier {
namespace {

// Longer texts are no single product or arrow.
constexpr size_t kLongestOrdered = 200;

bool Letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool Capital(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}

// A formula's letters, the names of its commands and its other characters.
struct Parts {
  std::string letters;
  std::vector<std::string> commands;
  std::string others;
};

Parts Take(std::string_view text) {
  Parts out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size() && Letter(text[at + 1])) {
      size_t end = at + 1;
      while (end < text.size() && Letter(text[end])) ++end;
      out.commands.emplace_back(text.substr(at + 1, end - at - 1));
      at = end - 1;
    } else if (Letter(text[at])) {
      out.letters += text[at];
    } else {
      out.others += text[at];
    }
  }
  return out;
}

bool HasAny(const Parts& parts, const std::set<std::string_view>& names) {
  return std::any_of(
      parts.commands.begin(), parts.commands.end(),
      [&](const std::string& command) { return names.count(command) > 0; });
}

bool HasArrow(std::string_view text, const Parts& parts) {
  static const std::set<std::string_view> kArrows = {
      "to",      "rightarrow", "Rightarrow", "longrightarrow", "Longrightarrow",
      "implies", "mapsto",     "leftarrow",  "Leftarrow"};
  // "\\lim_{x \\to 0}" is a value.
  if (HasAny(parts, {"lim", "sum", "int", "limsup", "liminf"})) return false;
  if (HasAny(parts, kArrows)) return true;
  for (const std::string_view sign : {"->", "=>", "\u2192", "\u21d2"}) {
    if (text.find(sign) != std::string_view::npos) return true;
  }
  return false;
}

// "\\mathbf{a} \\times \\mathbf{b}"
bool CrossProduct(const Parts& parts) {
  static const std::set<std::string_view> kVectors = {
      "mathbf", "vec", "boldsymbol", "bm", "hat", "overrightarrow"};
  return HasAny(parts, {"times"}) && HasAny(parts, kVectors);
}

// "A^T B", "PQP^{-1}": powers and products of different capital letters alone.
// Letters without a power may be a word: "DNE".
bool MatrixProduct(const Parts& parts) {
  static const std::set<std::string_view> kKnown = {
      "mathbf", "mathrm", "boldsymbol", "bm",    "cdot",    "times",
      "top",    "dagger", "left",       "right", "intercal"};
  for (const std::string& command : parts.commands) {
    if (kKnown.count(command) == 0) return false;
  }
  const bool plain =
      std::all_of(parts.others.begin(), parts.others.end(), [](char c) {
        return Digit(c) ||
               std::string_view(" ^{}-*'$()").find(c) != std::string_view::npos;
      });
  const bool power = parts.others.find('^') != std::string::npos;
  return plain && power &&
         std::all_of(parts.letters.begin(), parts.letters.end(), Capital) &&
         std::set<char>(parts.letters.begin(), parts.letters.end()).size() > 1;
}

// "9:05" as "9:05" and "09:05" as "9:05"; empty for other texts.
std::string ClockTime(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (Digit(c) || c == ':') {
      plain += c;
    } else if (std::string_view(" ${}").find(c) == std::string_view::npos) {
      return {};
    }
  }
  if (plain.starts_with("0") && plain.size() == 5) plain.erase(0, 1);
  const size_t colon = plain.find(':');
  const bool clock = (colon == 1 || colon == 2) && plain.size() == colon + 3 &&
                     plain[colon + 1] < '6' &&
                     plain.find(':', colon + 1) == std::string::npos &&
                     std::stoi(plain.substr(0, colon)) <= 24;
  return clock ? plain : std::string();
}

// Whether the digits of `time` stand in `text`, not as part of longer ones.
bool Holds(std::string_view text, std::string_view time) {
  for (size_t at = text.find(time); at != std::string_view::npos;
       at = text.find(time, at + 1)) {
    const size_t end = at + time.size();
    const bool before = at > 0 && Digit(text[at - 1]) && text[at - 1] != '0';
    const bool after = end < text.size() && Digit(text[end]);
    if (!before && !after) return true;
  }
  return false;
}

// "4:00 PM", which was compared as a time.
bool SaysHalfOfDay(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (Letter(c)) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return EndsWith(letters, Reading::kSaysTime) > 0;
}

// "half past seven", "a quarter to eight": no ratio.
bool SaysPastHour(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return false;
  if (!TimeOfDay(text).empty()) return true;
  const std::string lower = PlainLower(text);
  return lower.find("half past ") != std::string::npos ||
         lower.find("quarter past ") != std::string::npos ||
         lower.find("quarter to ") != std::string::npos;
}

}  // namespace

std::string OrderInDoubt(std::string_view gold, std::string_view answer) {
  if (gold.size() > kLongestOrdered || answer.size() > 10 * kLongestOrdered)
    return {};
  const std::string time = ClockTime(gold);
  if (!time.empty()) {
    const bool says =
        Holds(answer, time) || SaysHalfOfDay(answer) || SaysPastHour(answer);
    return says ? std::string() : "gold may be a time of day, not a ratio";
  }
  const Parts parts = Take(gold);
  const bool arrow = HasArrow(gold, parts);
  if (!arrow && !CrossProduct(parts) && !MatrixProduct(parts)) return {};
  std::string letters = Take(answer).letters;
  if (!arrow && MatrixProduct(parts)) {
    std::erase_if(letters, [](char c) { return !Capital(c); });
  }
  if (letters.ends_with(parts.letters)) return {};
  return arrow ? "the sides of an arrow do not change places"
               : "the factors may be matrices or vectors, in another order";
}

}  // namespace espalier
