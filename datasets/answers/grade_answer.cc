#include "datasets/answers/grade_answer.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "datasets/answers/answer.h"
#include "datasets/answers/bare_words.h"
#include "datasets/answers/base_beside.h"
#include "datasets/answers/bold_answer.h"
#include "datasets/answers/characters.h"
#include "datasets/answers/chemical_formula.h"
#include "datasets/answers/choice.h"
#include "datasets/answers/clean_text.h"
#include "datasets/answers/counted_noun.h"
#include "datasets/answers/decimals.h"
#include "datasets/answers/era_year.h"
#include "datasets/answers/extract_answer.h"
#include "datasets/answers/later_answer.h"
#include "datasets/answers/main_statement.h"
#include "datasets/answers/marks_beside.h"
#include "datasets/answers/names_said.h"
#include "datasets/answers/number_words.h"
#include "datasets/answers/only_mentioned.h"
#include "datasets/answers/opposites.h"
#include "datasets/answers/parser.h"
#include "datasets/answers/phrases.h"
#include "datasets/answers/readings.h"
#include "datasets/answers/related.h"
#include "datasets/answers/restated.h"
#include "datasets/answers/reworded.h"
#include "datasets/answers/sentence.h"
#include "datasets/answers/stance.h"
#include "datasets/answers/thoughts.h"
#include "datasets/answers/times_dates.h"
#include "datasets/answers/unit_beside.h"
#include "datasets/answers/units.h"
#include "datasets/answers/written_alike.h"
#include "datasets/answers/written_form.h"
#include "datasets/answers/written_order.h"

namespace espalier {
namespace {

using Kind = Answer::Kind;

GradeVerdict Equal(std::string reason) {
  return {.equal = true, .reason = std::move(reason)};
}
GradeVerdict Different(std::string reason) {
  return {.reason = std::move(reason)};
}
GradeVerdict Undecided(std::string reason) {
  return {.reason = "undecided: " + std::move(reason), .undecided = true};
}

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

// Whether it has a unit that letters can be compared with.
bool WritesUnit(const Readings& side) {
  const Expr& e = side.answers[0].expr;
  return e != nullptr && e->op == Op::kQuantity;
}

// The unit that a side names, if known.
std::string UnitOf(const Readings& side) {
  const Expr& e = WritesUnit(side) || side.beside.empty() ? side.answers[0].expr
                                                          : side.beside[0].expr;
  const bool unit = e != nullptr && e->op == Op::kQuantity;
  return unit && ReadUnit(e->name).known ? e->name : std::string();
}

class Grader {
 public:
  explicit Grader(const GradePolicy& policy)
      : policy_(policy), comparer_(policy), reader_(policy, comparer_) {}

  Readings Read(std::string_view raw) { return reader_.Read(raw); }

