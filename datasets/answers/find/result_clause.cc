#include "datasets/answers/find/result_clause.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr size_t kLongestResultText = 60;

// "From $v = 2$ we get | 400 kelvin": what stands behind the formula that it
// follows from. The sentence has no full stop.
std::string BehindGround(std::string_view sentence) {
  if (BeginsIn(PlainLower(sentence), Reading::kGround) == 0) return {};
  if (sentence.ends_with("$")) {
    const size_t open = sentence.substr(0, sentence.size() - 1).rfind('$');
    if (open == kNowhere) return {};
    const std::string_view front = TrimBlanks(sentence.substr(0, open));
    const bool behind = front.ends_with(",") && front.find('$') != kNowhere;
    return behind ? std::string(sentence.substr(open)) : std::string();
  }
  constexpr std::string_view kGet = "$ we get ";
  const size_t at = sentence.rfind(kGet);
  if (at == kNowhere) return {};
  const std::string_view said = sentence.substr(at + kGet.size());
  if (said.find('$') != kNowhere) return {};
  return absl::StrCat("We get ", std::string(said), ".");
}

// Whether one of the text's parts between blanks is a word.
bool SaysWords(std::string_view text) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (part.size() > 1 && part != "pi" &&
        std::all_of(part.begin(), part.end(), Letter)) {
      return true;
    }
  }
  return false;
}

// "Since sin x = 1/2 and x is acute, | x = pi/6", without formula marks.
std::string BehindReason(std::string_view sentence) {
  if (BeginsIn(PlainLower(sentence), Reading::kGround) == 0) return {};
  const size_t comma = sentence.rfind(", ");
  if (comma == kNowhere) return {};
  const std::string_view last = sentence.substr(comma + 2);
  const size_t sign = last.find(" = ");
  const bool equation =
      sign != kNowhere && sign > 0 && sign <= 4 && !Digit(last[0]) &&
      last.size() <= kLongestResultText && !SaysWords(last) &&
      last.find_first_of("$\\") == kNowhere && HasDigits(last.substr(sign));
  // "Since a = 1, b = 2, c = 3" states them all.
  const std::string_view front = sentence.substr(0, comma);
  return equation && front.find(',') == kNowhere ? std::string(last)
                                                 : std::string();
}

// "In $[0, 9]$ it is so at two places: | x = 1 and x = 5".
std::string BehindColon(std::string_view sentence) {
  const size_t colon = sentence.rfind(": ");
  if (colon == kNowhere || !SaysPlainly(PlainLower(sentence))) return {};
  const std::string_view last = TrimBlanks(sentence.substr(colon + 2));
  const size_t sign = last.find('=');
  const bool values = sign != kNowhere && sign > 0 && sign <= 5 &&
                      Letter(last[0]) && last.size() <= kLongestResultText &&
                      last.find_first_of("$\\:;") == kNowhere &&
                      sentence.substr(0, colon).find('$') != kNowhere;
  return values ? std::string(last) : std::string();
}

// "It is $2r$, which gives | a length of 8", the last part without formulas.
std::string BehindGives(std::string_view sentence) {
  const std::string lower = PlainLower(sentence);
  for (const std::string_view joint : Phrases(Reading::kWhichGives)) {
    const size_t at = lower.rfind(joint);
    if (at == kNowhere) continue;
    const std::string_view said = sentence.substr(at + joint.size());
    const bool one = sentence.substr(0, at).find('$') != kNowhere &&
                     said.find_first_of("$,;:(=") == kNowhere &&
                     said.size() <= kLongestResultText && HasDigits(said) &&
                     SaysPlainly(lower);
    if (one) return absl::StrCat("We get ", std::string(said), ".");
  }
  return {};
}

// "Adding gives a final answer of | 8".
std::string AnswerOf(std::string_view sentence) {
  constexpr std::string_view kLabel = " answer of ";
  const std::string lower = PlainLower(sentence);
  const size_t at = lower.rfind(kLabel);
  if (at == kNowhere || !SaysPlainly(lower) ||
      BeginsIn(lower, Reading::kSupposes) > 0 ||
      lower.find(" would ") != kNowhere) {
    return {};
  }
  const std::string_view value = sentence.substr(at + kLabel.size());
  std::string_view front = std::string_view(lower).substr(0, at);
  for (const std::string_view word : {" correct", " final"}) {
    if (front.ends_with(word)) front.remove_suffix(word.size());
  }
  for (const std::string_view word : {" a", " the", " our"}) {
    if (front.ends_with(word)) front.remove_suffix(word.size());
  }
  const bool formula = value.size() > 2 && value.front() == '$' &&
                       value.find('$', 1) == value.size() - 1;
  const bool stated = EndsIn(front, Reading::kGivesAnAnswer) > 0 &&
                      !value.empty() && value.size() <= kLongestResultText &&
                      (formula || value.find_first_of(" $") == kNowhere);
  if (!stated) return {};
  return absl::StrCat("The answer is ", std::string(value), ".");
}

}  // namespace

std::string ResultClause(std::string_view sentence) {
  while (!sentence.empty() &&
         (Blank(sentence.back()) || sentence.back() == '.')) {
    sentence.remove_suffix(1);
  }
  std::string out = AnswerOf(sentence);
  if (out.empty()) out = BehindGround(sentence);
  if (out.empty()) out = BehindReason(sentence);
  if (out.empty()) out = BehindColon(sentence);
  if (out.empty()) out = BehindGives(sentence);
  return out;
}

}  // namespace espalier
