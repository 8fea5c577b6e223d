#include "datasets/answers/other_meaning.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "datasets/answers/find/counted_noun.h"
#include "datasets/answers/find/related.h"
#include "datasets/answers/grader.h"
#include "datasets/answers/marks_beside.h"
#include "datasets/answers/opposites.h"
#include "datasets/answers/other_logic.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/number_place.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/written_form.h"
#include "datasets/answers/written_order.h"

namespace espalier {
namespace {

// "0.3%" for gold "0.3": equal only if the sign is dropped from a share below
// one percent.
bool DropsPercent(std::string_view gold, const Readings& b,
                  const GradePolicy& policy) {
  std::string_view said = b.number.empty() ? b.text : b.number;
  said = TrimBlanks(said);
  const bool sign =
      said.ends_with("%") || EndsIn(Lower(said), Reading::kPercent) > 0;
  if (policy.percent != GradePolicy::Percent::kEither || !sign ||
      gold.find('%') != kNowhere || Mentions(Lower(gold), Reading::kPercent)) {
    return false;
  }
  const std::string_view numeral = FirstNumeral(said);
  if (!numeral.starts_with("0.")) return false;
  GradePolicy strict = policy;
  strict.percent = GradePolicy::Percent::kValue;
  Grader grader(strict);
  return !grader.Compare(grader.Read(gold), grader.Read(said)).equal;
}

// "a or b" and "a and b": whether only one of two lists of words leaves a
// choice.
bool OneLeavesChoice(const Readings& a, const Readings& b) {
  constexpr std::string_view kOr = " or ", kAnd = " and ";
  const std::string x = Lower(a.text.substr(0, 200)),
                    y = Lower(b.text.substr(0, 200));
  const auto only = [](const std::string& text, std::string_view word,
                       std::string_view other) {
    return text.find(word) != kNowhere && text.find(other) == kNowhere;
  };
  const bool apart = (only(x, kOr, kAnd) && only(y, kAnd, kOr)) ||
                     (only(x, kAnd, kOr) && only(y, kOr, kAnd));
  return apart && OnlyWords(x) && OnlyWords(y) && !HasDigits(x) &&
         !HasDigits(y);
}

// "1.5 hours more" for "90 minutes": an amount in another unit than gold's that
// comes on top of another one.
bool MoreThanUnit(std::string_view gold, std::string_view answer) {
  std::string lower = Lower(TrimBlanks(answer.substr(0, 200)));
  while (lower.ends_with(".") || lower.ends_with("!")) lower.pop_back();
  const size_t blank = lower.rfind(' ');
  if (blank == kNowhere || gold.find(' ') == kNowhere) return false;
  const bool more =
      IsPhrase(std::string_view(lower).substr(blank + 1), Reading::kOnTop);
  const std::string_view front = std::string_view(lower).substr(0, blank);
  const std::string_view unit = front.substr(front.rfind(' ') + 1);
  return more && ReadUnit(" " + std::string(unit)).known &&
         Lower(gold).find(unit) == std::string::npos;
}

// The letter that an equation or a congruence is about; 0 if none.
char LetterInFront(std::string_view text) {
  text = TrimBlanks(text);
  if (text.size() < 3 || !Letter(text[0])) return 0;
  const std::string_view rest = TrimBlanks(text.substr(1));
  const bool equates = rest.starts_with("=") || rest.starts_with("\\equiv") ||
                       rest.starts_with("\u2261");
  return equates ? text[0] : '\0';
}

// The last modulus that a text names: "7" of "x \\equiv 3 \\pmod 7"; empty if
// there is none.
std::string LastModulus(std::string_view text) {
  size_t at = text.rfind("mod");
  while (at != kNowhere && at > 0 && Letter(text[at - 1]) &&
         !(at > 1 && text[at - 2] == '\\')) {
    at = text.substr(0, at).rfind("mod");
  }
  if (at == kNowhere) return {};
  text.remove_prefix(at + 3);
  if (text.starts_with("ulo")) text.remove_prefix(3);
  std::string out;
  for (const char c : text) {
    if (Digit(c) || (Letter(c) && out.empty())) {
      out += c;
    } else if (!out.empty() ||
               std::string_view(" {$~(\\").find(c) == kNowhere) {
      break;
    }
  }
  return out.empty() || Digit(out[0]) || out.size() == 1 ? out : std::string();
}

// "x = 3 mod 5" for "x = 3 mod 7".
bool OtherModulus(std::string_view gold, std::string_view answer) {
  const std::string x = LastModulus(gold);
  const std::string y = x.empty() ? x : LastModulus(answer);
  return !y.empty() && x != y;
}

// "e.g. \\boxed{5}", "~~\\boxed{5}~~": whether nobody claims what the last box
// holds.
bool BoxUnclaimed(std::string_view answer) {
  const size_t box = answer.rfind("\\boxed{");
  if (box == kNowhere) return false;
  constexpr size_t kBeside = 80;
  std::string_view front =
      answer.substr(box - std::min(box, kBeside), std::min(box, kBeside));
  if (front.ends_with("~~") || front.ends_with("cancel{")) return true;
  const std::string lower = PlainLower(TrimBlanks(WithoutMarks(front)));
  return EndsIn(lower, Reading::kNoClaim) > 0;
}

// "\\boxed{5} Edit: 6.": whether the last sentence behind a number in a box
// gives another one.
bool RevisesBox(std::string_view answer) {
  constexpr std::string_view kBox = "\\boxed{";
  constexpr size_t kLongestTail = 400;
  const size_t box = answer.rfind(kBox);
  if (box == kNowhere) return false;
  std::string_view rest = answer.substr(box + kBox.size());
  const std::string_view inside = rest.substr(0, rest.find('}'));
  if (inside.size() == rest.size() || inside.empty() ||
      !std::all_of(inside.begin(), inside.end(), Digit)) {
    return false;
  }
  rest = TrimBlanks(rest.substr(inside.size() + 1));
  while (rest.ends_with(".") || rest.ends_with("!")) rest.remove_suffix(1);
  if (rest.size() > kLongestTail) return false;
  const std::string_view last = rest.substr(SentenceStart(rest));
  if (StartsWith(PlainLower(last), Reading::kRevises) == 0) return false;
  const auto number = LastNumberPlace(last);
  return number && number->text != inside &&
         !LastNumberPlace(last.substr(0, number->start));
}

}  // namespace

std::optional<GradeVerdict> OtherMeaning(std::string_view gold,
                                         std::string_view answer,
                                         const Readings& a, const Readings& b,
                                         const std::string& reason,
                                         const GradePolicy& policy,
                                         bool settled) {
  if (const auto words = OppositeWords(gold, answer)) {
    return GradeVerdict::Different(
        absl::StrCat("gold says \"", words->first, "\", the answer \"",
                     words->second, "\"; without that, ", reason));
  }
  const auto numeral = [](const Readings& side) {
    return std::string(FirstNumeral(
        WithDigits(side.number.empty() ? side.text : side.number)));
  };
  if (const std::string number = numeral(a);
      number == numeral(b) && OtherMarks(gold, answer, number)) {
    return GradeVerdict::Undecided(absl::StrCat(
        "what stands beside ", number, " differs; without that, ", reason));
  }
  if (const std::string number = numeral(a); number == numeral(b)) {
    if (const std::string noun =
            OtherNoun(WithDigits(gold), WithDigits(answer), number);
        !noun.empty()) {
      return GradeVerdict::Undecided(
          absl::StrCat("the answer counts ", noun, "; without that, ", reason));
    }
  }
  std::string why = settled ? std::string() : OnlyRelated(a.text, answer);
  if (why.empty() && !settled) why = OnlyRelated(b.text, gold);
  if (!why.empty()) {
    why = absl::StrCat("\"", why, "\" may make another answer of it");
  } else if (IsAnagram(TrimBlanks(a.text), TrimBlanks(b.text))) {
    why = "the letters of gold stand in another order";
  } else if (RoundedAway(a.text, b.text, answer)) {
    why = "the answer is rounded, gold is not";
  } else if (OneLeavesChoice(a, b)) {
    why = "only one of them leaves a choice";
  } else if (const char x = LetterInFront(a.text), y = LetterInFront(b.text);
             x != 0 && y != 0 && x != y &&
             reason.find(" mod ") != std::string::npos) {
    why = "they are about different letters";
  } else if (TrimBlanks(b.text).ends_with(" of") &&
             !TrimBlanks(a.text).ends_with(" of")) {
    why = "the answer breaks off";
  } else if (DropsPercent(gold, b, policy)) {
    why = "the answer is a percentage, gold is not";
  } else {
    why = OrderInDoubt(a.text, b.text);
  }
  if (why.empty()) why = OtherLogic(a, b);
  if (why.empty() && policy.extract && BoxUnclaimed(answer)) {
    why = "nobody claims what the box holds";
  }
  const std::string verdict = FoldWords(a.text.substr(0, 10));
  if (why.empty() && IsPhrase(verdict, Reading::kTrueFalse)) {
    const std::string said = PlainLower(answer.substr(0, 200));
    // Of another statement than the one in question.
    for (const std::string_view other :
         {"the negation is", "the converse is", "the inverse is"}) {
      if (said.find(other) != kNowhere) why = "it may be another statement";
    }
  }
  if (why.empty() && policy.extract && RevisesBox(answer)) {
    why = "what follows the box gives another number";
  }
  if (why.empty() && OtherModulus(gold, answer)) {
    why = "the moduli differ";
  }
  if (why.empty() && MoreThanUnit(gold, answer)) {
    why = "the answer is an amount that is added";
  }
  if (why.empty()) return std::nullopt;
  return GradeVerdict::Undecided(absl::StrCat(why, "; without that, ", reason));
}

}  // namespace espalier
