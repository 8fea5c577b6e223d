#include "datasets/answers/reworded.h"

#include <algorithm>
#include <utility>

#include "datasets/answers/find/last_statement.h"
#include "datasets/answers/main_statement.h"
#include "datasets/answers/plain_fact.h"
#include "datasets/answers/reworded_amounts.h"
#include "datasets/answers/reworded_equations.h"
#include "datasets/answers/reworded_names.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/verdict_meant.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/same_names.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/thoughts.h"
#include "datasets/answers/words/times_dates.h"

namespace espalier {
namespace {

constexpr size_t kLongestWorded = 8000;

// "Domain: x != 2"
void AddLabelled(std::string_view text, std::string_view sentence,
                 std::vector<RewordedPair>& out, std::string_view gold) {
  const LabelledPart last = WithoutLeadWords(sentence);
  if (!last.label.empty() && last.said.find_first_of(":?") == kNowhere &&
      IsPhrase(PlainLower(last.label), Reading::kListLabel) &&
      // "2, -3 (only 2 is valid)"
      !Mentions(PlainLower(last.said), Reading::kIs) &&
      Claims(text, sentence, last.said)) {
    out.push_back({std::string(gold), std::string(last.said)});
  }
}

// "Half of the cake is left." as "1/2".
void AddFraction(std::string_view text, std::string_view sentence,
                 std::vector<RewordedPair>& out, std::string_view gold) {
  const std::string lower = PlainLower(sentence);
  const size_t of = lower.find(" of ");
  if (of == kNowhere || of > 30 || !HasDigits(gold) || HasDigits(lower) ||
      lower.find(" of ", of + 1) != kNowhere || !SaysPlainly(sentence) ||
      sentence.size() + 8 < text.size()) {
    return;
  }
  // "two thirds of twelve" is a product.
  const std::string_view whole = std::string_view(lower).substr(of + 4);
  if ((BeginsIn(whole, Reading::kArticle) == 0 &&
       BeginsIn(whole, Reading::kOwner) == 0) ||
      std::count(whole.begin(), whole.end(), ' ') < 2 ||
      whole.find(',') != kNowhere || whole.find(" and ") != kNowhere) {
    return;
  }
  std::string front = lower.substr(0, of);
  std::replace(front.begin(), front.end(), '-', ' ');
  const std::string number = NumberInWords(front);
  if (number.find('/') != std::string::npos) {
    out.push_back({std::string(gold), number});
  }
}

// "{x : x > 2}" and "<3, 4>" with the signs that LaTeX has for these.
void AddBrackets(std::string_view text, std::vector<RewordedPair>& out,
                 std::string_view gold) {
  constexpr size_t kLongest = 200;
  if (text.size() > kLongest) return;
  std::string said(text);
  if (const size_t colon = said.find(" : ");
      said.starts_with("{") && colon != std::string::npos) {
    said.replace(colon, 3, " | ");
    for (const std::string_view real : {" \u2208 \u211d", "\u2208\u211d"}) {
      const size_t at = said.find(real);
      if (at < colon) said.erase(at, real.size());
    }
    out.push_back({std::string(gold), said});
    return;
  }
  const size_t open = said.find('<'), close = said.rfind('>');
  const bool vector =
      open != std::string::npos && close == said.size() - 1 &&
      std::string_view(said).substr(open, close - open).find(',') != kNowhere &&
      said.find('<', open + 1) == std::string::npos &&
      said.find('>') == close && gold.find("langle") != kNowhere;
  if (!vector) return;
  said.replace(close, 1, "\\rangle");
  said.replace(open, 1, "\\langle ");
  out.push_back({std::string(gold), said});
}

// Whether it is a known unit, also of temperature.
bool IsUnit(std::string_view unit) {
  constexpr std::string_view kDegree = "\u00b0";
  if (unit.starts_with(kDegree)) {
    return unit == "\u00b0C" || unit == "\u00b0F";
  }
  return ReadUnit(" " + std::string(unit)).known;
}

// "20 \u00b0C = 293 K": the last side of two amounts with units.
void AddConverted(std::string_view text, std::string_view sentence,
                  std::vector<RewordedPair>& out, std::string_view gold) {
  const size_t equal = sentence.find(" = ");
  if (equal == kNowhere || !HasDigits(gold)) return;
  const std::string_view left = TrimBlanks(sentence.substr(0, equal)),
                         right = TrimBlanks(sentence.substr(equal + 3));
  const auto amount = [](std::string_view side) {
    const size_t end = side.find_first_not_of("0123456789.,-");
    if (end == kNowhere || end == 0 || side.size() > 24) return false;
    const std::string_view unit = TrimBlanks(side.substr(end));
    return unit.find_first_of("0123456789=+*(") == kNowhere && IsUnit(unit);
  };
  // "F = ma = 20 kg m/s^2"
  const size_t last = right.rfind(" = ");
  const std::string_view value =
      last == kNowhere ? right : TrimBlanks(right.substr(last + 3));
  const bool formula = last != kNowhere && left.size() < 4 &&
                       HasLetters(left) && !HasDigits(left) &&
                       !HasDigits(right.substr(0, last)) && last < 20 &&
                       amount(value);
  const bool both = amount(left) && amount(right);
  if ((!formula && !both) || !Claims(text, sentence, value)) return;
  out.push_back({std::string(gold), std::string(value)});
}

// "Nitrogen boils at -196 \u00b0C (77 K)", "3 field goals (22, 34 and 41
// yards)": the amount in front without the bracket behind it.
void AddWithoutBracket(std::string_view text, std::string_view sentence,
                       std::vector<RewordedPair>& out, std::string_view gold) {
  const size_t open = sentence.rfind(" (");
  if (open == kNowhere || !sentence.ends_with(")") || !HasDigits(gold)) return;
  const std::string_view inside =
      sentence.substr(open + 2, sentence.size() - open - 3);
  const std::string_view front = sentence.substr(0, open);
  const size_t digits = inside.find_first_not_of("0123456789.,-");
  const bool amount = !inside.empty() &&
                      (Digit(inside[0]) || inside[0] == '-') &&
                      digits != kNowhere && !HasDigits(inside.substr(digits)) &&
                      IsUnit(TrimBlanks(inside.substr(digits))) &&
                      IsUnit(front.substr(front.rfind(' ') + 1));
  const bool list = inside.find(", ") != kNowhere && HasDigits(inside) &&
                    Digit(front[0]) &&
                    !HasDigits(front.substr(std::min(
                        front.find_first_not_of("0123456789"), front.size())));
  if ((!amount && !list) || !Claims(text, sentence, front)) return;
  out.push_back({std::string(gold), std::string(front)});
}

// "J. K. Rowling" as "JK Rowling".
std::string WithInitialsJoined(std::string_view name) {
  constexpr size_t kLongestNamed = 600;
  std::string out;
  if (name.size() > kLongestNamed) return std::string(name);
  for (size_t at = 0; at < name.size(); ++at) {
    const bool initial = name[at] == '.' && at > 0 && name[at - 1] >= 'A' &&
                         name[at - 1] <= 'Z' &&
                         (at == 1 || !Letter(name[at - 2]));
    if (!initial) {
      out += name[at];
      continue;
    }
    // A blank up to the next initial.
    if (at + 3 < name.size() && name[at + 1] == ' ' && name[at + 3] == '.') {
      ++at;
    }
  }
  return out;
}

// "12.5% of the residents were under 18": the share.
void AddShare(std::string_view text, std::string_view sentence,
              std::vector<RewordedPair>& out, std::string_view gold) {
  const size_t percent = sentence.find('%');
  if (percent == kNowhere || percent > 8 || !HasDigits(gold)) return;
  // "45% were Catholic"
  const std::string tail = PlainLower(sentence.substr(percent + 1));
  if (tail.starts_with(" ") && !HasDigits(tail) && SaysPlainly(sentence) &&
      BeginsIn(std::string_view(tail).substr(1), Reading::kIs) > 0 &&
      sentence.size() + 8 >= text.size() &&
      sentence.find_first_not_of("0123456789.") == percent) {
    out.push_back(
        {std::string(gold), std::string(sentence.substr(0, percent + 1))});
    return;
  }
  if (!sentence.substr(percent + 1).starts_with(" of ") ||
      sentence.substr(0, percent).find_first_not_of("0123456789.") !=
          kNowhere) {
    return;
  }
  // The other number is a bound.
  const std::string_view rest = sentence.substr(percent + 1);
  const size_t number = rest.find_first_of("0123456789");
  if (number == kNowhere ||
      EndsIn(TrimBlanks(PlainLower(rest.substr(0, number))),
             Reading::kAgeLimit) == 0 ||
      HasDigits(
          rest.substr(rest.find_first_not_of("0123456789", number) == kNowhere
                          ? rest.size()
                          : rest.find_first_not_of("0123456789", number)))) {
    return;
  }
  const std::string_view share = sentence.substr(0, percent + 1);
  if (!SaysPlainly(sentence) || sentence.size() + 8 < text.size()) return;
  out.push_back({std::string(gold), std::string(share)});
}

// "1:15 PM + 2 h 30 min = 3:45 PM"
void AddTime(std::string_view text, std::string_view sentence,
             std::vector<RewordedPair>& out, std::string_view gold) {
  if (TimeOfDay(gold).empty()) return;
  // "Arrival: 10:30 in the morning"
  const LabelledPart labelled = WithoutLeadWords(sentence);
  if (!labelled.label.empty() && !TimeOfDay(labelled.said).empty() &&
      Claims(text, sentence, labelled.said)) {
    out.push_back({std::string(gold), std::string(labelled.said)});
  }
  const size_t equal = sentence.rfind('=');
  if (equal == kNowhere) return;
  const std::string_view right = TrimBlanks(sentence.substr(equal + 1));
  if (TimeOfDay(right).empty() || sentence.find(':') > equal ||
      !Claims(text, sentence, right)) {
    return;
  }
  out.push_back({std::string(gold), std::string(right)});
}

// "dropped by 25%, from $40 to $30": without the two amounts.
void AddChange(std::string_view text, std::string_view sentence,
               std::vector<RewordedPair>& out, std::string_view gold) {
  const size_t comma = sentence.rfind(", from ");
  if (comma == kNowhere || !HasDigits(gold)) return;
  const std::string_view tail = sentence.substr(comma + 7);
  const size_t to = tail.find(" to ");
  if (to == kNowhere || tail.find_first_of(",;=") != kNowhere ||
      !HasDigits(tail.substr(0, to)) || !HasDigits(tail.substr(to)) ||
      !HasDigits(sentence.substr(0, comma)) ||
      std::count(tail.begin(), tail.end(), ' ') > 6) {
    return;
  }
  const std::string_view front = sentence.substr(0, comma);
  if (!Claims(text, sentence, front)) return;
  out.push_back({std::string(gold), std::string(front)});
}

// "2.5 moles of CO2" as "2.5 moles".
void AddAmountOf(std::string_view text, std::string_view sentence,
                 std::vector<RewordedPair>& out, std::string_view gold) {
  if (!HasDigits(gold) || !HasLetters(gold)) return;
  const size_t blank = sentence.rfind(' ');
  if (blank == kNowhere || !IsFormulaSign(sentence.substr(blank + 1))) return;
  std::string_view front = TrimBlanks(sentence.substr(0, blank));
  if (front.ends_with(" of"))
    front = TrimBlanks(front.substr(0, front.size() - 3));
  const size_t unit = front.rfind(' ');
  if (unit == kNowhere || unit == 0 || !Digit(front[unit - 1]) ||
      !ReadUnit(" " + std::string(front.substr(unit + 1))).known ||
      !Claims(text, sentence, front)) {
    return;
  }
  out.push_back({std::string(gold), std::string(front)});
}

// "H$_2$SO$_4$" as "H_2SO_4": only indexes and charges are formulas.
std::string WithoutIndexDollars(std::string_view text) {
  std::string out;
  bool changed = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const bool index = at > 0 &&
                       (Letter(text[at - 1]) || Digit(text[at - 1]) ||
                        text[at - 1] == ')' || text[at - 1] == '$') &&
                       (rest.starts_with("$_") || rest.starts_with("$^"));
    const size_t close = index ? rest.substr(0, 10).find('$', 2) : kNowhere;
    if (close == kNowhere) {
      out += text[at];
      continue;
    }
    out += rest.substr(1, close - 1);
    at += close;
    changed = true;
  }
  return changed ? out : std::string();
}

// "0.1 M" as "0.1 mol/L", if the answer is in this unit.
void AddMolar(std::string_view gold, std::string_view answer,
              std::vector<RewordedPair>& out) {
  constexpr std::string_view kMolar = " M";
  gold = TrimBlanks(gold);
  std::string_view number = gold;
  for (const std::string_view unit :
       {"\\text{ M}", "\\,\\text{M}", "\\text{M}", " \\text{ M}",
        "\\ \\text{M}", "\\mathrm{M}", "~\\text{M}"}) {
    if (number.ends_with(unit)) {
      number = TrimBlanks(number.substr(0, number.size() - unit.size()));
    }
  }
  if (number.ends_with(kMolar)) number.remove_suffix(kMolar.size());
  number = TrimBlanks(number);
  if (number.size() == gold.size() || number.empty() ||
      number.find_first_not_of("0123456789.") != kNowhere) {
    return;
  }
  for (const std::string_view unit : Phrases(Reading::kMolarUnit)) {
    if (Lower(answer).find(unit) == std::string::npos) continue;
    out.push_back({std::string(number) + " mol/L", std::string(answer)});
    return;
  }
}

// Whether a text states gold as a fact, by whichever of its names, at its end
// or in a first sentence that the others leave as it is.
bool SaysFact(std::string_view gold, std::string_view text) {
  const std::string full = WithShortNamesInFull(gold, gold);
  const std::string named =
      WithShortNamesInFull(gold, WithPersonAs(full, text));
  const bool initials =
      full.find(". ") != kNowhere || text.find("U.S.") != kNowhere;
  const std::string name = initials ? WithInitialsJoined(full) : full;
  const std::string said =
      initials ? WithInitialsJoined(named) : std::string(named);
  return StatesFact(name, said) || StatesFact(name, MainStatement(said));
}

}  // namespace