  // With the unit found in `raw` behind the number of `side`, if the other side
  // names one as well; else nothing.
  std::optional<Readings> WithUnitBeside(const Readings& side,
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

  // With the base that `raw` names for its digits, if gold names one as well;
  // else nothing.
  std::optional<Readings> WithBaseBeside(const Readings& side,
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

  GradeVerdict Compare(const Readings& gold, const Readings& answer) {
    if (auto verdict = CompareChoices(gold, answer)) return *verdict;
    if (gold.cut_off) return Undecided("gold is cut off in the middle");
    if (gold.picked) {
      const std::string why = MightBeEqual(gold, answer);
      return why.empty()
                 ? Different("gold is not a single one of these formulas")
                 : Undecided("gold may be another formula; " + why);
    }
    const bool words = HasWords(gold.answers[0]) || HasWords(answer.answers[0]);
    if (words && gold.text.size() < kLongestMath &&
        answer.text.size() < kLongestMath && OnlyWords(gold.text) &&
        OnlyWords(answer.text) && !FoldWords(gold.text).empty() &&
        FoldWords(gold.text) == FoldWords(answer.text)) {
      return Equal(absl::StrCat("both say \"", FoldWords(gold.text), "\""));
    }
    if (SameDecimal(gold.text, answer.text) ||
        SameDecimal(gold.text, answer.number) ||
        SameDecimal(gold.number, answer.text)) {
      if (MayBeTwo(gold.text)) return Undecided("gold may be two numbers");
      return MayBeTwo(answer.text) ? Undecided("the answer may be two numbers")
                                   : Equal("both are the same decimal");
    }
    if (SameClock(gold, answer) || SameClock(answer, gold) ||
        SameHour(gold, answer)) {
      return Equal("both are the same time of day");
    }
    if (SameHour(answer, gold)) {
      return Undecided("the answer leaves open which half of the day it is");
    }
    if (SameIndexed(gold.text, answer.text)) {
      return Equal("both are the same letter with an index");
    }
    if (SameIndexed(answer.text, gold.text)) {
      return Undecided("gold may be a product or a letter with an index");
    }
    if (SameFormula(gold.text, answer.text)) {
      return Equal("both are the same formula of chemistry");
    }
    return CompareReadings(gold, answer);
  }

 private:
  // Nothing if choice letters do not decide.
  static std::optional<GradeVerdict> CompareChoices(const Readings& gold,
                                                    const Readings& answer) {
    if (gold.choice != 0 && answer.choice != 0) {
      if (gold.choice != answer.choice) {
        return Different(
            absl::StrCat("gold is choice ", std::string(1, gold.choice),
                         ", the answer ", std::string(1, answer.choice)));
      }
      if (gold.choice_only || answer.choice_only) {
        return Equal(
            absl::StrCat("both are choice ", std::string(1, gold.choice)));
      }
    }
    if (gold.choice_only != answer.choice_only) {
      std::string_view text = gold.choice_only ? answer.text : gold.text;
      text.remove_prefix(text.size() - std::min<size_t>(text.size(), 4000));
      const char named = ChoiceNamed(WithoutSpacing(text));
      if (named != 0 && named == (gold.choice_only ? gold : answer).choice) {
        return Equal(absl::StrCat("both are choice ", std::string(1, named)));
      }
    }
    return CompareManyChoices(gold.text, answer.text);
  }

  // "A, C" against "C and A". Letters in another order may answer a question
  // for an order: "BCDA" is not "ABCD".
  static std::optional<GradeVerdict> CompareManyChoices(
      std::string_view gold, std::string_view answer) {
    std::string x = ManyChoices(gold), y = ManyChoices(answer);
    if (x.empty() || x.size() != y.size()) return std::nullopt;
    const bool in_order = std::is_sorted(x.begin(), x.end());
    // "A, B" lists choices; "BCDA" may be an order.
    const bool joined =
        Holds(answer, Reading::kConjunction) ||
        (gold.find(',') != gold.npos && answer.find(',') != answer.npos);
    if (x == y || (in_order && joined &&
                   std::is_permutation(x.begin(), x.end(), y.begin()))) {
      return Equal(absl::StrCat("both are choices ", x));
    }
    if (!std::is_permutation(x.begin(), x.end(), y.begin())) {
      return std::nullopt;
    }
    return Undecided(absl::StrCat("gold is ", x, ", the answer ", y,
                                  ", and the order may matter"));
  }

  // The readings of a gold answer that an answer may match: the answer as
  // written; the value inside words; for a choice, its content.
  static std::vector<Answer> GoldReadings(const Readings& gold) {
    if (gold.choice != 0) return gold.answers;
    std::vector<Answer> out{gold.answers.front()};
    if (gold.words && gold.answers.size() > 1) {
      out.push_back(gold.answers.back());
    }
    return out;
  }

  GradeVerdict CompareReadings(const Readings& gold, const Readings& answer) {
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
          return Undecided("the answer is cut off in the middle");
        }
        if (verdict.equal) return Equal(std::move(verdict.reason));
        if (verdict.unknown && open.empty()) open = verdict.reason;
        if (first.empty()) first = std::move(verdict.reason);
      }
    }
    if (open.empty()) open = MightBeEqual(gold, answer);
    if (!open.empty()) return Undecided(std::move(open));
    if (!answer.error.empty()) {
      absl::StrAppend(&first, " (could not read the answer: ", answer.error,
                      ")");
    }
    if (!gold.error.empty()) {
      absl::StrAppend(&first, " (could not read gold: ", gold.error, ")");
    }
    return Different(std::move(first));
  }

