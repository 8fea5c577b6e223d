#include "datasets/answers/written_form.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

#include "datasets/answers/find/sentence.h"
#include "datasets/answers/notation/parser.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/unicode_math.h"

namespace espalier {

// Whether the text is words and numbers, so that folding loses nothing.
bool OnlyWords(std::string_view text) {
  bool run = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    run |= letter && i > 0 &&
           std::isalpha(static_cast<unsigned char>(text[i - 1])) != 0;
    if (std::string_view("^_+*/=<>()[]|").find(c) != std::string_view::npos) {
      return false;
    }
    const std::string_view rest = text.substr(i);
    if (c == '\\' && !rest.starts_with("\\text") &&
        !rest.starts_with("\\mathrm") && !rest.starts_with("\\mbox")) {
      return false;
    }
  }
  return run;
}

// "The train arrives at 8:15, since it left at 7:45.": whether a clause that
// gives a reason or a time of before ends in the last of several clock times.
bool EndsInOtherTime(std::string_view raw) {
  const auto clock = [raw](size_t colon) {
    return colon > 0 && Digit(raw[colon - 1]) && colon + 2 < raw.size() &&
           Digit(raw[colon + 1]) && Digit(raw[colon + 2]);
  };
  size_t last = raw.rfind(':');
  while (last != kNowhere && last > 0 && !clock(last)) {
    last = raw.rfind(':', last - 1);
  }
  if (last == kNowhere || last == 0 || raw.size() > kLongestMath) return false;
  size_t before = raw.rfind(':', last - 1);
  while (before != kNowhere && before > 0 && !clock(before)) {
    before = raw.rfind(':', before - 1);
  }
  if (before == kNowhere || before == 0) return false;
  std::string_view between = raw.substr(before + 3, last - before - 3);
  // "It closes at 7:30. It opens at 6:00."
  const auto minutes = [raw](size_t colon) {
    const size_t tens =
        colon > 1 && Digit(raw[colon - 2]) ? colon - 2 : colon - 1;
    return 60 * std::atoi(std::string(raw.substr(tens, colon - tens)).c_str()) +
           std::atoi(std::string(raw.substr(colon + 1, 2)).c_str());
  };
  if (const size_t stop = between.rfind(". ");
      stop != kNowhere && minutes(last) < minutes(before)) {
    const std::string words = PlainLower(between.substr(stop + 2));
    if (Mentions(words, Reading::kBegins) &&
        !Mentions(words, Reading::kTherefore)) {
      return true;
    }
  }
  // "After 90 minutes, it is 7:30." concludes.
  between.remove_prefix(between.find_last_of(",.;\n") + 1);
  const size_t hour = between.find_last_not_of("0123456789");
  between = between.substr(0, hour == kNowhere ? 0 : hour + 1);
  return !HasDigits(between) &&
         Mentions(PlainLower(between), Reading::kWhenOrWhy);
}

// "x_1" and "x1": a letter with a number as its index.
bool SameIndexed(std::string_view gold, std::string_view answer) {
  std::string name(TrimBlanks(gold));
  std::erase_if(name, [](char c) { return c == '{' || c == '}'; });
  const std::string_view plain = TrimBlanks(answer);
  return name.size() > 2 && name.size() < 6 && Letter(name[0]) &&
         name[1] == '_' && std::all_of(name.begin() + 2, name.end(), Digit) &&
         name.erase(1, 1) == plain;
}

// "\\approx 7" for gold "7": a number below 100 that is rounded to an integer
// may be off by more than half a percent. Words count only if there are no
// others: "about 7".
bool RoundedAway(std::string_view gold, std::string_view found,
                 std::string_view answer) {
  const std::vector<std::string> number = BareWords(gold.substr(0, 20));
  if (number.size() != 1 || number[0].size() > 2 || !HasDigits(number[0])) {
    return false;
  }
  const auto rounded = [&number](std::string_view text, bool sign) {
    constexpr size_t kLongest = 60;
    if (text.size() > kLongest) return false;
    std::vector<std::string> said = BareWords(AsciiMath(text));
    std::erase_if(said, [](const std::string& word) {
      return word == "(" || word == ")";
    });
    if (said.size() != 2) return false;
    const bool front = said[1] == number[0];
    const std::string& word = said[front ? 0 : 1];
    return (front || said[0] == number[0]) &&
           (sign ? word == "approx" || word == "sim"
                 : IsPhrase(word, Reading::kRoundedTo));
  };
  return rounded(found, true) || rounded(answer, false);
}

// "4.0e3": a measurement, behind which the answer may have a unit.
bool IsScientific(std::string_view text) {
  text = TrimBlanks(text);
  if (text.starts_with("-")) text.remove_prefix(1);
  const size_t e = text.find_first_of("eE");
  if (e == kNowhere || e == 0 || !Digit(text[0])) return false;
  std::string_view power = text.substr(e + 1);
  if (power.starts_with("-") || power.starts_with("+")) power.remove_prefix(1);
  return text.substr(0, e).find_first_not_of("0123456789.") == kNowhere &&
         !power.empty() && std::all_of(power.begin(), power.end(), Digit);
}

}  // namespace espalier