std::vector<RewordedPair> Reworded(std::string_view gold,
                                   std::string_view answer) {
  constexpr size_t kLongestGold = 300;
  std::vector<RewordedPair> out;
  gold = TrimBlanks(gold);
  // Thoughts that never end hold no answer.
  if (gold.empty() || gold.size() > kLongestGold ||
      answer.size() > kLongestWorded ||
      WithoutThoughts(answer).size() != answer.size()) {
    return out;
  }
  const std::string plain = WithPlainSigns(TrimBlanks(answer));
  const std::string_view text = plain;
  if (text.empty()) return out;
  // "**Answer:** Yes" and a check mark
  if (static_cast<unsigned char>(text.back()) >= 0x80) {
    const std::string_view bare = WithoutLastMarks(text);
    if (!bare.empty() && bare.size() + 2 < text.size()) {
      out.push_back({std::string(gold), std::string(bare)});
    }
  }
  if (IsPhrase(Lower(gold), Reading::kVerdict)) {
    std::string_view verdict = VerdictAlone(gold, text);
    if (verdict.empty()) verdict = VerdictMeant(text);
    if (!verdict.empty()) {
      out.push_back({std::string(gold), std::string(verdict)});
    }
    return out;
  }
  if (std::string formula = WithoutIndexDollars(text); !formula.empty()) {
    out.push_back({std::string(gold), std::move(formula)});
  }
  AddMolar(gold, answer, out);
  for (RewordedPair& pair : RewordedCases(gold, text)) {
    out.push_back(std::move(pair));
  }
  AddBrackets(text, out, gold);
  // "JK Rowling" for "J. K. Rowling"
  if (const std::string name = WithInitialsJoined(gold);
      name != gold || WithInitialsJoined(text) != text) {
    if (name == WithInitialsJoined(text)) {
      out.push_back({std::string(gold), std::string(gold)});
    }
  }
  if (SaysFact(gold, text)) {
    out.push_back({std::string(gold), std::string(gold)});
  }
  for (RewordedPair& pair : RewordedAmounts(gold, text)) {
    out.push_back(std::move(pair));
  }
  // Also without the checks at the end.
  const std::string_view front = WithoutChecks(text);
  for (const std::string_view said : {text, front}) {
    if (said.size() == text.size() && said.data() != text.data()) continue;
    const std::string_view sentence = LastStatementOf(said);
    if (sentence.size() > kLongestLast) continue;
    for (RewordedPair& pair : RewordedEquations(gold, text, sentence)) {
      out.push_back(std::move(pair));
    }
    AddTime(text, sentence, out, gold);
    AddChange(text, sentence, out, gold);
    AddLabelled(text, sentence, out, gold);
    AddFraction(text, sentence, out, gold);
    AddConverted(text, sentence, out, gold);
    AddWithoutBracket(text, sentence, out, gold);
    AddShare(text, sentence, out, gold);
    for (std::string& said : RewordedNames(text, sentence, gold)) {
      out.push_back({std::string(gold), std::move(said)});
    }
    AddAmountOf(text, sentence, out, gold);
    if (front.size() == text.size()) break;
  }
  return out;
}

}  // namespace espalier
