#include "datasets/answers/find/spoiled.h"

#include <algorithm>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr size_t kLongestSpoiled = 120;

// The length of a plain number, with its sign and the name that equals it in
// front; 0 if the text begins with anything else.
size_t ValueLength(std::string_view text) {
  size_t at = 0;
  const size_t equal = text.find('=');
  if (equal != std::string_view::npos && equal < 4 && Letter(text[0]) &&
      TrimBlanks(text.substr(0, equal)).size() == 1) {
    at = equal + 1;
  }
  while (at < text.size() &&
         (Blank(text[at]) || text[at] == '$' || text[at] == '-' ||
          text.substr(at).starts_with("\\$"))) {
    ++at;
  }
  const size_t start = at;
  while (at < text.size() &&
         (Digit(text[at]) ||
          std::string_view(".,/%").find(text[at]) != std::string_view::npos ||
          text.substr(at).starts_with("\\%"))) {
    ++at;
  }
  return at > start && Digit(text[start]) ? at : 0;
}

// A text in upright letters without its command: "\\text{ (wrong)}" as
// " (wrong)". `found`: whether there is such a command.
std::string PlainRemark(std::string_view text, bool* found) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    size_t skip = 0;
    for (const std::string_view command :
         {"\\text{", "\\mathrm{", "\\textrm{", "\\mbox{", "\\textbf{"}) {
      if (text.substr(at).starts_with(command)) skip = command.size();
    }
    *found |= skip > 0;
    if (skip > 0) {
      at += skip - 1;
    } else if (text.substr(at, 2) == "\\ " || text.substr(at, 2) == "\\,") {
      out += ' ';
      ++at;
    } else if (text[at] != '}' && text[at] != '$') {
      out += text[at];
    }
  }
  return PlainLower(out);
}

// The first phrase of a reading in a remark, as whole words.
std::string SpoilingPhrase(std::string_view remark, Reading reading) {
  for (const std::string_view phrase : Phrases(reading)) {
    const size_t at = remark.find(phrase);
    if (at == std::string_view::npos) continue;
    const size_t end = at + phrase.size();
    if ((at == 0 || !Letter(remark[at - 1]) || !Letter(phrase[0])) &&
        (end == remark.size() || !Letter(remark[end]))) {
      return std::string(phrase);
    }
  }
  return {};
}

}  // namespace

std::string SpoiledBy(std::string_view text) {
  text = TrimBlanks(text);
  if (text.size() > kLongestSpoiled) return {};
  const size_t value = ValueLength(text);
  // "19. (If ...)" is followed by a sentence.
  if (value == 0 || value == text.size() || text[value - 1] == '.') return {};
  bool upright = false;
  const std::string behind = PlainRemark(text.substr(value), &upright);
  // Formulas are none.
  if (behind.find_first_of("\\^_=+*<>|{") != std::string::npos) return {};
  std::string_view remark = TrimBlanks(behind);
  while (remark.ends_with(".")) remark.remove_suffix(1);
  const bool bracket = remark.starts_with("(") && remark.ends_with(")");
  if (bracket) remark = remark.substr(1, remark.size() - 2);
  remark = TrimBlanks(remark);
  if (!HasLetters(remark)) return {};
  if (IsPhrase(remark, Reading::kOtherScale)) return std::string(remark);
  if (bracket && IsPhrase(remark, Reading::kScale)) return std::string(remark);
  // "12 is not ..." is a sentence, which is read as such.
  if (!bracket && !upright && BeginsIn(remark, Reading::kSpoils) == 0) {
    return {};
  }
  // "12 (mod 13)" is read as a congruence.
  if (std::string word = SpoilingPhrase(remark, Reading::kOtherNumeral);
      !word.empty() && remark.find("base 10") == std::string_view::npos) {
    return word;
  }
  if (BeginsIn(remark, Reading::kHarmless) > 0) return {};
  for (const Reading reading :
       {Reading::kSpoils, Reading::kDenies, Reading::kWrong}) {
    if (std::string word = SpoilingPhrase(remark, reading); !word.empty()) {
      return word;
    }
  }
  return {};
}

}  // namespace espalier