  // Why some uncertain readings agree; empty if none do.
  std::string MightBeEqual(const Readings& gold, const Readings& answer) {
    const std::vector<Answer> from = AllReadings(gold),
                              to = AllReadings(answer);
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

  static void Append(const std::vector<Answer>& more,
                     std::vector<Answer>& out) {
    out.insert(out.end(), more.begin(), more.end());
  }

  static std::vector<Answer> AllReadings(const Readings& side) {
    std::vector<Answer> out = side.answers;
    Append(side.doubtful, out);
    Append(side.beside, out);
    return out;
  }

  const GradePolicy& policy_;
  ValueComparer comparer_;
  Reader reader_;
};

GradeVerdict CompareRead(Grader& grader, const Readings& a, const Readings& b) {
  const bool sure = !a.cut_off && !b.cut_off && !a.picked;
  if (!sure) return grader.Compare(a, b);
  if (a.text == b.text ||
      (a.text.size() < 2 * kLongestMath && b.text.size() < 2 * kLongestMath &&
       Squeeze(a.text) == Squeeze(b.text))) {
    return Equal(absl::StrCat("both are written ", a.text.substr(0, 60)));
  }
  return grader.Compare(a, b);
}

// The verdict on gold and a part of a response, if it is equal and sure.
std::optional<GradeVerdict> EqualPart(Grader& grader, const Readings& gold,
                                      std::string_view part) {
  if (part.empty()) return std::nullopt;
  const Readings named = grader.Read(part);
  if (named.unsure || !named.doubt.empty()) return std::nullopt;
  const auto unit = grader.WithUnitBeside(named, part, gold);
  GradeVerdict said = CompareRead(grader, gold, unit ? *unit : named);
  if (!said.equal || !OnlyRelated(gold.text, part).empty()) return std::nullopt;
  return said;
}

// The verdict on gold and a name, if it is gold or gold but for a word for its
// kind.
std::optional<GradeVerdict> CompareName(const Readings& gold,
                                        std::string_view name) {
  switch (SameButKind(gold.text, name)) {
    case Alike::kSame:
      return Equal("both name " + gold.text);
    case Alike::kMaybe:
      return Undecided("\"" + std::string(name) +
                       "\" may be another thing than \"" + gold.text + "\"");
    case Alike::kOther:
      break;
  }
  return std::nullopt;
}

// The verdict if a name that the answer states is gold.
std::optional<GradeVerdict> CompareNames(Grader& grader,
                                         std::string_view answer,
                                         const Readings& gold) {
  if (HasDigits(gold.text) || TrimBlanks(gold.text).size() < 2) {
    return std::nullopt;
  }
  const std::string_view place = WithoutCountry(answer);
  const std::string main = MainStatement(answer);
  if (auto said = EqualPart(grader, gold, main)) return said;
  // "Nile River, Egypt"
  if (auto said = CompareName(gold, place)) return said;
  for (const std::string_view text :
       {answer, place, WithoutContrasted(answer), std::string_view(main)}) {
    for (const std::string& name : NamesSaid(text)) {
      if (auto said = EqualPart(grader, gold, name)) return said;
      for (const std::string& part : NameParts(name)) {
        if (auto said = EqualPart(grader, gold, part)) return said;
      }
      if (auto said = CompareName(gold, name)) return said;
    }
  }
  return std::nullopt;
}

// "All but B are wrong, so B" read as "B", "What is it? C" as "C", "a half
// (50%)" as both: the verdict if a part that the rest leaves as it is says
// what gold says.
std::optional<GradeVerdict> CompareParts(Grader& grader,
                                         std::string_view answer,
                                         const Readings& gold) {
  for (const std::string_view part :
       {ConclusionAbout(gold.text, answer), BehindQuestion(answer),
        WithoutOthers(answer), BehindCorrection(answer),
        LeftOver(gold.text, answer), WithoutContrasted(answer),
        ChoiceLeft(answer), ConcludedInWords(answer), FinalLine(answer),
        WithoutCountry(answer), LastLabelled(answer)}) {
    if (auto said = EqualPart(grader, gold, part)) return said;
  }
  const auto [name, form] = BothForms(answer);
  for (const std::string& part : {LinesAsList(answer), WithoutShortForm(answer),
                                  std::string(name), std::string(form)}) {
    if (auto said = EqualPart(grader, gold, part)) return said;
  }
  for (const std::string& part : BoldWords(answer)) {
    if (auto said = EqualPart(grader, gold, part)) return said;
  }
  if (auto named = CompareNames(grader, answer, gold)) return named;
  if (const auto year = ReadEraYear(gold.text);
      year && year->alone && !year->named) {
    if (auto said = EqualPart(grader, gold, YearStated(answer))) return said;
  }
  const std::string_view whole = TrimBlanks(answer);
  for (const std::string_view part :
       {whole, whole.substr(LastSentenceStart(whole))}) {
    const auto [first, again] = SaidTwice(part);
    if (auto said = EqualPart(grader, gold, again);
        said && (EqualPart(grader, gold, first) ||
                 // "There are none (zero)."
                 (gold.text == "0" && FoldWords(first).ends_with("none")))) {
      return said;
    }
  }
  return std::nullopt;
}

// With "Monday, the day after Sunday" read as "Monday": the verdict if that is
// equal; of gold, undecided.
std::optional<GradeVerdict> CompareNamed(Grader& grader, std::string_view gold,
                                         std::string_view answer,
                                         const Readings& a, const Readings& b,
                                         bool* settled) {
  const bool name = !HasDigits(gold) && TrimBlanks(gold).size() > 1;
  if (gold.find(',') == kNowhere) {
    if (auto said = EqualPart(grader, a, WithoutApposition(answer))) {
      return said;
    }
    for (const std::string_view part :
         {WithoutClause(answer), WithoutRole(answer)}) {
      if (!name) continue;
      if (auto said = EqualPart(grader, a, part)) {
        *settled = true;
        return said;
      }
    }
  }
  if (!b.unsure && b.doubt.empty() && !b.denied) {
    for (const std::string& part : ResultParts(answer)) {
      if (auto said = EqualPart(grader, a, part)) return said;
    }
    if (name && gold.find(',') == kNowhere) {
      for (const std::string& part : NameParts(answer)) {
        if (auto said = EqualPart(grader, a, part)) return said;
      }
      const auto [front, form] = BothForms(b.text);
      for (const std::string& part :
           {WithoutShortForm(b.text), std::string(front), std::string(form),
            std::string(WithoutCountry(b.text))}) {
        if (auto said = EqualPart(grader, a, part)) return said;
      }
      std::vector<std::string> names = SaidInWords(answer);
      names.insert(names.begin(), {std::string(answer), b.text});
      if (!SaysPlainly(answer)) names.clear();
      for (const std::string& said : names) {
        if (auto verdict = CompareName(a, said)) return verdict;
      }
    }
  }
  for (const std::string& part : BoldWords(gold)) {
    const GradeVerdict said = CompareRead(grader, grader.Read(part), b);
    if (said.equal) return Undecided("read in one way, " + said.reason);
  }
  for (const std::string_view part :
       {WithoutApposition(gold), ConclusionAbout(b.text, gold)}) {
    if (part.empty() || answer.find(',') != kNowhere) continue;
    const GradeVerdict said = CompareRead(grader, grader.Read(part), b);
    if (said.equal) return Undecided("read in one way, " + said.reason);
  }
  return std::nullopt;
}

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
  return !CompareRead(grader, grader.Read(gold), grader.Read(said)).equal;
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

// What two answers that compare as equal say besides, so that they may differ.
std::optional<GradeVerdict> OtherMeaning(std::string_view gold,
                                         std::string_view answer,
                                         const Readings& a, const Readings& b,
                                         const std::string& reason,
                                         const GradePolicy& policy,
                                         bool settled) {
  if (const auto words = OppositeWords(gold, answer)) {
    return Different(absl::StrCat("gold says \"", words->first,
                                  "\", the answer \"", words->second,
                                  "\"; without that, ", reason));
  }
  const auto numeral = [](const Readings& side) {
    return std::string(FirstNumeral(
        WithDigits(side.number.empty() ? side.text : side.number)));
  };
  if (const std::string number = numeral(a);
      number == numeral(b) && OtherMarks(gold, answer, number)) {
    return Undecided(absl::StrCat("what stands beside ", number,
                                  " differs; without that, ", reason));
  }
  if (const std::string number = numeral(a); number == numeral(b)) {
    if (const std::string noun =
            OtherNoun(WithDigits(gold), WithDigits(answer), number);
        !noun.empty()) {
      return Undecided(
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
  if (why.empty() && MoreThanUnit(gold, answer)) {
    why = "the answer is an amount that is added";
  }
  if (why.empty()) return std::nullopt;
  return Undecided(absl::StrCat(why, "; without that, ", reason));
}

GradeVerdict GradeAsWritten(std::string_view gold, std::string_view answer,
                            const GradePolicy& policy) {
  if (TrimBlanks(gold).empty()) return Different("gold is blank");
  if (TrimBlanks(answer).empty()) return Different("the answer is blank");
  if (TrimBlanks(gold) == TrimBlanks(answer)) {
    return Equal("both are written the same way");
  }
  if (const auto same =
          policy.extract ? SameYear(gold, answer) : std::optional<bool>()) {
    return *same ? Equal("both are the same year")
                 : Different("the years are in different eras");
  }
  Grader grader(policy);
  const Readings a = grader.Read(gold);
  const Readings b = grader.Read(answer);
  if (TrimBlanks(a.text).empty()) return Different("gold holds no answer");
  if (TrimBlanks(b.text).empty()) return Different("the text holds no answer");
  GradeVerdict verdict = CompareRead(grader, a, b);
  // "20 km/h" and "so it is \\boxed{20} m/s"
  if (const auto with = grader.WithUnitBeside(b, answer, a)) {
    verdict = CompareRead(grader, a, *with);
  } else if (const auto gold_with = grader.WithUnitBeside(a, gold, b)) {
    verdict = CompareRead(grader, *gold_with, b);
  }
  // Whether a part of the answer that is sure says what gold says.
  bool settled = false;
  if ((!verdict.equal || b.unsure || !b.doubt.empty()) && policy.extract) {
    if (auto part = CompareParts(grader, answer, a)) {
      verdict = *std::move(part);
      settled = true;
    }
  }
  const bool claimed = verdict.equal && (settled || b.doubt.empty());
  if (!claimed && policy.extract) {
    if (auto named = CompareNamed(grader, gold, answer, a, b, &settled)) {
      verdict = *std::move(named);
    }
  }
  if (verdict.undecided || (!verdict.equal && b.words)) {
    // "40_9" and "in base 9, it is \\boxed{40}"
    if (const auto with = grader.WithBaseBeside(b, answer, a)) {
      verdict = CompareRead(grader, a, *with);
    }
  }
  if (verdict.equal && DottedGroups(a.text) != DottedGroups(b.text)) {
    return Undecided("points may not separate thousands");
  }
  if (verdict.equal && (a.unsure || (b.unsure && !settled))) {
    return Undecided(absl::StrCat(a.unsure ? "gold" : "the answer",
                                  " is not stated for certain; read as if, ",
                                  verdict.reason));
  }
  const bool said = answer.find(TrimBlanks(a.text)) != kNowhere;
  if ((verdict.equal || said) && a.text.find(':') != kNowhere &&
      answer.find(':') != kNowhere && EndsInOtherTime(answer)) {
    return Undecided("another time may be the answer; without that, " +
                     verdict.reason);
  }
  if (verdict.equal) {
    if (auto other =
            OtherMeaning(gold, answer, a, b, verdict.reason, policy, settled)) {
      return *std::move(other);
    }
  }
  if (verdict.equal && policy.extract && EndsInOther(answer, a.text)) {
    return Undecided("the answer ends in another number; without that, " +
                     verdict.reason);
  }
  // Words that gold has as well change nothing.
  // "2 hours and 15 minutes" is one amount.
  const bool one = b.doubt == "and" && WritesUnit(b) && !UnitOf(b).empty();
  // "She arrived at 10:30" came to no number.
  const bool clock =
      IsPhrase(b.doubt, Reading::kArrives) && !TimeOfDay(a.text).empty();
  if (verdict.equal && !b.doubt.empty() && !one && !clock && !settled &&
      Lower(gold).find(b.doubt) == std::string::npos) {
    return Undecided(absl::StrCat("the answer is not claimed (\"", b.doubt,
                                  "\"); read as if, ", verdict.reason));
  }
  return verdict;
}

// The verdict on what both say, written alike; that an exchange of the sides
// finds is not certain.
GradeVerdict GradeAlike(std::string_view gold, std::string_view answer,
                        const GradePolicy& policy, GradeVerdict verdict) {
  for (const bool exchanged : {false, true}) {
    for (const AlikePair& pair :
         exchanged ? WrittenAlike(answer, gold) : WrittenAlike(gold, answer)) {
      GradeVerdict alike = exchanged
                               ? GradeAsWritten(pair.answer, pair.gold, policy)
                               : GradeAsWritten(pair.gold, pair.answer, policy);
      if (!alike.equal && !alike.undecided) continue;
      const std::string name = Lower(kFormulaName);
      if (const size_t at = alike.reason.find(name); at != kNowhere) {
        alike.reason.replace(at, name.size(), gold.substr(0, 60));
      }
      if (alike.equal && (pair.open || exchanged)) {
        return Undecided("read in one way, " + alike.reason);
      }
      if (alike.equal || !verdict.undecided) return alike;
    }
  }
  return verdict;
}

// The verdict on what the last statement of a response says; that an exchange
// of the sides finds is not certain.
GradeVerdict GradeReworded(std::string_view gold, std::string_view answer,
                           const GradePolicy& policy, GradeVerdict verdict) {
  for (const RewordedPair& pair : Reworded(gold, answer)) {
    GradeVerdict said = GradeAsWritten(pair.gold, pair.answer, policy);
    if (said.equal) return said;
  }
  for (const RewordedPair& pair : Reworded(answer, gold)) {
    const GradeVerdict said = GradeAsWritten(pair.gold, pair.answer, policy);
    if (said.equal && !verdict.undecided) {
      return Undecided("read in one way, " + said.reason);
    }
  }
  return verdict;
}

// Also without openings that are only said to the reader.
GradeVerdict GradeClaims(std::string_view gold, std::string_view answer,
                         const GradePolicy& policy, int openings = 2) {
  if (const auto same = SameChemistry(gold, answer)) {
    return *same ? Equal("both are the same formula of chemistry")
                 : Different("the formulas of chemistry differ");
  }
  if (policy.extract && TrimBlanks(gold) != TrimBlanks(answer)) {
    const std::string_view said = WithoutThoughts(answer);
    if (!TrimBlanks(said).empty()) answer = said;
  }
  GradeVerdict verdict = GradeAsWritten(gold, answer, policy);
  if (verdict.equal) return verdict;
  std::string_view bare;
  if (policy.extract && openings > 0) bare = WithoutCourtesy(answer);
  if (!bare.empty()) {
    GradeVerdict said = GradeClaims(gold, bare, policy, openings - 1);
    if (said.equal) return said;
  }
  verdict = GradeAlike(gold, answer, policy, std::move(verdict));
  if (verdict.equal || !policy.extract) return verdict;
  return GradeReworded(gold, answer, policy, std::move(verdict));
}

}  // namespace

GradeVerdict GradeAnswer(std::string_view gold, std::string_view answer,
                         const GradePolicy& policy) {
  GradeVerdict verdict = GradeClaims(gold, answer, policy);
  if (!policy.extract || gold == answer) return verdict;
  // A sentence as gold may be read in more ways than one.
  if (!verdict.equal && !verdict.undecided && gold.size() + 4 > answer.size() &&
      gold.size() <= 400 && GradeClaims(answer, gold, policy).equal) {
    return Undecided("read in one way, both say the same");
  }
  const std::string other =
      verdict.equal ? OnlyMentioned(gold, answer) : std::string();
  if (other.empty()) return verdict;
  return Undecided(absl::StrCat("\"", other, "\" may make another answer of it",
                                "; without that, ", verdict.reason));
}

GradeVerdict GradeAgainstAny(const std::vector<std::string>& golds,
                             std::string_view answer,
                             const GradePolicy& policy) {
  if (golds.empty()) return Different("gold is blank");
  GradeVerdict out;
  for (const std::string& gold : golds) {
    GradeVerdict verdict = GradeAnswer(gold, answer, policy);
    if (verdict.equal) return verdict;
    if (out.reason.empty() || (verdict.undecided && !out.undecided)) {
      out = std::move(verdict);
    }
  }
  return out;
}

std::optional<std::string> FindFinalAnswer(std::string_view response) {
  // A short text or line that is not mathematics is an answer in words.
  constexpr size_t kLongestWords = 200;
  const GradePolicy policy;
  Grader grader(policy);
  const Readings found = grader.Read(response);
  const std::string_view text = TrimBlanks(found.text);
  if (text.empty()) return std::nullopt;
  if (found.choice != 0 || !found.words) return std::string(text);
  if (!found.number.empty()) {
    // "Tom wrote: the answer is 2" gives no answer of its own.
    if (IsPhrase(found.doubt, Reading::kAttributes)) return std::nullopt;
    return found.number;
  }
  const std::vector<std::string> said = SaidInWords(text);
  if (!said.empty()) return said.front();
  if (text.size() > kLongestWords ||
      text.find('\n') != std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(text);
}

}  // namespace espalier
