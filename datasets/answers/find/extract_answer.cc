#include "datasets/answers/find/extract_answer.h"

#include <algorithm>
#include <vector>

#include "datasets/answers/find/answer_spans.h"
#include "datasets/answers/find/bold_answer.h"
#include "datasets/answers/find/claimed_boxes.h"
#include "datasets/answers/find/introduced.h"
#include "datasets/answers/find/later_answer.h"
#include "datasets/answers/find/lead_words.h"
#include "datasets/answers/find/plain_value.h"
#include "datasets/answers/find/readings.h"
#include "datasets/answers/find/stated_number.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/choice.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/number_place.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/thoughts.h"

namespace espalier {
namespace {

// Precedes an answer in GSM8K.
constexpr std::string_view kMark = "####";
// Longest answer of formulas and words that is not treated as a response.
constexpr size_t kLongestLine = 200;
// Behind "the answer is".
constexpr size_t kLongestAnswer = 20000;

// Behind a formula: "%", "pct" or a word for a unit, up to the full stop.
std::string UnitBehind(std::string_view text) {
  const size_t end = std::min(text.find_first_of(".,;\n$\\"), text.size());
  const std::string_view words = TrimBlanks(text.substr(0, end));
  const std::string lower = Lower(words);
  if (words.starts_with("%")) return "%";
  return StartsWith(lower, Reading::kPercent) > 0 ? " percent" : "";
}

// "x", "f", "\\triangle ABC": names things and states nothing about them.
bool OnlyName(std::string_view formula) {
  formula = TrimBlanks(formula);
  const bool sign = formula.find_first_of("=<>+*/(0123456789") != kNowhere;
  return !sign && formula.size() < 20;
}

// Whether a verb or its own "=" says that a formula is the answer.
bool IsStated(std::string_view lead, std::string_view formula) {
  const std::string words = PlainLower(WithoutMarks(lead));
  return EndsIn(words, Reading::kStates) > 0 || formula.find('=') != kNowhere ||
         words.empty() || words.ends_with(":");
}

// "| is the largest": whether the words behind a formula single it out.
bool IsTheMost(std::string_view behind) {
  const std::string lower = PlainLower(behind.substr(0, 60));
  constexpr std::string_view kIsThe = " is the ";
  if (!lower.starts_with(kIsThe)) return false;
  const std::string_view rest = std::string_view(lower).substr(kIsThe.size());
  const std::string_view word = rest.substr(0, rest.find_first_of(" ,."));
  return (word.size() > 4 && word.ends_with("est")) ||
         IsPhrase(word, Reading::kMost);
}

// "\\frac{240}{60} = 4", "d = 3 + 4 = 7": computed from numbers only.
bool IsWorkedOut(std::string_view formula) {
  const size_t equal = formula.rfind('=');
  if (equal == kNowhere) return false;
  const size_t before = formula.substr(0, equal).rfind('=');
  const size_t start = before == kNowhere ? 0 : before + 1;
  const std::string_view left = formula.substr(start, equal - start);
  bool digits = false, sign = false, command = false;
  for (const char c : left) {
    if (Letter(c) && !command) return false;
    command = c == '\\' || (command && Letter(c));
    digits |= Digit(c);
    sign |= std::string_view("+-*/^\\!(").find(c) != kNowhere;
  }
  return digits && sign;
}

// "is $7$, attained at $x = 2$": the number of formulas left once those that
// only explain the answer are dropped.
size_t WithoutExplanation(std::string_view text,
                          const std::vector<Span>& formulas) {
  size_t left = formulas.size();
  for (size_t i = left - 1; i > 0; --i) {
    const size_t from = formulas[i - 1].outer_end;
    const std::string between =
        PlainLower(text.substr(from, formulas[i].outer_start - from));
    if (between.size() > 80 || SentenceLength(between) < between.size()) break;
    const std::string_view words = TrimBlanks(WithoutMarks(between));
    const size_t word = words.find_first_not_of(",;( ");
    if (word == kNowhere) {
      if (left < formulas.size()) break;
      continue;
    }
    // "are $6$ possible values of $x$"
    if (OnlyName(text.substr(formulas[i].start,
                             formulas[i].end - formulas[i].start)) &&
        words.ends_with(" of") && words.find(',') == kNowhere &&
        EndsIn(words, Reading::kModifies) == 0 &&
        !OnlyName(text.substr(formulas[i - 1].start,
                              formulas[i - 1].end - formulas[i - 1].start)) &&
        !Mentions(words, Reading::kCopula)) {
      left = i;
      continue;
    }
    const size_t ends = EndsIn(words, Reading::kExplains);
    const bool stated = EndsIn(words, Reading::kStates) > ends ||
                        EndsIn(TrimBlanks(words.substr(0, words.size() - ends)),
                               Reading::kStates) > 0;
    const bool explains =
        !stated &&
        (ends > 0 || BeginsIn(words.substr(word), Reading::kExplains) > 0);
    if (!explains ||
        IsWorkedOut(text.substr(formulas[i].start,
                                formulas[i].end - formulas[i].start))) {
      break;
    }
    const Span& before = formulas[i - 1];
    const std::string_view formula =
        text.substr(before.start, before.end - before.start);
    if (!OnlyName(formula)) left = i;
  }
  return left;
}

// "$\\frac mn = \\frac1{32}$ and $m+n = 33$": the last equation is the answer
// if it gives the value of a sum or a product of names.
bool LastEquationAlone(std::string_view text,
                       const std::vector<Span>& formulas) {
  const Span& last = formulas.back();
  const std::string_view formula =
      TrimBlanks(text.substr(last.start, last.end - last.start));
  const size_t equal = formula.find('=');
  if (formulas.size() < 2 || equal == kNowhere) return false;
  const std::string_view name = formula.substr(0, equal);
  const std::string_view value = formula.substr(equal + 1);
  // Also directly behind multi-line formulas.
  const Span& before = formulas[formulas.size() - 2];
  const std::string_view between =
      text.substr(before.outer_end, last.outer_start - before.outer_end);
  const bool concludes =
      before.start == before.outer_start &&
      BeginsIn(PlainLower(TrimBlanks(between)), Reading::kTherefore) > 0;
  return name.find_first_of("+*/-^") != kNowhere &&
         std::any_of(name.begin(), name.end(), Letter) &&
         std::none_of(value.begin(), value.end(), Letter) &&
         (concludes || BeginsIn(PlainLower(TrimBlanks(text.substr(SentenceStart(
                                    text.substr(0, last.outer_start))))),
                                Reading::kTherefore) > 0);
}

// Whether the last group is one of several and no verb says that it is the
// answer: "$2$ for even $n$, $3$ for odd $n$".
bool PicksOne(std::string_view text, const std::vector<Span>& formulas) {
  const size_t first = LastGroupStart(text, formulas, JoinsFormulas);
  if (first == 0) return false;
  const std::string_view lead =
      TrimBlanks(text.substr(0, formulas[first].outer_start));
  return EndsIn(lead, Reading::kStates) == 0;
}

std::string FormulaGroup(std::string_view text,
                         const std::vector<Span>& formulas) {
  return LastGroup(text, formulas, JoinsFormulas) +
         UnitBehind(text.substr(formulas.back().outer_end));
}

// "A. $25$": the letter of a choice and the formulas behind it, "(A) 25", if
// nothing but a unit is said about them; else the letter.
std::string ChoiceAndValue(char letter, std::string_view text,
                           std::vector<Span> formulas) {
  const std::string alone(1, letter);
  size_t count = 1;
  while (count < formulas.size() &&
         JoinsFormulas(text.substr(
             formulas[count - 1].outer_end,
             formulas[count].outer_start - formulas[count - 1].outer_end))) {
    ++count;
  }
  formulas.resize(count);
  const std::string_view tail = text.substr(formulas.back().outer_end);
  const std::string unit = UnitBehind(tail);
  std::string_view words = tail.substr(0, tail.find_first_of(".,;\n"));
  while (!words.empty() && (Blank(words[0]) || std::string_view("*_)").find(
                                                   words[0]) != kNowhere)) {
    words.remove_prefix(1);
  }
  words = WithoutMarks(words);
  const bool percent = !unit.empty() && words.size() < 10;
  const bool known = words.empty() || percent || IsUnitWord(words);
  std::string value = LastGroup(text, formulas, JoinsFormulas);
  // "(A) $\\text{(C)}$" is not a value.
  std::string content;
  const bool another = ReadChoice(value, &content) != 0 && content.empty();
  if (!known || another ||
      StanceAt(text, formulas[0].outer_start, formulas.back().outer_end) ==
          Stance::kDenies) {
    return alone;
  }
  value += words.empty() || percent ? unit : " " + std::string(words);
  return "(" + alone + ") " + value;
}

bool BeginsSentence(char c) { return (c >= 'A' && c <= 'Z') || c == '<'; }

// "(For comparison, water has 1 g.)", "(This is about 5 inches.)": whether a
// sentence in brackets begins that leaves the answer in front as it is.
bool IsAside(std::string_view text) {
  constexpr size_t kLongestAside = 300;
  const size_t close = text.substr(0, kLongestAside).find(')');
  if (text[0] != '(' || close == kNowhere) return false;
  const std::string lower = PlainLower(text.substr(1, close - 1));
  if (Mentions(lower, Reading::kWrong) || Mentions(lower, Reading::kDenies) ||
      Mentions(lower, Reading::kDisowns) || Mentions(lower, Reading::kMaybe) ||
      Mentions(lower, Reading::kUnclaims)) {
    return false;
  }
  return BeginsIn(lower, Reading::kChecks) > 0 ||
         (HasDigits(lower) && BeginsIn(lower, Reading::kRephrases) > 0);
}

// What a phrase such as "final answer is" introduces.
std::string AfterPhrase(std::string_view text) {
  // Also the end of "\text{The answer is }".
  const auto skip = [&text] {
    while (!text.empty() && (Blank(text[0]) || std::string_view(":*#=}_").find(
                                                   text[0]) != kNowhere)) {
      text.remove_prefix(1);
    }
    // A full-width colon.
    if (text.starts_with("\uff1a")) text.remove_prefix(3);
  };
  skip();
  while (const size_t word =
             BeginsIn(Lower(text.substr(0, 20)), Reading::kLeadsOn)) {
    text.remove_prefix(word);
    if (text.starts_with(",")) text.remove_prefix(1);
    skip();
  }
  // "is", "becomes" in Chinese.
  for (const std::string_view word : Phrases(Reading::kIsInChinese)) {
    if (!text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    skip();
  }
  // To the end of the line or sentence; formulas are not cut.
  text = text.substr(0, kLongestAnswer);
  const std::vector<Span> formulas = Formulas(text);
  size_t end = text.size(), next = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (next < formulas.size() && formulas[next].outer_start <= at) {
      at = formulas[next++].outer_end - 1;
      continue;
    }
    const bool stop =
        text[at] == '.' && at + 2 < text.size() && Blank(text[at + 1]) &&
        (BeginsSentence(text[at + 2]) || IsAside(text.substr(at + 2)));
    const std::string_view rest = text.substr(at, 3);
    if (text[at] == '\n' || stop || rest.starts_with("<|") ||
        rest.starts_with("</") || rest.starts_with("[/") ||
        text.substr(at).starts_with("\u3002")) {
      end = at;
      break;
    }
  }
  text = text.substr(0, end);
  std::vector<Span> inside;
  for (const Span& f : formulas) {
    if (f.outer_end <= text.size()) inside.push_back(f);
  }
  if (inside.empty()) {
    const std::string words = Lower(text);
    for (const std::string_view reason : Phrases(Reading::kReason)) {
      text = text.substr(0, std::min(words.find(reason), text.size()));
    }
    return std::string(WithoutContrast(text));
  }
  // "option **D**: $x = 4$"
  if (const char letter = LetterAlone(text.substr(0, inside[0].outer_start))) {
    return ChoiceAndValue(letter, text, std::move(inside));
  }
  // "The volume of $ABC$ is 120": take the text behind the verb.
  const std::string_view tail = text.substr(inside.back().outer_end);
  if (std::string said = SaidBehind(tail); !said.empty()) return said;
  // "at most $5$", "the square of $5$": not the formula itself.
  if (StanceBeside(text.substr(0, inside[0].outer_start), tail) ==
      Stance::kDenies) {
    return StripDelimiters(text);
  }
  // The first group of formulas is the answer; the rest explains it.
  size_t last = 0;
  while (last + 1 < inside.size() &&
         JoinsFormulas(text.substr(
             inside[last].outer_end,
             inside[last + 1].outer_start - inside[last].outer_end))) {
    ++last;
  }
  const std::string before = FoldWords(text.substr(0, inside[0].outer_start));
  if (before.find(' ') != kNowhere && inside[0].outer_start > 60) {
    return std::string(text);
  }
  inside.resize(last + 1);
  return FormulaGroup(text, inside);
}

// A line without the delimiters around its formulas.
std::string WithoutDelimiters(std::string_view line,
                              const std::vector<Span>& formulas,
                              std::string_view text) {
  std::string out;
  size_t at = static_cast<size_t>(line.data() - text.data());
  const size_t end = at + line.size();
  for (const Span& f : formulas) {
    out += text.substr(at, f.outer_start - at);
    out += text.substr(f.start, f.end - f.start);
    at = f.outer_end;
  }
  if (at < end) out += text.substr(at, end - at);
  return out;
}

// "$x^2 = 4$, so $x = 2$": the last of the formulas is the answer.
bool Concludes(std::string_view lower) {
  for (const std::string_view word : Phrases(Reading::kConcludes)) {
    if (lower.find(word) != kNowhere) return true;
  }
  return false;
}

// A part of something longer.
Extracted Part(std::string text) {
  Extracted out;
  out.text = std::move(text);
  out.cut = true;
  return out;
}

// Stage 1: in a box.
Extracted InBoxes(std::string_view text, const std::vector<Span>& boxes) {
  const std::string joined = LastGroup(text, boxes, JoinsBoxes);
  // "\boxed{28}$ pct"
  std::string_view behind = text.substr(boxes.back().outer_end);
  while (!behind.empty() &&
         (Blank(behind[0]) || behind[0] == '$' || behind.starts_with("\\)"))) {
    behind.remove_prefix(behind[0] == '\\' ? 2 : 1);
  }
  std::string said = StripDelimiters(WithoutLeadIn(joined));
  // "\boxed{\text{Answer: } 6}"
  const std::string lower = Lower(said);
  const Introduced phrase = LastClaimed(said, lower, Phrases(Reading::kAnswer));
  if (phrase.at != kNowhere) {
    std::string inside = StripDelimiters(
        AfterPhrase(std::string_view(said).substr(phrase.behind)));
    if (!inside.empty()) said = std::move(inside);
  }
  Extracted out = Part(said + UnitBehind(behind));
  const size_t first =
      boxes[LastGroupStart(text, boxes, JoinsBoxes)].outer_start;
  out.place = text.substr(first, boxes.back().outer_end - first);
  out.open = boxes.back().open;
  out.unsure = Retracted(text.substr(boxes.back().outer_end)) ||
               TakenBackLater(text.substr(boxes.back().outer_end), said) ||
               PartOfFormula(text, boxes.back()) ||
               Hedged(text.substr(boxes.back().outer_end));
  return out;
}

// "5!=120" as "5! =120": in a LaTeX formula "!=" is not an operator.
std::string WithFactorials(std::string formula) {
  for (size_t at = 1; (at = formula.find("!=", at)) != std::string::npos;
       ++at) {
    if (Digit(formula[at - 1]) || formula[at - 1] == ')') {
      formula.insert(at + 1, " ");
    }
  }
  return formula;
}

// "The square of $x$ is 8": about more than the formula.
bool OfUnknownFormula(std::string_view text, const Span& formula) {
  if (!OnlyName(text.substr(formula.start, formula.end - formula.start))) {
    return false;
  }
  std::string_view lead = text.substr(0, formula.outer_start);
  lead = TrimBlanks(lead.substr(SentenceStart(lead)));
  std::string words = PlainLower(lead);
  words.erase(0, ClauseStart(words));
  if (words.starts_with("the ")) words.erase(0, 4);
  const size_t part = EndsIn(words, Reading::kModifies);
  return part > 0 && part == words.size();
}

// Behind the last formula: what a sentence states about it, or independently.
std::optional<Extracted> BehindFormulas(std::string_view text, const Span& name,
                                        bool unsure) {
  std::string_view tail = text.substr(name.outer_end);
  // "The value of $x$ is 6."
  if (std::string said = SaidBehind(tail); !said.empty()) {
    Extracted out = Part(std::move(said));
    out.unsure =
        unsure || OfUnknownFormula(text, name) ||
        StanceAt(text, name.outer_start, name.outer_end) != Stance::kStates;
    return out;
  }
  // A last sentence with its own number, after the formulas, concludes.
  if (const size_t stop = SentenceLength(tail); stop < 40) {
    tail = tail.substr(stop);
  }
  const StatedNumber number = FindStatedNumber(tail, false);
  if (number.trust != Trust::kStated || !number.by_verb) return std::nullopt;
  Extracted out = Part(std::string(TrimBlanks(tail)));
  out.unsure = unsure;
  return out;
}

// The first of the last group of formulas that a sentence states.
size_t FirstStated(std::string_view text, const std::vector<Span>& formulas) {
  size_t first = LastGroupStart(text, formulas, JoinsFormulas);
  // "Since $a = b,$ $c = d$" states the last one.
  const std::string opening =
      PlainLower(WithoutMarks(text.substr(0, formulas[first].outer_start)));
  for (const std::string_view word : Phrases(Reading::kGiven)) {
    const bool whole = opening.size() == word.size() ||
                       (opening.size() > word.size() &&
                        !Letter(opening[opening.size() - word.size() - 1]));
    // "when $x < -2$ or $x > 2$" states both.
    const bool either =
        first + 1 < formulas.size() &&
        FoldWords(text.substr(formulas[first].outer_end,
                              formulas[first + 1].outer_start -
                                  formulas[first].outer_end)) == "or";
    if (opening.ends_with(word) && whole && !either &&
        first + 1 < formulas.size()) {
      first = formulas.size() - 1;
    }
  }
  return SolvesOthers(text, formulas, first) ? formulas.size() - 1 : first;
}

// Stage 3: in the last formula.
Extracted InFormulas(std::string_view text, std::vector<Span> formulas,
                     const Introduced& phrase) {
  if (auto behind = BehindFormulas(text, formulas.back(), phrase.unsure)) {
    return *std::move(behind);
  }
  const size_t all = formulas.size();
  formulas.resize(WithoutExplanation(text, formulas));
  const bool explained = formulas.size() < all;
  size_t first = FirstStated(text, formulas);
  const bool value = LastEquationAlone(text, formulas);
  if (value) first = formulas.size() - 1;
  const std::string_view lead = text.substr(0, formulas[first].outer_start);
  const Span& last = formulas.back();
  const bool result =
      IsWorkedOut(text.substr(last.start, last.end - last.start));
  Stance beside = result ? Stance::kStates
                         : StanceBeside(lead, text.substr(last.outer_end));
  // "non-negative, or $x \\ge 0$": either a restatement in symbols, or another
  // answer.
  const std::string_view words = WithoutMarks(lead);
  const bool solves = SolvesOthers(
      text, formulas, LastGroupStart(text, formulas, JoinsFormulas));
  // "has the equation $2x - y = 0$": no label.
  const std::string labelled = PlainLower(words);
  if (const size_t label = EndsIn(labelled, Reading::kLabels);
      beside == Stance::kDenies && label > 0 &&
      Mentions(labelled.substr(labelled.size() - label), Reading::kFigure) &&
      text.substr(last.start, last.end - last.start).find('=') != kNowhere) {
    beside = StanceBeside(labelled.substr(0, labelled.size() - label),
                          text.substr(last.outer_end));
  }
  if (beside == Stance::kDenies && words.ends_with(" or")) {
    beside = Stance::kOpen;
  }
  if (beside == Stance::kOpen && solves) beside = Stance::kStates;
  const size_t from = formulas[first].outer_start, to = last.outer_end;
  const Stance stance =
      result ? StanceOfResult(text, from, to) : StanceAt(text, from, to);
  if (stance == Stance::kDenies || beside == Stance::kDenies) {
    Extracted out;
    out.text = StripDelimiters(text);
    out.denied = true;
    return out;
  }
  const bool whole =
      all == 1 && formulas[0].outer_end - formulas[0].outer_start + 1 >=
                      TrimBlanks(text).size();
  Extracted out;
  if (first == formulas.size() - 1) {
    std::string_view only = text.substr(last.start, last.end - last.start);
    if (value) only.remove_prefix(only.find('=') + 1);
    out = Part(WithFactorials(StripDelimiters(LastRow(only))) +
               UnitBehind(text.substr(last.outer_end)));
  } else {
    out = Part(StripDelimiters(FormulaGroup(text, formulas)));
  }
  out.cut = !whole;
  out.place = text.substr(from, to - from);
  if (TrimBlanks(lead).ends_with(":")) {
    const StatedNumber counted = FindStatedNumber(
        lead.substr(lead.size() - std::min<size_t>(lead.size(), 200)), false);
    if (counted.trust == Trust::kStated) out.count = counted.text;
  }
  out.picked = PicksOne(text, formulas);
  const std::string_view formula =
      text.substr(formulas[first].start, last.end - formulas[first].start);
  // "The square of $x$ is $8$"
  const bool another = first > 0 &&
                       EndsIn(PlainLower(words), Reading::kCopula) > 0 &&
                       SentenceStart(lead) <= formulas[first - 1].outer_start &&
                       OfUnknownFormula(text, formulas[first - 1]);
  const bool doubted =
      another || phrase.Doubts(formulas[first].outer_start) ||
      (phrase.unsure && EndsIn(PlainLower(words), Reading::kStates) == 0);
  out.unsure = doubted || stance == Stance::kOpen ||
               TakenBackLater(text.substr(last.outer_end), formula) ||
               (beside == Stance::kOpen && !value) ||
               (explained && !IsStated(lead, formula) &&
                !IsTheMost(text.substr(last.outer_end)));
  const std::string lower = Lower(text);
  const bool remarked = explained || !JoinedByWords(text, formulas);
  if (!whole && text.size() <= kLongestLine && !Concludes(lower) && !remarked &&
      formulas[0].outer_start ==
          static_cast<size_t>(TrimBlanks(text).data() - text.data())) {
    out.line = WithoutDelimiters(TrimBlanks(text), Formulas(text), text);
  }
  return out;
}

}  // namespace

std::string_view EndOfResponse(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  std::string_view end = text.substr(text.size() - most);
  // Do not cut a UTF-8 character in half.
  while (!end.empty() && (end[0] & 0xc0) == 0x80) end.remove_prefix(1);
  const size_t box = text.rfind("\\boxed");
  if (box == kNowhere || box >= text.size() - most) return end;
  return text.substr(box, most);
}

Extracted ExtractAnswer(std::string_view response) {
  const std::string_view said = WithoutThoughts(response);
  std::string_view text = EndOfResponse(said, kLongestResponse);
  if (const size_t end = text.find("<|im_"); end != kNowhere && end > 0) {
    text = text.substr(0, end);
  }
  const std::string lower = Lower(text);
  const std::vector<Span> boxes = ClaimedBoxes(text);
  Introduced phrase = LastClaimed(
      text, lower,
      boxes.empty() ? std::vector<std::string_view>{"final answer", kMark}
                    : std::vector<std::string_view>{"final answer"});
  std::string after;
  if (phrase.at != kNowhere) {
    after = StripDelimiters(AfterPhrase(text.substr(phrase.behind)));
    // "the final answer is $5$. I hope", truncated by its limit, says nothing.
    if (after.empty()) phrase.at = kNowhere;
  }
  if (!boxes.empty() &&
      (phrase.at == kNowhere || boxes.back().start > phrase.at)) {
    return InBoxes(text, boxes);
  }
  if (phrase.at == kNowhere) {
    phrase = LastClaimed(text, lower, Phrases(Reading::kAnswer));
    if (phrase.at != kNowhere) {
      after = StripDelimiters(AfterPhrase(text.substr(phrase.behind)));
    }
  }
  if (phrase.at != kNowhere && !after.empty()) {
    const std::string_view rest = text.substr(phrase.behind);
    if (auto later = SaidLater(rest)) return Part(*std::move(later));
    Extracted out = Part(std::move(after));
    const size_t at = rest.find(out.text);
    out.place = rest.substr(at == kNowhere ? 0 : at,
                            at == kNowhere ? 0 : out.text.size());
    out.denied = MakesAnother(out.text);
    out.unsure = phrase.unsure ||
                 StanceAt(text, phrase.at, phrase.behind) == Stance::kOpen ||
                 Retracted(rest) || Hedged(rest) ||
                 TakenBackLater(rest, out.text) ||
                 ConcludesOther(rest, out.text) || CutOff(out.text) ||
                 NumberAltered(out.text);
    return out;
  }
  if (GivesUp(text)) {
    Extracted out;
    out.text = StripDelimiters(text);
    out.denied = out.unsure = true;
    return out;
  }
  const std::string_view front = WithoutChecks(text);
  std::vector<Span> formulas = Formulas(front);
  std::erase_if(formulas, [front](const Span& f) {
    return EndsProof(front.substr(f.start, f.end - f.start));
  });
  if (auto last = LastLine(front)) return Part(std::move(*last));
  for (auto bold : {BoldLine(front), BoldList(front)}) {
    if (!bold) continue;
    Extracted out = Part(std::move(bold->text));
    out.place = bold->place;
    return out;
  }
  if (!formulas.empty() && front.size() <= kLongestLine) {
    // "option **D**: $x = 5$"
    const char letter = LetterAlone(front.substr(0, formulas[0].outer_start));
    if (letter != 0) return Part(ChoiceAndValue(letter, front, formulas));
  }
  // "all real numbers except $x = 2$"
  if (!formulas.empty()) {
    const size_t first = LastGroupStart(front, formulas, JoinsFormulas);
    const size_t from = formulas[first].outer_start;
    const std::string lead = PlainLower(WithoutMarks(front.substr(0, from)));
    if (EndsIn(lead, Reading::kAllExcept) > 0 &&
        StanceAt(front, from, formulas.back().outer_end) == Stance::kStates) {
      std::string items;
      for (size_t i = first; i < formulas.size(); ++i) {
        std::string_view item = front.substr(
            formulas[i].start, formulas[i].end - formulas[i].start);
        item.remove_prefix(item.find('=') + 1);
        items += (items.empty() ? "" : ", ") + std::string(item);
      }
      return Part("\\mathbb{R} \\setminus \\{" + items + "\\}");
    }
  }
  if (!formulas.empty()) {
    Extracted out = InFormulas(front, std::move(formulas), phrase);
    out.around = front;
    return out;
  }
  if (const auto fence = LastFence(text)) {
    return Part(StripDelimiters(*fence));
  }
  const std::string_view end =
      front.substr(front.size() - std::min(front.size(), 4 * kLongestLine));
  if (auto value = PlainValue(WithoutSpacing(end)))
    return Part(std::move(*value));
  const std::string_view exact = WithoutRounded(front);
  if (exact.size() < front.size()) {
    if (auto value = PlainValue(WithoutSpacing(exact))) {
      return Part(std::move(*value));
    }
  }
  Extracted out;
  out.text = StripDelimiters(exact);
  out.cut = exact.size() < text.size();
  const auto number = LastNumberPlace(out.text);
  // "no solution when x = 5"
  out.unsure = phrase.unsure;
  if (number && phrase.unsure && !out.cut) {
    const StatedNumber stated = FindStatedNumber(out.text, false);
    out.unsure = phrase.Doubts(number->start) ||
                 stated.trust != Trust::kStated || !stated.by_verb;
  }
  out.unsure |=
      number && TakenBackLater(out.text.substr(number->end), number->text);
  out.denied = number && StanceAt(out.text, number->start, number->end) ==
                             Stance::kDenies;
  out.open = said.size() > kLongestResponse;
  return out;
}

}  // namespace espalier
