#include "datasets/answers/find/outright.h"

#include <algorithm>
#include <optional>

#include "datasets/answers/find/mentioned.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/number_place.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/thoughts.h"

namespace espalier {
namespace {

// How much behind the answer's sentence is examined, and of how many sentences.
constexpr size_t kLongestLater = 600;
constexpr int kNextSentences = 4;

// Without blanks and marks at its begin.
std::string_view WithoutMarksBefore(std::string_view text) {
  const size_t at = text.find_first_not_of(" \t\r\n*_$\"'`\\~]})[(");
  return text.substr(std::min(at, text.size()));
}

// The words around an answer, in lower case.
struct Around {
  std::string lead;         // its sentence up to it
  std::string_view clause;  // the part of `lead` behind the last conclusion
  std::string tail;         // its sentence behind it
  std::string_view later;   // the text behind its sentence, as written
  std::string value;        // the answer itself
  std::string result;       // the number that it ends in
  // Whether a box, "####" or the word "answer" says that it is one.
  bool marked = false;
  // Whether nothing but a verb stands between the word "answer", or the start,
  // and it.
  bool direct = false;
  // Whether it is an interval or a point.
  bool interval = false;
  // Whether both of its ends belong to it.
  bool closed = false;
};

// The start of the sentence that leads to `at`, with the lines in front that
// end in a colon or without a full stop, if the last line has no words.
size_t LeadStart(std::string_view text, size_t at) {
  constexpr int kMostLines = 4;
  size_t begin = SentenceStart(text.substr(0, at));
  for (int i = 0; i < kMostLines && begin > 0; ++i) {
    if (HasLetters(WithoutMarks(text.substr(begin, at - begin)))) break;
    std::string_view before = TrimBlanks(text.substr(0, begin));
    while (before.ends_with("*") || before.ends_with("_")) {
      before.remove_suffix(1);
    }
    if (before.empty() ||
        std::string_view(".!?").find(before.back()) != kNowhere ||
        at - before.size() > kLongestLook) {
      break;
    }
    begin = SentenceStart(before);
  }
  return begin;
}

// The start of the part behind the last word that concludes or turns.
size_t BehindTurn(std::string_view lower) {
  size_t start = 0;
  for (const std::string_view joint : Phrases(Reading::kTurns)) {
    const size_t at = lower.rfind(joint);
    if (at != kNowhere) start = std::max(start, at + joint.size());
  }
  return start;
}

// The last phrase of a reading that a text mentions, as whole words; empty if
// none.
std::string_view Mentioned(std::string_view lower, Reading reading) {
  for (const std::string_view phrase : Phrases(reading)) {
    for (size_t at = lower.find(phrase); at != kNowhere;
         at = lower.find(phrase, at + 1)) {
      const size_t end = at + phrase.size();
      const bool begins =
          at == 0 || !Letter(phrase[0]) || !Letter(lower[at - 1]);
      const bool ends =
          !Letter(phrase.back()) || end >= lower.size() || !Letter(lower[end]);
      if (begins && ends) return phrase;
    }
  }
  return {};
}

// The phrase of a reading that a text begins with; empty if none.
std::string Begins(std::string_view lower, Reading reading) {
  return std::string(lower.substr(0, BeginsIn(lower, reading)));
}

// The place of the last word "answer" in front of a value; npos if none.
size_t AnswerWord(std::string_view lower) {
  constexpr std::string_view kWord = "answer";
  for (size_t at = lower.rfind(kWord); at != kNowhere;
       at = at == 0 ? kNowhere : lower.rfind(kWord, at - 1)) {
    const size_t end = at + kWord.size();
    const bool begins = at == 0 || !Letter(lower[at - 1]);
    const bool plural = lower.substr(end).starts_with("s");
    const size_t behind = end + (plural ? 1 : 0);
    const bool ends = behind >= lower.size() || !Letter(lower[behind]);
    // "5 more correct answers", "a short-answer question", "answers a question"
    const std::string_view next = lower.substr(behind);
    const bool counted = plural && !next.starts_with(" are") &&
                         !next.starts_with(":") && !next.starts_with(" is");
    const bool verb = StartsWith(next, Reading::kQuestion) > 0;
    if (begins && ends && !counted && !verb) return at;
  }
  return kNowhere;
}

// "The score for each right answer is": not the answer, but any.
bool OfAnyAnswer(std::string_view before, std::string_view after) {
  before = WithoutMarks(before);
  if (const size_t blank = before.rfind(' '); blank != kNowhere) {
    const std::string_view front = before.substr(0, blank);
    if (EndsWith(front, Reading::kAny) > 0) {
      return BeginsIn(TrimBlanks(after), Reading::kEquates) > 0;
    }
  }
  return false;
}

// "Bob's answer", "if so, the answer": what in front of "answer" tells it from
// the answer, or leaves the sentence about it unclaimed.
std::string BeforeAnswer(std::string_view before, std::string_view after) {
  const std::string_view kind = before;
  while (true) {
    before = WithoutMarks(before);
    while (before.ends_with("{") || before.ends_with("#")) {
      before = WithoutMarks(before.substr(0, before.size() - 1));
    }
    const size_t word = EndsIn(before, Reading::kAnswerKind);
    if (word == 0) break;
    before.remove_suffix(word);
  }
  if (before.empty() || before == "that" || !Letter(before.back()) ||
      EndsIn(before, Reading::kGoverns) > 0 || OfAnyAnswer(kind, after)) {
    return {};
  }
  // The last words, as the reason.
  return std::string(before.substr(before.size() -
                                   std::min<size_t>(before.size(), 24))) +
         " ... answer";
}

// "answer to part (a) is", "answer is the square of": what behind "answer"
// makes it about another value. Sets `direct` if only a verb is there; an
// answer in `words` is there itself.
std::string BehindAnswer(std::string_view after, bool words, bool* direct) {
  const std::string_view whole = after;
  after = WithoutMarksBefore(after);
  if (after.starts_with("s ")) after.remove_prefix(2);
  // "the answer to "Are whales mammals?" is"
  for (const std::string_view to : {"to \"", "to the question \""}) {
    const size_t close =
        after.starts_with(to) ? after.find('"', to.size()) : kNowhere;
    if (close != kNowhere) after = WithoutMarksBefore(after.substr(close + 1));
  }
  while (const size_t more = BeginsIn(after, Reading::kAnswerOf)) {
    after = WithoutMarksBefore(after.substr(more));
  }
  const auto sign = [](std::string_view text) {
    return !text.empty() &&
           (std::string_view(":=>-.,\n").find(text[0]) != kNowhere ||
            static_cast<unsigned char>(text[0]) >= 0x80);
  };
  // "the answer t = "
  const std::string_view name = TrimBlanks(after.substr(0, 1));
  bool stated = sign(after) || (!name.empty() && Letter(name[0]) &&
                                TrimBlanks(after.substr(1)).starts_with("="));
  if (!stated && HasLetters(after)) {
    const size_t verb = BeginsIn(after, Reading::kEquates);
    // "I would pick answer choice D."
    constexpr size_t kShort = 4;
    if (verb == 0 && words && TrimBlanks(after).size() < kShort) return {};
    if (verb == 0) return "answer" + std::string(whole.substr(0, 32));
    if (words) return {};
    after = WithoutMarksBefore(after.substr(verb));
    stated = after.starts_with(":") || after.starts_with("=");
  }
  while (true) {
    const size_t more = BeginsIn(after, Reading::kFills);
    if (more == 0 && !sign(after)) break;
    after = WithoutMarksBefore(after.substr(std::max<size_t>(more, 1)));
  }
  const std::string_view last = WithoutMarks(after);
  *direct = !HasLetters(after) || last.size() < 3;
  const bool formula =
      after.find_first_of("=\\^") != kNowhere || last.ends_with(":");
  if (*direct || formula || stated) return {};
  return "answer is " + std::string(after.substr(0, 32));
}

// Whether the answer stands in a quotation that says more than the answer.
bool InQuotation(const Around& of) {
  // Behind a digit they are inches.
  int quotes = 0;
  size_t open = 0;
  for (size_t at = 0; at < of.lead.size(); ++at) {
    if (of.lead[at] != '"' || (at > 0 && Digit(of.lead[at - 1]))) continue;
    ++quotes;
    open = at;
  }
  if (quotes % 2 == 0) return false;
  const std::string_view inside = std::string_view(of.lead).substr(open + 1);
  const std::string_view front = std::string_view(of.lead).substr(0, open);
  return HasLetters(inside) && HasLetters(front);
}

// "number of | tokens", "time taken | seconds": whether a label is about the
// response rather than its answer.
bool OwnLabel(std::string_view label, std::string_view tail) {
  while (true) {
    if (IsPhrase(label, Reading::kOwnLabel)) return true;
    if (IsPhrase(label, Reading::kOwnTime)) {
      const std::string_view unit = WithoutMarksBefore(tail);
      return BeginsIn(unit, Reading::kOwnSeconds) > 0;
    }
    const size_t more = BeginsIn(label, Reading::kOwnMore);
    if (more == 0 || more == label.size()) return false;
    label = TrimBlanks(label.substr(more));
  }
}

// "my confidence | is", "confidence is": a label of the response itself, in
// front of its value. "The confidence level is" may be of a statistic.
bool OwnStatement(std::string_view lead) {
  const size_t verb = EndsIn(lead, Reading::kIs);
  if (verb == 0) return false;
  lead = TrimBlanks(lead.substr(0, lead.size() - verb));
  constexpr std::string_view kMy = "my ";
  if (lead.starts_with(kMy)) {
    lead.remove_prefix(kMy.size());
    lead = TrimBlanks(lead.substr(BeginsIn(lead, Reading::kOwnMore)));
    const size_t label = BeginsIn(lead, Reading::kOwnLabel);
    // "my confidence in this"
    const std::string_view rest = lead.substr(label);
    return label > 0 &&
           (rest.empty() || rest.starts_with(" in ") ||
            rest.starts_with(" that ") || rest.starts_with(" about "));
  }
  return lead.starts_with("confidence") && IsPhrase(lead, Reading::kOwnLabel);
}

// "semi-final:": whether a label names only a part of the result.
bool LabelsPart(std::string_view lead) {
  lead = TrimBlanks(lead);
  while (lead.ends_with("*") || lead.ends_with("_")) lead.remove_suffix(1);
  if (!lead.ends_with(":")) return false;
  lead.remove_suffix(1);
  return EndsIn(WithoutMarks(lead), Reading::kPartLabel) > 0;
}

// "i am | % sure"
bool OwnSureness(std::string_view lead, std::string_view tail) {
  if (tail.starts_with("%")) tail = WithoutMarksBefore(tail.substr(1));
  tail = WithoutMarksBefore(tail.substr(BeginsIn(tail, Reading::kPercent)));
  if (BeginsIn(tail, Reading::kOwnSure) == 0) return false;
  // "i am about | % sure"
  lead.remove_suffix(EndsIn(lead, Reading::kRoundedTo));
  lead = WithoutMarks(lead);
  return EndsIn(lead, Reading::kOwnSelf) > 0;
}

// Words in front that attribute the value to somebody, or call it a mistake or
// an earlier attempt.
std::string DoubtInFront(const Around& of) {
  if (InQuotation(of)) return "a quotation";
  for (const std::string_view phrase : Phrases(Reading::kAttributes)) {
    for (size_t at = of.clause.find(phrase); at != kNowhere;
         at = of.clause.find(phrase, at + 1)) {
      const size_t end = at + phrase.size();
      const bool whole =
          (at == 0 || !Letter(phrase[0]) || !Letter(of.clause[at - 1])) &&
          (end >= of.clause.size() || !Letter(of.clause[end]));
      const std::string_view front = TrimBlanks(of.clause.substr(0, at));
      const bool own = EndsIn(front, Reading::kSpeaker) > 0;
      const bool rule =
          BeginsIn(TrimBlanks(of.clause.substr(end)), Reading::kSource) > 0;
      if (whole && !own && !rule) return std::string(phrase);
    }
  }
  // "Half of the class got 24.": somebody came to a bare number.
  const std::string_view lead = WithoutMarks(of.clause);
  if (const size_t verb = EndsIn(lead, Reading::kObtains);
      verb > 0 && !HasLetters(of.tail)) {
    const std::string_view who = TrimBlanks(lead.substr(0, lead.size() - verb));
    if (HasLetters(who) && EndsIn(who, Reading::kSpeaker) == 0) {
      return std::string(lead.substr(lead.size() - verb));
    }
  }
  // "Confidence: 12", of the response itself.
  std::string_view label = WithoutMarksBefore(lead);
  while (label.ends_with(":") || label.ends_with("=")) {
    label = WithoutMarks(label.substr(0, label.size() - 1));
  }
  if (OwnLabel(label, of.tail) || OwnStatement(label) || LabelsPart(of.lead)) {
    return std::string(label);
  }
  // "this took | 12 steps", "I am | 12% sure"
  const std::string_view unit = WithoutMarksBefore(of.tail);
  if (EndsIn(lead, Reading::kOwnTook) > 0 &&
      BeginsIn(unit, Reading::kOwnLabel) > 0) {
    return std::string(lead);
  }
  if (OwnSureness(lead, unit)) return std::string(lead);
  // "the sum of | 12" lacks a verb and the other operand.
  if (IsPhrase(lead, Reading::kOperation)) return std::string(lead);
  // "I have solved it | 12 times"; not "I have solved it: 12"
  if (HasLetters(of.tail) &&
      EndsIn(TrimBlanks(of.clause), Reading::kOwnPast) > 0) {
    return std::string(lead);
  }
  for (const Reading reading : {Reading::kMisleads, Reading::kOtherTry}) {
    const std::string_view phrase = Mentioned(of.clause, reading);
    if (!phrase.empty()) return std::string(phrase);
  }
  return {};
}

// "If pigs fly, | ", "In the previous problem the answer is |": a condition in
// front of a marked answer.
std::string ConditionInFront(const Around& of) {
  const std::string_view clause = TrimBlanks(of.clause);
  const std::string begins = Begins(clause, Reading::kImagines);
  const bool answer = AnswerWord(clause) != kNowhere;
  if (!begins.empty()) {
    const std::string_view rest = TrimBlanks(clause.substr(begins.size()));
    if (BeginsIn(rest, Reading::kComputes) > 0) return {};
    const bool unreal = !Mentioned(clause, Reading::kUnreal).empty();
    const size_t comma = WithoutMarks(clause).rfind(',');
    const std::string_view main =
        comma == kNowhere ? clause : WithoutMarks(clause).substr(comma + 1);
    const bool bare = comma != kNowhere && of.marked && !HasLetters(main);
    if (answer || unreal || bare) return begins;
  }
  const std::string narrows = Begins(clause, Reading::kNarrows);
  return answer ? narrows : std::string();
}

// "24 apples in the first box": the word of a grammatical kind that says more
// about a direct value than its unit; empty if there is none up to a comma, or
// if only a reason, a total or the like follows.
std::string GoesOn(std::string_view tail) {
  tail = WithoutMarksBefore(tail);
  while (!tail.empty() &&
         std::string_view(",;:.!?(").find(tail[0]) == kNowhere) {
    std::string word = Begins(tail, Reading::kClosed);
    if (BeginsIn(tail, Reading::kHarmlessTail) > word.size()) return {};
    // "8 in" is a length.
    if (!word.empty() && (word.starts_with("is ") || word.starts_with("are ") ||
                          HasLetters(tail.substr(word.size())))) {
      return word;
    }
    const size_t next = tail.find_first_of(" ,;:.!?(");
    if (next == kNowhere) return {};
    tail = tail[next] == ' ' ? WithoutMarksBefore(tail.substr(next))
                             : tail.substr(next);
  }
  return {};
}

// Words behind the value that change it, or put it under a condition.
std::string DoubtBehind(const Around& of) {
  std::string_view tail = of.tail;
  if (TrimBlanks(WithoutMarks(tail)).ends_with("?")) return "?";
  if (of.marked || of.direct) {
    const std::string_view behind = WithoutMarksBefore(tail);
    if (std::string word = Begins(behind, Reading::kChanges);
        of.direct && !word.empty()) {
      return word;
    }
    if (std::string word = GoesOn(tail); of.direct && !word.empty()) {
      return word;
    }
    // Behind the unit of the value. "has a remainder of 5 when divided by 8"
    // puts nothing under a condition.
    const Reading condition = of.direct ? Reading::kOnlyIf : Reading::kImagines;
    std::string_view next = behind;
    for (int words = 0; words < 4 && !next.empty(); ++words) {
      std::string word = Begins(next, condition);
      if (!word.empty()) return word;
      if (next[0] == ',') {
        next = WithoutMarksBefore(next.substr(1));
        word = Begins(next, condition);
        if (!word.empty()) return word;
        break;
      }
      const size_t blank = next.find(' ');
      if (blank == kNowhere) break;
      next = WithoutMarksBefore(next.substr(blank));
    }
    // "24 per class in four classes"
    // "24 of the 50" says the same as 24 only in a sentence of its own.
    if (std::string rate = Begins(behind, Reading::kRates);
        !rate.empty() && (of.direct || rate != "of")) {
      const std::string_view rest = behind.substr(rate.size());
      if (HasDigits(WithDigits(rest)) || Mentions(rest, Reading::kGroups)) {
        return rate;
      }
    }
  }
  // "(1, 3) including 3"
  if (of.interval && !Holds(tail, Reading::kExcludes)) {
    const std::string_view change = Mentioned(tail, Reading::kReopens);
    if (!change.empty() && !(of.closed && change.starts_with("incl"))) {
      return std::string(change);
    }
  }
  const std::string_view phrase = Mentioned(tail, Reading::kTailDoubts);
  return std::string(phrase);
}

// "not 24", "cannot be 24" of the value 24.
bool DeniesValue(std::string_view lower, std::string_view value) {
  if (value.empty()) return false;
  for (size_t at = lower.find(value); at != kNowhere;
       at = lower.find(value, at + 1)) {
    const size_t end = at + value.size();
    const bool whole = (at == 0 || !Digit(lower[at - 1])) &&
                       (end >= lower.size() || !Digit(lower[end]));
    std::string_view front = lower.substr(0, at);
    for (const std::string_view box : {"\\boxed{", "\\fbox{"}) {
      if (front.ends_with(box)) front.remove_suffix(box.size());
    }
    front = WithoutMarks(front);
    if (whole && EndsIn(front, Reading::kNotThis) > 0) return true;
  }
  return false;
}

// "They don't need 6 buses" of the value 6: a clause that denies something of
// as many.
bool DeniesCount(std::string_view sentence, std::string_view value) {
  constexpr size_t kLongest = 120;
  if (value.empty() || sentence.size() > kLongest) return false;
  const std::string lower = WithDigits(sentence);
  for (size_t at = lower.find(value); at != kNowhere;
       at = lower.find(value, at + 1)) {
    const size_t end = at + value.size();
    if ((at > 0 && lower[at - 1] != ' ') ||
        (end < lower.size() && lower[end] != ' ')) {
      continue;
    }
    std::string_view front = std::string_view(lower).substr(0, at);
    front.remove_prefix(front.find_last_of(",;:.") + 1);
    front = TrimBlanks(front);
    const bool compared = EndsIn(front, Reading::kCompared) > 0 ||
                          EndsIn(front, Reading::kBounds) > 0;
    if (!compared && !HasDigits(front) && front.find(" but ") == kNowhere &&
        std::count(front.begin(), front.end(), ' ') < 5 &&
        Mentions(front, Reading::kDenies) &&
        !Mentions(front, Reading::kHarmless)) {
      return true;
    }
  }
  return false;
}

// Words in the next sentences that take the answer back.
std::string DoubtLater(const Around& of) {
  std::string_view rest = of.later.substr(0, kLongestLater);
  for (int i = 0; i < kNextSentences; ++i) {
    rest = TrimBlanks(rest);
    if (rest.empty()) break;
    const size_t length = std::max<size_t>(SentenceLength(rest), 1);
    const std::string sentence = PlainLower(TrimBlanks(rest.substr(0, length)));
    rest.remove_prefix(std::min(length, rest.size()));
    const std::string_view words = WithoutMarksBefore(sentence);
    if (BeginsIn(words, Reading::kChecks) > 0) continue;
    if (DeniesValue(sentence, of.value)) return "not " + of.value;
    if (DeniesCount(words, of.result)) return "not " + of.result;
    if (Mentions(words, Reading::kAffirms)) continue;
    std::string_view back = Mentioned(words, Reading::kUnclaims);
    // "That is wrong."; "Option A fails." is about another one.
    const auto blanks = std::count(words.begin(), words.end(), ' ');
    if (back.empty() && i == 0 &&
        (blanks < 2 || BeginsIn(words, Reading::kRefers) > 0)) {
      back = Mentioned(words, Reading::kUnclaimsNext);
    }
    const bool other = HasDigits(words) &&
                       (of.value.empty() || words.find(of.value) == kNowhere);
    if (!back.empty() && !other) return std::string(back);
    if (i == 0 && blanks < 5 && words.ends_with("?")) return "?";
    if (i == 0) {
      std::string works = Begins(words, Reading::kWorksOn);
      if (!works.empty()) return works;
    }
    if (i == 0 && !other) {
      const std::string turn = Begins(words, Reading::kTurnsBack);
      if (!turn.empty()) return turn;
    }
  }
  return {};
}

// Whether a word joins two values: "x = 1 | and y = 2"; not "24 | and a half".
bool JoinsValues(std::string_view word, std::string_view behind) {
  if (word != "and" && word != "or") return false;
  if (TrimBlanks(behind).starts_with("\\")) return true;
  behind = WithoutMarksBefore(behind);
  size_t end = 0;
  while (end < behind.size() && Letter(behind[end])) ++end;
  const bool article =
      end == 1 && behind.size() > 2 && behind[1] == ' ' && Letter(behind[2]);
  return !behind.empty() && end < 2 && !article;
}

// "24" of "24 if n is even", "(1, 2)" of "(1, 2) without 2": the value that a
// text begins with, up to its first word; the whole text if there is none.
std::string_view LeadingValue(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    while (end < text.size() && Letter(text[end])) ++end;
    const bool command = at > 0 && text[at - 1] == '\\';
    const bool stop = text.substr(at).starts_with(". ");
    if (stop || (end - at >= 2 && !command &&
                 !JoinsValues(text.substr(at, end - at), text.substr(end)))) {
      break;
    }
    at = std::max(end, at + 1);
  }
  if (at == text.size()) return text;
  std::string_view value = text.substr(0, at);
  while (!value.empty() &&
         std::string_view(" ,;:(-*.").find(value.back()) != kNowhere) {
    value.remove_suffix(1);
  }
  return HasDigits(value) && value.find('{') == kNowhere ? value : text;
}

// Whether a place holds nothing but its number, up to a name and markup.
bool OnlyNumber(std::string_view place) {
  if (place.starts_with("\\(") || place.starts_with("\\[")) {
    place = place.substr(2, place.size() - std::min<size_t>(place.size(), 4));
  }
  return place.find_first_of("+*^/([,!<>|") == kNowhere &&
         place.find("\\frac") == kNowhere && place.find("\\sqrt") == kNowhere;
}

// "f(-x)" of "f(-x) = 2x", "x^2" of "x^2 = 5": the left side of an equation
// that gives the value of something made from a name.
std::string MadeFromName(std::string_view place, bool alone, bool direct) {
  const size_t equal = place.find('=');
  if (equal == kNowhere || equal == 0) return {};
  const std::string_view left =
      TrimBlanks(WithoutMarksBefore(place.substr(0, equal)));
  if (!HasLetters(left) || left.find('{') < left.find('^')) return {};
  const size_t open = left.find('(');
  std::string_view inside;
  if (open != kNowhere && open > 0 && Letter(left[open - 1]) &&
      (open == 1 || !Letter(left[open - 2]))) {
    inside = left.substr(open + 1);
    inside = inside.substr(0, inside.rfind(')'));
  }
  const bool function =
      left.find("^{-1}(") != kNowhere || left.find("^-1(") != kNowhere ||
      (HasLetters(inside) && inside.find_first_of("+-(") != kNowhere &&
       inside.find(')') == inside.rfind(')'));
  const bool open_power =
      left.find('^') != kNowhere || left[0] == '-' || left[0] == '|';
  return (function && alone) || (open_power && direct && !function)
             ? std::string(left)
             : std::string();
}

// The part of the text that is only the answer.
std::string_view Narrowed(std::string_view text, std::string_view place,
                          std::string_view answer, std::string_view number) {
  const bool box = place.find("\\boxed") != kNowhere ||
                   place.find("\\fbox") != kNowhere ||
                   place.find("\\framebox") != kNowhere;
  if (box) return place;
  if (place.data() == nullptr) {
    const std::string_view whole = TrimBlanks(text);
    place = whole.substr(whole.size());
    for (const std::string_view said : {answer, number}) {
      const size_t at = said.empty() ? kNowhere : text.rfind(said);
      if (at != kNowhere) place = text.substr(at, said.size());
    }
  } else if (const size_t at = place.rfind(number);
             at != kNowhere && !number.empty() && HasLetters(place)) {
    place = place.substr(at, number.size());
  }
  return LeadingValue(place);
}

}  // namespace

