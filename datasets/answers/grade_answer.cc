#include "datasets/answers/grade_answer.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "datasets/answers/chemical_formula.h"
#include "datasets/answers/era_year.h"
#include "datasets/answers/find/bold_answer.h"
#include "datasets/answers/find/extract_answer.h"
#include "datasets/answers/find/later_answer.h"
#include "datasets/answers/find/readings.h"
#include "datasets/answers/find/rejected.h"
#include "datasets/answers/find/related.h"
#include "datasets/answers/find/restated.h"
#include "datasets/answers/find/sentence.h"
#include "datasets/answers/grader.h"
#include "datasets/answers/last_claim.h"
#include "datasets/answers/main_statement.h"
#include "datasets/answers/only_mentioned.h"
#include "datasets/answers/other_meaning.h"
#include "datasets/answers/reworded.h"
#include "datasets/answers/value/answer.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/decimals.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/thoughts.h"
#include "datasets/answers/words/times_dates.h"
#include "datasets/answers/written_alike.h"
#include "datasets/answers/written_form.h"

namespace espalier {
namespace {

// The verdict on gold and a part of a response, if it is equal and sure.
std::optional<GradeVerdict> EqualPart(Grader& grader, const Readings& gold,
                                      std::string_view part) {
  if (part.empty()) return std::nullopt;
  const Readings named = grader.Read(part);
  if (named.unsure || !named.doubt.empty()) return std::nullopt;
  const auto unit = grader.WithUnitBeside(named, part, gold);
  GradeVerdict said = grader.Compare(gold, unit ? *unit : named);
  if (!said.equal || !OnlyRelated(gold.text, part).empty()) return std::nullopt;
  return said;
}

// The verdict on gold and a name, if it is gold or gold but for a word for its
// kind.
std::optional<GradeVerdict> CompareName(const Readings& gold,
                                        std::string_view name) {
  switch (SameButKind(gold.text, name)) {
    case Alike::kSame:
      return GradeVerdict::Equal("both name " + gold.text);
    case Alike::kMaybe:
      return GradeVerdict::Undecided("\"" + std::string(name) +
                                     "\" may be another thing than \"" +
                                     gold.text + "\"");
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
  for (const std::string& part : LastClaims(answer)) {
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
    const GradeVerdict said = grader.Compare(grader.Read(part), b);
    if (said.equal) {
      return GradeVerdict::Undecided("read in one way, " + said.reason);
    }
  }
  for (const std::string_view part :
       {WithoutApposition(gold), ConclusionAbout(b.text, gold)}) {
    if (part.empty() || answer.find(',') != kNowhere) continue;
    const GradeVerdict said = grader.Compare(grader.Read(part), b);
    if (said.equal) {
      return GradeVerdict::Undecided("read in one way, " + said.reason);
    }
  }
  return std::nullopt;
}
GradeVerdict GradeAsWritten(std::string_view gold, std::string_view answer,
                            const GradePolicy& policy) {
  if (TrimBlanks(gold).empty()) return GradeVerdict::Different("gold is blank");
  if (TrimBlanks(answer).empty()) {
    return GradeVerdict::Different("the answer is blank");
  }
  if (TrimBlanks(gold) == TrimBlanks(answer)) {
    return GradeVerdict::Equal("both are written the same way");
  }
  if (const auto same =
          policy.extract ? SameYear(gold, answer) : std::optional<bool>()) {
    return *same ? GradeVerdict::Equal("both are the same year")
                 : GradeVerdict::Different("the years are in different eras");
  }
  Grader grader(policy);
  const Readings a = grader.Read(gold);
  const Readings b = grader.Read(answer);
  if (TrimBlanks(a.text).empty()) {
    return GradeVerdict::Different("gold holds no answer");
  }
  if (TrimBlanks(b.text).empty())
    return GradeVerdict::Different("the text holds no answer");
  GradeVerdict verdict = grader.Compare(a, b);
  // "20 km/h" and "so it is \\boxed{20} m/s"
  if (const auto with = grader.WithUnitBeside(b, answer, a)) {
    verdict = grader.Compare(a, *with);
  } else if (const auto gold_with = grader.WithUnitBeside(a, gold, b)) {
    verdict = grader.Compare(*gold_with, b);
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
      verdict = grader.Compare(a, *with);
    }
  }
  if (verdict.equal && DottedGroups(a.text) != DottedGroups(b.text)) {
    return GradeVerdict::Undecided("points may not separate thousands");
  }
  if (verdict.equal && (a.unsure || (b.unsure && !settled))) {
    return GradeVerdict::Undecided(absl::StrCat(
        a.unsure ? "gold" : "the answer",
        " is not stated for certain; read as if, ", verdict.reason));
  }
  const bool said = answer.find(TrimBlanks(a.text)) != kNowhere;
  if ((verdict.equal || said) && a.text.find(':') != kNowhere &&
      answer.find(':') != kNowhere && EndsInOtherTime(answer)) {
    return GradeVerdict::Undecided(
        "another time may be the answer; without that, " + verdict.reason);
  }
  if (verdict.equal) {
    if (auto other =
            OtherMeaning(gold, answer, a, b, verdict.reason, policy, settled)) {
      return *std::move(other);
    }
  }
  if (verdict.equal && policy.extract && EndsInOther(answer, a.text)) {
    return GradeVerdict::Undecided(
        "the answer ends in another number; without that, " + verdict.reason);
  }
  // Words that gold has as well change nothing.
  // "2 hours and 15 minutes" is one amount.
  const bool one = b.doubt == "and" && WritesUnit(b) && !UnitOf(b).empty();
  // "She arrived at 10:30" came to no number.
  const bool clock =
      IsPhrase(b.doubt, Reading::kArrives) && !TimeOfDay(a.text).empty();
  if (verdict.equal && !b.doubt.empty() && !one && !clock && !settled &&
      Lower(gold).find(b.doubt) == std::string::npos) {
    return GradeVerdict::Undecided(absl::StrCat("the answer is not claimed (\"",
                                                b.doubt, "\"); read as if, ",
                                                verdict.reason));
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
        return GradeVerdict::Undecided("read in one way, " + alike.reason);
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
      return GradeVerdict::Undecided("read in one way, " + said.reason);
    }
  }
  return verdict;
}

// Also without openings that are only said to the reader.
GradeVerdict GradeClaims(std::string_view gold, std::string_view answer,
                         const GradePolicy& policy, int openings = 2) {
  if (const auto same = SameChemistry(gold, answer)) {
    return *same ? GradeVerdict::Equal("both are the same formula of chemistry")
                 : GradeVerdict::Different("the formulas of chemistry differ");
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

// What is read of a text of any length: one byte more than is searched for an
// answer, which shows that it was longer.
std::string_view PartRead(std::string_view text) {
  constexpr size_t kLongestRead = kLongestResponse + 1;
  if (text.size() <= kLongestRead) return text;
  return EndOfResponse(WithoutThoughts(text), kLongestRead);
}

// The letter of a gold answer "C. Jainism"; 0 if it is none, or nothing more.
char LabelledLetter(std::string_view gold) {
  gold = TrimBlanks(gold);
  if (gold.starts_with("(")) gold.remove_prefix(1);
  const bool labelled = gold.size() > 3 && gold[0] >= 'A' && gold[0] <= 'J' &&
                        (gold[1] == '.' || gold[1] == ')' || gold[1] == ':') &&
                        Blank(gold[2]);
  if (!labelled) return '\0';
  // "A) and (C)", "(A) is the correct option"
  const std::string lower = PlainLower(TrimBlanks(gold.substr(2)));
  bool choice = false;
  for (size_t at = 0; at + 2 < lower.size(); ++at) {
    choice |= lower[at] == '(' && Letter(lower[at + 1]) && lower[at + 2] == ')';
  }
  const bool goes_on = choice || BeginsIn(lower, Reading::kConjunction) > 0 ||
                       lower.starts_with("and ") || lower.starts_with("or ") ||
                       BeginsIn(lower, Reading::kIs) > 0;
  return HasLetters(lower) && !goes_on ? gold[0] : '\0';
}

// "C is correct." for gold "C. Jainism"; not "C. Buddhism".
std::optional<GradeVerdict> GradeByLetter(std::string_view gold,
                                          std::string_view answer,
                                          const GradePolicy& policy) {
  const char letter = LabelledLetter(gold);
  if (letter == '\0') return std::nullopt;
  const std::string_view option =
      TrimBlanks(gold.substr(gold.find(letter) + 2));
  const std::string name = FoldWords(option);
  // Another text behind the letter.
  for (size_t at = answer.find(letter); at != kNowhere;
       at = answer.find(letter, at + 1)) {
    const std::string_view rest = answer.substr(at + 1);
    // "Vitamin B is correct" names a thing, not an option.
    std::string_view front = answer.substr(0, at);
    while (!front.empty() &&
           std::string_view(" *_($").find(front.back()) != kNowhere) {
      front.remove_suffix(1);
    }
    const std::string lead = PlainLower(front);
    const bool word = at > 0 && !Letter(answer[at - 1]) && !lead.empty() &&
                      Letter(lead.back());
    const bool leads =
        EndsIn(lead, Reading::kChoice) > 0 ||
        EndsIn(lead, Reading::kOption) > 0 || EndsIn(lead, Reading::kIs) > 0 ||
        EndsIn(lead, Reading::kSo) > 0 ||
        EndsIn(lead, Reading::kTherefore) > 0 || lead.ends_with("answer");
    const bool alone = rest.empty() || !Letter(rest[0]);
    if (word && alone && !leads) return std::nullopt;
    const bool label = (at == 0 || !Letter(answer[at - 1])) &&
                       rest.size() > 2 &&
                       std::string_view(".):").find(rest[0]) != kNowhere &&
                       Blank(rest[1]) && Letter(rest[2]);
    if (label &&
        !FoldWords(rest.substr(1, 2 * option.size() + 8)).starts_with(name)) {
      return std::nullopt;
    }
  }
  GradeVerdict verdict = GradeClaims(std::string(1, letter), answer, policy);
  return verdict.equal ? std::optional(std::move(verdict)) : std::nullopt;
}

}  // namespace

GradeVerdict GradeAnswer(std::string_view gold, std::string_view answer,
                         const GradePolicy& policy) {
  if (policy.extract && gold != answer) {
    gold = PartRead(gold);
    answer = PartRead(answer);
  }
  std::string kept, kept_gold;
  if (policy.extract && gold != answer) {
    kept = WithoutRejected(answer);
    kept_gold = WithoutRejected(gold);
    // What both leave out may be what they are compared by.
    if (kept_gold.empty() && !kept.empty()) answer = kept;
    if (kept.empty() && !kept_gold.empty()) gold = kept_gold;
  }
  GradeVerdict verdict = GradeClaims(gold, answer, policy);
  if (!policy.extract || gold == answer) return verdict;
  if (!verdict.equal) {
    if (auto by_letter = GradeByLetter(gold, answer, policy)) {
      return *std::move(by_letter);
    }
  }
  // A sentence as gold may be read in more ways than one.
  if (!verdict.equal && !verdict.undecided && gold.size() + 4 > answer.size() &&
      gold.size() <= 400 && GradeClaims(answer, gold, policy).equal) {
    return GradeVerdict::Undecided("read in one way, both say the same");
  }
  // What the exchange of the sides would find by the letter of an option.
  if (!verdict.equal && !verdict.undecided &&
      GradeByLetter(answer, gold, policy)) {
    return GradeVerdict::Undecided("read in one way, both are the same choice");
  }
  if (verdict.equal && AnswersParts(answer) &&
      gold.find_first_of(",;\n") == kNowhere && gold.find("b)") == kNowhere) {
    return GradeVerdict::Undecided(
        "the answer has several parts, and gold is one of them");
  }
  const std::string other =
      verdict.equal ? OnlyMentioned(gold, answer) : std::string();
  if (other.empty()) return verdict;
  return GradeVerdict::Undecided(
      absl::StrCat("\"", other, "\" may make another answer of it",
                   "; without that, ", verdict.reason));
}

GradeVerdict GradeAgainstAny(const std::vector<std::string>& golds,
                             std::string_view answer,
                             const GradePolicy& policy) {
  if (golds.empty()) return GradeVerdict::Different("gold is blank");
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
  response = PartRead(WithoutThoughts(response));
  const std::string kept = WithoutRejected(response);
  const Readings found = grader.Read(kept.empty() ? response : kept);
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
