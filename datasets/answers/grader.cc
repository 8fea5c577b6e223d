#include "datasets/answers/grader.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "datasets/answers/chemical_formula.h"
#include "datasets/answers/find/base_beside.h"
#include "datasets/answers/find/sentence.h"
#include "datasets/answers/find/unit_beside.h"
#include "datasets/answers/notation/parser.h"
#include "datasets/answers/value/answer.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/words/choice.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/decimals.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/written_form.h"

namespace espalier {
namespace {

using Kind = Answer::Kind;

// "5:30 PM", or half past five, against "17:30" or "3:15", which may be ratios.
bool SameClock(const Readings& time, const Readings& clock) {
  const std::string_view plain = TrimBlanks(clock.text);
  const size_t colon = plain.find(':');
  if (clock.answers[0].kind == Kind::kText || colon == plain.npos ||
      plain.size() != colon + 3 ||
      plain.find_first_not_of("0123456789:") != plain.npos) {
    return false;
  }
  return std::any_of(time.answers.begin(), time.answers.end(),
                     [plain](const Answer& said) {
                       return said.kind == Kind::kText &&
                              (said.text == plain ||
                               said.text == std::string(plain) + " o'clock");
                     });
}

// Gold "8:05 o'clock" or "8:15", of either half of the day, against "8:05" or
// "20:05" that names it.
bool SameHour(const Readings& gold, const Readings& answer) {
  constexpr std::string_view kClock = " o'clock";
  std::string open = gold.answers[0].text, half = answer.answers[0].text;
  if (gold.answers[0].kind != Kind::kText) open = gold.text + " o'clock";
  if (answer.answers[0].kind != Kind::kText || !open.ends_with(kClock) ||
      half.size() > 5 || half.find(':') == half.npos) {
    return false;
  }
  const int hour = std::atoi(half.c_str());
  const int shown = hour % 12 == 0 ? 12 : hour % 12;
  return std::to_string(shown) + half.substr(half.find(':')) ==
         open.substr(0, open.size() - kClock.size());
}

// "A, C" against "C and A". Letters in another order may answer a question
// for an order: "BCDA" is not "ABCD".
std::optional<GradeVerdict> CompareManyChoices(std::string_view gold,
                                               std::string_view answer) {
  std::string x = ManyChoices(gold), y = ManyChoices(answer);
  if (x.empty() || x.size() != y.size()) return std::nullopt;
  const bool in_order = std::is_sorted(x.begin(), x.end());
  // "A, B" lists choices; "BCDA" may be an order, and "B, C, D, A" for gold
  // "ABCD". "BD" is no order of all there is.
  const bool all = x == std::string_view("ABCDEFGHIJ").substr(0, x.size());
  const bool joined = Holds(answer, Reading::kConjunction) ||
                      ((gold.find(',') != gold.npos || !all) &&
                       answer.find(',') != answer.npos);
  if (x == y || (in_order && joined &&
                 std::is_permutation(x.begin(), x.end(), y.begin()))) {
    return GradeVerdict::Equal(absl::StrCat("both are choices ", x));
  }
  if (!std::is_permutation(x.begin(), x.end(), y.begin())) {
    return std::nullopt;
  }
  return GradeVerdict::Undecided(absl::StrCat("gold is ", x, ", the answer ", y,
                                              ", and the order may matter"));
}

// Nothing if choice letters do not decide.
std::optional<GradeVerdict> CompareChoices(const Readings& gold,
                                           const Readings& answer) {
  if (gold.choice != 0 && answer.choice != 0) {
    if (gold.choice != answer.choice) {
      return GradeVerdict::Different(
          absl::StrCat("gold is choice ", std::string(1, gold.choice),
                       ", the answer ", std::string(1, answer.choice)));
    }
    if (gold.choice_only || answer.choice_only) {
      return GradeVerdict::Equal(
          absl::StrCat("both are choice ", std::string(1, gold.choice)));
    }
  }
  if (gold.choice_only != answer.choice_only) {
    std::string_view text = gold.choice_only ? answer.text : gold.text;
    text.remove_prefix(text.size() - std::min<size_t>(text.size(), 4000));
    const char named = ChoiceNamed(WithoutSpacing(text));
    if (named != 0 && named == (gold.choice_only ? gold : answer).choice) {
      return GradeVerdict::Equal(
          absl::StrCat("both are choice ", std::string(1, named)));
    }
  }
  return CompareManyChoices(gold.text, answer.text);
}

// The readings of a gold answer that an answer may match: the answer as
// written; the value inside words; for a choice, its content.
std::vector<Answer> GoldReadings(const Readings& gold) {
  if (gold.choice != 0) return gold.answers;
  std::vector<Answer> out{gold.answers.front()};
  // "the second law of thermodynamics" is a name, not a sentence that ends in
  // one.
  const std::string lower = PlainLower(gold.text.substr(0, 200));
  const bool name = lower.starts_with("the ") &&
                    !Mentions(lower, Reading::kCopula) &&
                    !Mentions(lower, Reading::kDoes);
  if (gold.words && gold.answers.size() > 1 && !name) {
    out.push_back(gold.answers.back());
  }
  return out;
}

void Append(const std::vector<Answer>& more, std::vector<Answer>& out) {
  out.insert(out.end(), more.begin(), more.end());
}

std::vector<Answer> AllReadings(const Readings& side) {
  std::vector<Answer> out = side.answers;
  Append(side.doubtful, out);
  Append(side.beside, out);
  return out;
}

}  // namespace

bool WritesUnit(const Readings& side) {
  const Expr& e = side.answers[0].expr;
  return e != nullptr && e->op == Op::kQuantity;
}

std::string UnitOf(const Readings& side) {
  const Expr& e = WritesUnit(side) || side.beside.empty() ? side.answers[0].expr
                                                          : side.beside[0].expr;
  const bool unit = e != nullptr && e->op == Op::kQuantity;
  return unit && ReadUnit(e->name).known ? e->name : std::string();
}

std::optional<Readings> Grader::WithUnitBeside(const Readings& side,
                                               std::string_view raw,
                                               const Readings& other) {
  const std::string named = UnitOf(other);
  if (!policy_.extract || policy_.units == GradePolicy::Units::kDrop ||
      named.empty()) {
    return std::nullopt;
  }
  const std::string_view number =
      side.number.empty() ? std::string_view(side.text) : side.number;
  const std::string unit = UnitBeside(raw, number);
  if (unit.empty()) return std::nullopt;
  // "$5" may be 5 dollars an hour.
  if (unit == " dollars" &&
      ReadUnit(unit).dimension != ReadUnit(named).dimension) {
    return std::nullopt;
  }
  return Read(std::string(number) + unit);
}

std::optional<Readings> Grader::WithBaseBeside(const Readings& side,
                                               std::string_view raw,
                                               const Readings& gold) {
  const Expr& based = gold.answers[0].expr;
  if (!policy_.extract || based == nullptr || based->op != Op::kBased) {
    return std::nullopt;
  }
  std::string_view digits =
      side.number.empty() ? std::string_view(side.text) : side.number;
  // "777 (base 8)"
  digits = digits.substr(0, digits.find(' '));
  const int base = BaseBeside(raw, digits);
  if (base == 0) return std::nullopt;
  return Read(absl::StrCat(std::string(digits), "_{", base, "}"));
}

GradeVerdict Grader::Compare(const Readings& a, const Readings& b) {
  const bool sure = !a.cut_off && !b.cut_off && !a.picked;
  if (!sure) return CompareOtherwiseWritten(a, b);
  if (a.text == b.text ||
      (a.text.size() < 2 * kLongestMath && b.text.size() < 2 * kLongestMath &&
       Squeeze(a.text) == Squeeze(b.text))) {
    return GradeVerdict::Equal(
        absl::StrCat("both are written ", a.text.substr(0, 60)));
  }
  return CompareOtherwiseWritten(a, b);
}

GradeVerdict Grader::CompareOtherwiseWritten(const Readings& gold,
                                             const Readings& answer) {
  if (auto verdict = CompareChoices(gold, answer)) return *verdict;
  if (gold.cut_off) {
    return GradeVerdict::Undecided("gold is cut off in the middle");
  }
  if (gold.picked) {
    const std::string why = MightBeEqual(gold, answer);
    return why.empty()
               ? GradeVerdict::Different(
                     "gold is not a single one of these formulas")
               : GradeVerdict::Undecided("gold may be another formula; " + why);
  }
  const bool words = HasWords(gold.answers[0]) || HasWords(answer.answers[0]);
  if (words && gold.text.size() < kLongestMath &&
      answer.text.size() < kLongestMath && OnlyWords(gold.text) &&
      OnlyWords(answer.text) && !FoldWords(gold.text).empty() &&
      FoldWords(gold.text) == FoldWords(answer.text)) {
    return GradeVerdict::Equal(
        absl::StrCat("both say \"", FoldWords(gold.text), "\""));
  }
  if (SameDecimal(gold.text, answer.text) ||
      SameDecimal(gold.text, answer.number) ||
      SameDecimal(gold.number, answer.text)) {
    if (MayBeTwo(gold.text)) {
      return GradeVerdict::Undecided("gold may be two numbers");
    }
    return MayBeTwo(answer.text)
               ? GradeVerdict::Undecided("the answer may be two numbers")
               : GradeVerdict::Equal("both are the same decimal");
  }
  if (SameClock(gold, answer) || SameClock(answer, gold) ||
      SameHour(gold, answer)) {
    return GradeVerdict::Equal("both are the same time of day");
  }
  if (SameHour(answer, gold)) {
    return GradeVerdict::Undecided(
        "the answer leaves open which half of the day it is");
  }
  if (SameIndexed(gold.text, answer.text)) {
    return GradeVerdict::Equal("both are the same letter with an index");
  }
  if (SameIndexed(answer.text, gold.text)) {
    return GradeVerdict::Undecided(
        "gold may be a product or a letter with an index");
  }
  if (SameFormula(gold.text, answer.text)) {
    return GradeVerdict::Equal("both are the same formula of chemistry");
  }
  return CompareReadings(gold, answer);
}

GradeVerdict Grader::CompareReadings(const Readings& gold,
                                     const Readings& answer) {
  std::vector<Answer> from = GoldReadings(gold), to = answer.answers;
  // Next to a unit, letters are a unit.
  const bool units = WritesUnit(gold) || WritesUnit(answer) ||
                     (!gold.beside.empty() && !answer.beside.empty()) ||
                     IsScientific(gold.text);
  if (units) Append(gold.beside, from);
  if (units) Append(answer.beside, to);
  std::string first, open;
  for (const Answer& a : from) {
    for (const Answer& b : to) {
      AnswerVerdict verdict = CompareAnswers(a, b, comparer_, policy_);
      if (verdict.equal && answer.cut_off) {
        return GradeVerdict::Undecided("the answer is cut off in the middle");
      }
      if (verdict.equal) return GradeVerdict::Equal(std::move(verdict.reason));
      if (verdict.unknown && open.empty()) open = verdict.reason;
      if (first.empty()) first = std::move(verdict.reason);
    }
  }
  if (open.empty()) open = MightBeEqual(gold, answer);
  if (!open.empty()) return GradeVerdict::Undecided(std::move(open));
  if (!answer.error.empty()) {
    absl::StrAppend(&first, " (could not read the answer: ", answer.error, ")");
  }
  if (!gold.error.empty()) {
    absl::StrAppend(&first, " (could not read gold: ", gold.error, ")");
  }
  return GradeVerdict::Different(std::move(first));
}

std::string Grader::MightBeEqual(const Readings& gold, const Readings& answer) {
  const std::vector<Answer> from = AllReadings(gold), to = AllReadings(answer);
  for (const Answer& a : from) {
    for (const Answer& b : to) {
      const AnswerVerdict verdict = CompareAnswers(a, b, comparer_, policy_);
      if (verdict.equal) {
        return absl::StrCat("read in one way, ", verdict.reason);
      }
      if (verdict.unknown) return verdict.reason;
    }
  }
  return {};
}

}  // namespace espalier
