#include "datasets/answers/only_mentioned.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "datasets/answers/find/last_statement.h"
#include "datasets/answers/find/later_answer.h"
#include "datasets/answers/reworded_amounts.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/times_dates.h"

namespace espalier {
namespace {

constexpr std::string_view kNumeralSigns = "0123456789.,";

bool IsNumeral(std::string_view text) {
  if (text.starts_with("-")) text.remove_prefix(1);
  return !text.empty() && Digit(text[0]) &&
         text.find_first_not_of(kNumeralSigns) == kNowhere;
}

// Whether a side of an equation is one unknown with something done to it: "2x
// + 3", "3x", "|x|", "x - 4".
bool IsUnsolved(std::string_view side) {
  size_t letters = 0, digits = 0, signs = 0;
  for (const char c : side) {
    if (Letter(c)) {
      ++letters;
      // Names of unknowns; "n + 1 = 4" counts.
      if (c != 'x' && c != 'y' && c != 'z') return false;
    } else if (Digit(c)) {
      ++digits;
    } else if (c == '+' || c == '-' || c == '|') {
      ++signs;
    } else if (c != ' ') {
      return false;
    }
  }
  return letters == 1 && (digits > 0 || signs == 2);
}

// The value of "2 + 3 * 4"; nothing but sums and products of plain numerals.
bool Calculated(std::string_view side, double* value) {
  double sum = 0, product = 1;
  size_t numbers = 0, signs = 0;
  double sign = 1;
  while (!(side = TrimBlanks(side)).empty()) {
    const size_t end =
        std::min(side.find_first_not_of("0123456789."), side.size());
    if (end == 0 || end > 9) return false;
    product *= std::strtod(std::string(side.substr(0, end)).c_str(), nullptr);
    ++numbers;
    side = TrimBlanks(side.substr(end));
    if (side.empty()) break;
    constexpr std::string_view kTimes = "\u00d7";
    ++signs;
    if (side[0] == '*') {
      side.remove_prefix(1);
    } else if (side.starts_with(kTimes)) {
      side.remove_prefix(kTimes.size());
    } else if (side[0] == '+' || side[0] == '-') {
      sum += sign * product;
      product = 1;
      sign = side[0] == '+' ? 1 : -1;
      side.remove_prefix(1);
    } else {
      return false;
    }
  }
  *value = sum + sign * product;
  return numbers > 1 && signs + 1 == numbers;
}

// "So 2x + 3 = 7", "So 2 + 3 = 6"
std::string_view OpenEquation(std::string_view gold,
                              std::string_view sentence) {
  const LabelledPart last = WithoutLeadWords(sentence);
  const size_t equal = last.said.find('=');
  if (!IsNumeral(gold) || !last.label.empty() || equal == kNowhere ||
      equal == 0 || last.said.find('=', equal + 1) != kNowhere) {
    return {};
  }
  const std::string_view left = TrimBlanks(last.said.substr(0, equal));
  const std::string_view right = TrimBlanks(last.said.substr(equal + 1));
  if (!IsNumeral(right) || right.size() > 12) return {};
  if (IsUnsolved(left)) return left;
  double value = 0;
  constexpr double kRounded = 0.02;
  const double said = std::strtod(std::string(right).c_str(), nullptr);
  const bool wrong = right.find(',') == kNowhere && Calculated(left, &value) &&
                     std::abs(value - said) > kRounded * std::abs(value);
  return wrong ? left : std::string_view();
}

// "A is best, but B is also right.", "B: friction is wrong."
std::string_view OtherChoice(std::string_view gold, std::string_view lower) {
  if (gold.size() != 1 || gold[0] < 'A' || gold[0] > 'J') return {};
  for (const std::string_view also : Phrases(Reading::kAlsoRight)) {
    if (lower.find(" " + std::string(also)) != kNowhere) return also;
  }
  const size_t untrue = EndsIn(lower, Reading::kIsUntrue);
  const bool labelled = lower.size() > 2 && Letter(lower[0]) &&
                        (lower[1] == ':' || lower[1] == ')');
  return untrue > 0 && labelled ? lower.substr(lower.size() - untrue)
                                : std::string_view();
}

// Whether the name stands behind a word of such a reading.
bool Behind(std::string_view lower, std::string_view name, Reading reading) {
  const size_t at = lower.rfind(name);
  if (at == kNowhere || at == 0) return false;
  std::string_view front = TrimBlanks(lower.substr(0, at));
  if (front.ends_with(" the"))
    front = TrimBlanks(front.substr(0, front.size() - 4));
  return EndsIn(front, reading) > 0;
}

}  // namespace

std::string OnlyMentioned(std::string_view gold, std::string_view answer) {
  gold = TrimBlanks(gold);
  constexpr size_t kLongestGold = 60;
  // A ratio of the parts is no fraction of the whole.
  const std::string_view bare = WithoutLastMarks(answer);
  if (const size_t colon = bare.find(':');
      colon != kNowhere && gold.find('/') != kNowhere && bare.size() < 12 &&
      bare.find_first_not_of("0123456789: ") == kNowhere) {
    return std::string(bare);
  }
  if (const char other = gold.size() == 1 ? ChoiceRechecked(answer) : '\0';
      other != '\0' && other != gold[0]) {
    return std::string(1, other);
  }
  if (gold.size() > kLongestGold || answer.size() > 4 * kLongestLast) return {};
  const std::string_view sentence = LastStatementOf(answer);
  const std::string lower = PlainLower(sentence);
  const std::string all = PlainLower(answer);
  const bool only = sentence.size() + 2 >= bare.size();
  if (const std::string_view other = OtherChoice(gold, lower);
      only && !other.empty()) {
    return std::string(other);
  }
  if (sentence.size() > kLongestLast ||
      all.find("answer") != std::string::npos ||
      all.find("boxed") != std::string::npos) {
    return {};
  }
  if (const std::string_view left = OpenEquation(gold, sentence);
      !left.empty()) {
    return std::string(left);
  }
  if (std::string_view total = TotalAtEnd(answer);
      !total.empty() && HasDigits(gold) &&
      (total[0] == '$') == (gold[0] == '$')) {
    std::string_view amount = gold;
    if (total[0] == '$') total.remove_prefix(1);
    if (amount[0] == '$') amount.remove_prefix(1);
    const std::string_view number =
        total.substr(0, total.find_first_not_of(kNumeralSigns));
    const std::string_view wanted =
        amount.substr(0, amount.find_first_not_of(kNumeralSigns));
    const bool same_unit =
        amount.substr(wanted.size()) == total.substr(number.size());
    if (same_unit && number != wanted) return std::string(total);
  }
  // "(Copper with tin would be bronze.)"
  constexpr std::string_view kWouldBe = " would be ";
  if (const size_t at = lower.rfind(std::string(kWouldBe) + PlainLower(gold));
      at != kNowhere) {
    const std::string_view subject = std::string_view(lower).substr(0, at);
    if (!subject.starts_with("the ") && subject != "it" && subject != "that" &&
        subject != "this" && subject != "so it" && subject != "so that" &&
        subject.find(", ") == kNowhere) {
      return std::string(kWouldBe.substr(1, kWouldBe.size() - 2));
    }
  }
  // Only one sentence: others may say which one is meant.
  if (sentence.size() + 2 < bare.size()) return {};
  if (const std::string_view other = OtherChoice(gold, lower); !other.empty()) {
    return std::string(other);
  }
  // "2, -3 (only 2 is valid)"
  constexpr std::string_view kOnly = " (only ";
  if (lower.find(kOnly) != kNowhere && gold.find(',') != kNowhere &&
      gold.find("only") == kNowhere) {
    return "only";
  }
  const std::string name = PlainLower(gold);
  if (name == lower || lower.find(' ') == kNowhere) return {};
  // "The least common multiple is 12."
  const bool least = lower.starts_with("the least ") && HasDigits(gold);
  if (const size_t lesser = BeginsIn(lower, Reading::kLesserOne);
      lesser > 0 && !least && BeginsIn(name, Reading::kLesserOne) == 0) {
    return lower.substr(0, lesser);
  }
  if ((HasDigits(gold) && DateOf(gold).empty()) || gold.size() < 3 ||
      IsPhrase(name, Reading::kVerdict)) {
    return {};
  }
  // "Germany lost to Brazil"
  if (lower.starts_with(name + " ")) {
    const std::string_view rest =
        std::string_view(lower).substr(name.size() + 1);
    if (const size_t gave = BeginsIn(rest, Reading::kGaveWay); gave > 0) {
      return std::string(rest.substr(0, gave));
    }
    // "Texas is the largest state apart from Alaska"
    if (BeginsIn(rest, Reading::kIs) > 0 && Mentions(rest, Reading::kExcept)) {
      return "one that is left out";
    }
  }
  std::string_view told = name;
  constexpr std::string_view kThe = "the ";
  if (told.starts_with(kThe)) told.remove_prefix(kThe.size());
  for (const Reading open :
       {Reading::kNotYet, Reading::kMaybe, Reading::kLeavesName}) {
    if (Behind(lower, told, open) &&
        // "left" as a name's own word
        lower.find(' ') != lower.rfind(' ')) {
      return "what stands in front of it";
    }
  }
  // "The first is hydrogen, and the second is helium."
  // "It was signed on 11 November, and the treaty on 28 June."
  constexpr std::string_view kAndThe = ", and the ";
  if (const size_t joint = lower.find(kAndThe);
      joint != kNowhere && !DateOf(gold).empty() &&
      Mentions(lower.substr(0, joint), Reading::kMonth) &&
      Mentions(lower.substr(joint), Reading::kMonth)) {
    return lower.substr(joint + 2);
  }
  // "He died the day after she was shot on April 14"
  if (!DateOf(gold).empty() && BeginsIn(lower, Reading::kSubordinate) == 0) {
    const size_t on = lower.rfind(" on ");
    const std::string_view front =
        std::string_view(lower).substr(0, on == kNowhere ? 0 : on);
    const std::string_view clause = front.substr(front.rfind(',') + 1);
    for (const std::string_view later : {" after ", " before "}) {
      if (clause.find(later) != kNowhere) return std::string(later);
    }
  }
  const size_t at = lower.rfind(told);
  if (at == kNowhere || told.size() < 3 ||
      BeginsIn(lower, Reading::kSubordinate) > 0) {
    return {};
  }
  const size_t joint = lower.substr(0, at).find_last_of(",;");
  if (joint == kNowhere) return {};
  const std::string_view before = std::string_view(lower).substr(0, joint);
  std::string_view second =
      TrimBlanks(std::string_view(lower).substr(joint + 1, at - joint - 1));
  constexpr std::string_view kAnd = "and ";
  if (second.starts_with(kAnd)) second.remove_prefix(kAnd.size());
  const bool verbs =
      (second.starts_with(kThe) || second.starts_with("that of ")) &&
      (second.ends_with(" is") || second.ends_with(" is the")) &&
      before.find(" is ") != kNowhere;
  if (verbs) return std::string(second);
  return {};
}

}  // namespace espalier