std::string DoubtAbout(std::string_view text, std::string_view place,
                       std::string_view answer, std::string_view number) {
  text = WithoutThoughts(text);
  place = Narrowed(text, place, answer, number);
  const size_t start = static_cast<size_t>(place.data() - text.data());
  const size_t end = start + place.size();
  // A place in thoughts claims nothing.
  if (start > text.size() || end > text.size()) return "thoughts";
  const size_t newline = text.substr(0, start).rfind('\n');
  const size_t first = newline == kNowhere ? 0 : newline + 1;
  const std::string_view line = TrimBlanks(text.substr(first, start - first));
  Around of;
  const bool mark = line.ends_with("####");
  const size_t begin = mark ? start : LeadStart(text, start);
  of.lead = PlainLower(text.substr(begin, start - begin));
  of.clause = std::string_view(of.lead).substr(BehindTurn(of.lead));
  const std::string_view behind = text.substr(end);
  const size_t length = SentenceLength(behind);
  of.tail = PlainLower(behind.substr(0, length));
  of.later = behind.substr(std::min(length, behind.size()));
  if (const auto number = LastNumberPlace(place); number && OnlyNumber(place)) {
    of.value = number->text;
  }
  if (const auto number = LastNumberPlace(place)) of.result = number->text;
  // "Confidence level = 12"
  if (const size_t equal = place.rfind('='); equal != kNowhere) {
    const std::string label = PlainLower(TrimBlanks(place.substr(0, equal)));
    if (OwnLabel(label, of.tail)) return label;
  }
  const size_t word = AnswerWord(of.clause);
  of.marked = mark || word != kNowhere || place.find("\\boxed") != kNowhere ||
              place.find("\\fbox") != kNowhere;
  const size_t bracket = place.find_first_of("([");
  of.interval =
      bracket != kNowhere && place.find(',', bracket) != std::string_view::npos;
  of.closed = place.find('[') != kNowhere && place.find(']') != kNowhere &&
              place.find_first_of("()") == kNowhere;
  of.direct = mark || (!HasLetters(of.lead) && !HasDigits(of.lead));
  if (std::string doubt = DoubtInFront(of); !doubt.empty()) return doubt;
  if (std::string doubt = ConditionInFront(of); !doubt.empty()) return doubt;
  if (word != kNowhere) {
    constexpr size_t kWord = 6;
    std::string doubt =
        BeforeAnswer(of.clause.substr(0, word), of.clause.substr(word + kWord));
    if (doubt.empty())
      doubt = BehindAnswer(of.clause.substr(word + kWord), place.empty(),
                           &of.direct);
    if (!doubt.empty()) return doubt;
  }
  if (std::string doubt = DoubtBehind(of); !doubt.empty()) return doubt;
  if (std::string name = MadeFromName(place, of.direct && !HasLetters(of.tail),
                                      word != kNowhere);
      !name.empty()) {
    return name;
  }
  if (DeniesValue(of.tail, of.value)) return "not " + of.value;
  // Other texts have no number that could be mentioned.
  const bool value =
      !of.value.empty() || !number.empty() || place.find('=') != kNowhere;
  if (!of.marked && value) {
    const bool prose = answer.empty() && !number.empty();
    if (std::string doubt = OnlyMentioned(text, start, end, prose);
        !doubt.empty()) {
      return doubt;
    }
  }
  return DoubtLater(of);
}

bool Asks(std::string_view text) {
  constexpr size_t kShort = 40;
  text = WithoutMarks(text);
  while (text.ends_with("}"))
    text = WithoutMarks(text.substr(0, text.size() - 1));
  return text.size() < kShort && text.ends_with("?");
}

}  // namespace espalier
