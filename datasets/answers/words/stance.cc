#include "datasets/answers/words/stance.h"

#include <algorithm>
#include <cctype>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"

namespace espalier {
namespace {

// Longer parts of a response are more than a check or a remark.
constexpr size_t kLongestCheck = 800;

// Long enough for the longest phrases next to a value.
constexpr size_t kNearest = 60;

bool StopAt(std::string_view text, size_t at) {
  if (text[at] == '\n') return at + 1 < text.size() && text[at + 1] == '\n';
  const char stop = text[at];
  if (stop != '.' && stop != '!' && stop != '?') return false;
  if (at + 1 < text.size() && !Blank(text[at + 1]) && text[at + 1] != '*') {
    return false;
  }
  return !Abbreviated(text, at + 1);
}

// Whether a phrase occurs at `at` as whole words; "n't" ends a word.
bool WordAt(std::string_view text, size_t at, std::string_view phrase) {
  const size_t end = at + phrase.size();
  const bool begins =
      at == 0 || !Letter(text[at - 1]) || phrase.starts_with("n'");
  return begins && (end >= text.size() || !Letter(text[end]));
}

// text.rfind(phrase, last), which compares whole phrases only where the first
// byte fits. `phrase` is not empty.
size_t LastOf(std::string_view text, std::string_view phrase, size_t last) {
  if (phrase.size() > text.size()) return kNowhere;
  for (size_t at = std::min(last, text.size() - phrase.size()) + 1; at-- > 0;) {
    if (text[at] == phrase[0] && text.substr(at).starts_with(phrase)) return at;
  }
  return kNowhere;
}

// Start of the last phrase of a reading; `length` is set to its length.
size_t LastMention(std::string_view lower, Reading reading, size_t* length) {
  size_t best = kNowhere;
  for (const std::string_view phrase : Phrases(reading)) {
    for (size_t at = LastOf(lower, phrase, kNowhere - 1); at != kNowhere;
         at = at == 0 ? kNowhere : LastOf(lower, phrase, at - 1)) {
      if (!WordAt(lower, at, phrase)) continue;
      if (best == kNowhere || at > best) {
        best = at;
        *length = phrase.size();
      }
      break;
    }
  }
  return best;
}

// Without phrases that contain "not" but deny nothing: "not only".
std::string WithoutHarmless(std::string text) {
  for (const std::string_view phrase : Phrases(Reading::kHarmless)) {
    size_t at = 0;
    while ((at = text.find(phrase, at)) != std::string::npos) {
      text.replace(at, phrase.size(), " ");
    }
  }
  return text;
}

// Without the "not" of "those who have not voted", which says which ones are
// meant. A direct denial, "that is not |", stays.
std::string WithoutRelativeNot(std::string text) {
  for (const std::string_view pronoun : Phrases(Reading::kRelative)) {
    size_t at = 0;
    while ((at = text.find(pronoun, at)) != std::string::npos) {
      at += pronoun.size();
      const std::string_view near = std::string_view(text).substr(at, 16);
      size_t deny = near.find("not ");
      size_t length = 4;
      if (const size_t n = near.find("n't "); n < deny) deny = n;
      if (deny == kNowhere || deny > 6) continue;
      const std::string_view rest =
          std::string_view(text).substr(at + deny + length);
      const size_t states = EndsIn(TrimBlanks(rest), Reading::kStates);
      const std::string_view between = TrimBlanks(
          rest.substr(0, rest.size() - std::min(rest.size(), states + 1)));
      const bool other = (states > 0 || rest.find(':') != kNowhere ||
                          rest.ends_with("our ")) &&
                         between.size() > 2;
      if (other) text.replace(at + deny, length, " ");
    }
  }
  return text;
}

// The rest of the sentence behind `end`; nothing if a full stop ends it inside
// a formula.
std::string_view SentenceBehind(std::string_view text, size_t end) {
  size_t last = end;
  while (last > 0 &&
         (std::string_view("$\\)]").find(text[last - 1]) != kNowhere ||
          Blank(text[last - 1]))) {
    --last;
  }
  if (last > 0 && last < end && text[last - 1] == '.') return {};
  return text.substr(end, SentenceLength(text.substr(end)));
}

std::string_view FirstWords(std::string_view text, int words) {
  size_t at = 0;
  while (at < text.size() && Blank(text[at])) ++at;
  for (; at < text.size(); ++at) {
    if (Blank(text[at]) && --words == 0) break;
    if (text[at] == ',' || text[at] == ';') break;
  }
  return text.substr(0, at);
}

// "a radius of", "an area of"
bool IsMeasure(std::string_view words) {
  if (!words.ends_with(" of")) return false;
  words.remove_suffix(3);
  const size_t noun = words.rfind(' ');
  if (noun == kNowhere) return false;
  const std::string_view before = words.substr(0, noun);
  return before == "a" || before == "an" || before.ends_with(" a") ||
         before.ends_with(" an");
}

// "There are no such sets, i.e. 0": start of the clause that restates as a
// number the "none" of the lead; else npos.
size_t RestatedNone(std::string_view lower) {
  size_t start = kNowhere;
  for (const std::string_view joint : Phrases(Reading::kRestates)) {
    const size_t at = lower.rfind(joint);
    if (at == kNowhere) continue;
    const std::string_view front = lower.substr(0, at);
    const bool other = Holds(front, Reading::kNotNone);
    if (!other && (start == kNowhere || at + joint.size() > start)) {
      start = at + joint.size();
    }
  }
  return start;
}

}  // namespace

bool Abbreviated(std::string_view text, size_t at) {
  if (text[at - 1] != '.') return false;
  const size_t back = std::min<size_t>(at, 8);
  const std::string words = Lower(text.substr(at - back, back));
  // "No. 5", and "No. The other one is."
  const size_t next = text.find_first_not_of(' ', at);
  const bool number = next != kNowhere && Digit(text[next]);
  return EndsIn(words, Reading::kAbbreviation) > 0 &&
         (number || !words.ends_with("no."));
}

std::string PlainLower(std::string_view text) {
  std::string out = Lower(text);
  std::replace(out.begin(), out.end(), '\n', ' ');
  // Thin spaces.
  for (size_t at = 0; (at = out.find('\\', at)) != std::string::npos; ++at) {
    if (at + 1 < out.size() && (out[at + 1] == ',' || out[at + 1] == ';')) {
      out[at] = out[at + 1] = ' ';
    }
  }
  return out;
}

bool Mentions(std::string_view lower, Reading reading) {
  size_t length = 0;
  return LastMention(lower, reading, &length) != kNowhere;
}

std::string_view WithoutMarks(std::string_view lead) {
  while (!lead.empty()) {
    const char c = lead.back();
    if (Blank(c) || std::string_view("*_$(\"'`\\~[").find(c) != kNowhere) {
      lead.remove_suffix(1);
    } else if (lead.ends_with("\\,") || lead.ends_with("\\;")) {
      lead.remove_suffix(2);
    } else if (lead.ends_with("\u20ac") || lead.ends_with("\u2248")) {
      lead.remove_suffix(3);
    } else if (lead.ends_with("\u00a3")) {
      lead.remove_suffix(2);
    } else {
      break;
    }
  }
  return lead;
}

size_t SentenceStart(std::string_view text) {
  const size_t least =
      text.size() > kLongestLook ? text.size() - kLongestLook : 0;
  for (size_t at = text.size(); at-- > least;) {
    if (at + 1 < text.size() && StopAt(text, at)) {
      size_t start = at + 1;
      while (start < text.size() && (Blank(text[start]) || text[start] == '*'))
        ++start;
      return start;
    }
    if (text[at] == '\n') return at + 1;
  }
  return least;
}

size_t SentenceLength(std::string_view text) {
  const size_t most = std::min(text.size(), kLongestLook);
  for (size_t at = 0; at < most; ++at) {
    if (StopAt(text, at)) return at + 1;
  }
  return most;
}

size_t ClauseStart(std::string_view lower) {
  size_t start = 0;
  for (const std::string_view joint : Phrases(Reading::kClause)) {
    const size_t at = lower.rfind(joint);
    if (at != kNowhere) start = std::max(start, at + joint.size());
  }
  const std::string_view clause = lower.substr(start);
  if (BeginsIn(TrimBlanks(clause), Reading::kSubordinate) > 0) {
    if (const size_t comma = clause.rfind(", "); comma != kNowhere) {
      start += comma + 2;
    }
  }
  return start;
}

Stance StanceOfResult(std::string_view text, size_t start, size_t end) {
  const size_t begin = SentenceStart(text.substr(0, start));
  const std::string lead = PlainLower(text.substr(begin, start - begin));
  const std::string tail = PlainLower(SentenceBehind(text, end));
  const std::string_view clause =
      std::string_view(lead).substr(ClauseStart(lead));
  const bool asked = TrimBlanks(WithoutMarks(tail)).ends_with("?");
  if (asked || Mentions(clause, Reading::kWrong) ||
      Mentions(tail, Reading::kWrong) ||
      BeginsIn(TrimBlanks(clause), Reading::kSupposes) > 0) {
    return Stance::kDenies;
  }
  return Stance::kStates;
}

Stance StanceAt(std::string_view text, size_t start, size_t end) {
  const size_t begin = SentenceStart(text.substr(0, start));
  const std::string_view rest = SentenceBehind(text, end);
  const std::string lead = WithoutRelativeNot(
      WithoutHarmless(PlainLower(text.substr(begin, start - begin))));
  const std::string tail = WithoutHarmless(PlainLower(rest));
  const std::string_view asked = TrimBlanks(WithoutMarks(tail));
  if (asked.ends_with("?")) return Stance::kDenies;
  std::string_view clause = std::string_view(lead).substr(ClauseStart(lead));
  // "If I had to guess, |"
  if (TrimBlanks(WithoutMarks(clause)).empty() &&
      Mentions(lead, Reading::kMaybe)) {
    clause = lead;
  }
  if (const size_t again = RestatedNone(clause); again != kNowhere) {
    clause.remove_prefix(again);
  }
  if (Mentions(clause, Reading::kDenies)) return Stance::kDenies;
  if (BeginsIn(TrimBlanks(clause), Reading::kSupposes) > 0 ||
      Mentions(clause, Reading::kDoubts)) {
    return Stance::kDenies;
  }
  // "The answer plus one is 5"
  if (const size_t at = lead.rfind("answer ");
      at != std::string::npos && at >= lead.size() - clause.size() &&
      BeginsIn(lead.substr(at + 7), Reading::kBoundBehind) > 0) {
    return Stance::kDenies;
  }
  if (Mentions(tail, Reading::kWrong)) return Stance::kDenies;
  const size_t verb = BeginsIn(TrimBlanks(tail), Reading::kAuxiliary);
  if (Mentions(FirstWords(tail, verb > 0 ? 3 : 1), Reading::kDenies)) {
    return Stance::kDenies;
  }
  const bool before = clause.size() < lead.size() &&
                      lead.find(" but ") != std::string::npos &&
                      Mentions(lead, Reading::kDenies);
  if (before || Mentions(clause, Reading::kMaybe) ||
      Mentions(tail, Reading::kVague)) {
    return Stance::kOpen;
  }
  return Stance::kStates;
}

bool OfUnknown(std::string_view lower) {
  if (const size_t verb = EndsIn(lower, Reading::kStates)) {
    lower.remove_suffix(verb);
  }
  lower = TrimBlanks(lower);
  if (lower.starts_with("the ")) lower.remove_prefix(4);
  const size_t part = BeginsIn(lower, Reading::kModifies);
  if (part == 0) return false;
  lower = TrimBlanks(lower.substr(part));
  for (const std::string_view word : Phrases(Reading::kOfThe)) {
    if (lower.starts_with(word)) lower = TrimBlanks(lower.substr(word.size()));
  }
  return (lower.size() == 1 && Letter(lower[0])) ||
         IsPhrase(lower, Reading::kUnknown);
}

bool Affirms(std::string_view text) {
  text = TrimBlanks(text);
  return !text.ends_with("?") &&
         StanceAt(text, text.size(), text.size()) == Stance::kStates;
}

Stance StanceBeside(std::string_view lead, std::string_view behind) {
  lead = WithoutMarks(lead);
  const std::string words =
      PlainLower(lead.substr(lead.size() - std::min(lead.size(), kNearest)));
  std::string after = PlainLower(behind.substr(0, kNearest));
  const size_t word = after.find_first_not_of("*_$)\"'`\\~ ");
  after = word == std::string::npos ? std::string() : after.substr(word);
  size_t states = EndsIn(words, Reading::kStates);
  if (states == 0 && IsMeasure(words)) states = 1;
  if (EndsIn(words, Reading::kBounds) > states ||
      EndsIn(words, Reading::kModifies) > states ||
      EndsIn(words, Reading::kLabels) > states) {
    return Stance::kDenies;
  }
  // "is 5 more than x"; "costs 5 more than that" costs 5 more.
  if (BeginsIn(after, Reading::kCompared) > 0 &&
      (words.empty() || EndsIn(words, Reading::kCopula) > 0)) {
    return Stance::kDenies;
  }
  // "between 4 and"
  const bool range =
      words.ends_with(" and") && words.find("between ") != std::string::npos;
  if (range) return Stance::kDenies;
  if (BeginsIn(after, Reading::kBoundBehind) > 0 || after.starts_with("'s ")) {
    return Stance::kDenies;
  }
  if (IsMeasure(words)) return Stance::kStates;
  return EndsIn(words, Reading::kRelates) > states ? Stance::kOpen
                                                   : Stance::kStates;
}

namespace {

// "(48 in April, 24 in May.)": words with numbers, and no formula.
bool IsRemark(std::string_view bracket) {
  return bracket.find_first_of("=$^{") == kNowhere &&
         std::count(bracket.begin(), bracket.end(), ' ') > 1 &&
         std::count_if(bracket.begin(), bracket.end(), Letter) > 3;
}

// Without a last sentence that only rejects a candidate, if a number or a
// formula comes before it.
std::string_view WithoutRejection(std::string_view text) {
  const std::string_view whole = TrimBlanks(text);
  std::string_view body = whole;
  while (body.ends_with(".") || body.ends_with("!")) body.remove_suffix(1);
  const size_t start = SentenceStart(body);
  const std::string lower = PlainLower(body.substr(start));
  const std::string_view front = TrimBlanks(whole.substr(0, start));
  const bool rejects =
      lower.starts_with("the ") && Mentions(lower, Reading::kRejects) &&
      !Mentions(lower, Reading::kTherefore) && lower.find(" so ") == kNowhere;
  const bool left =
      !front.empty() && std::any_of(front.begin(), front.end(), Digit);
  // "Had she not lost any she would have 50."
  const bool unreal = StartsWith(lower, Reading::kHadWere) > 0 &&
                      lower.find(" would ") != kNowhere;
  // It is not a remark if it is about something named before: "x = -1. The
  // candidate x = -1 is extraneous."
  size_t digit = lower.find_first_of("0123456789");
  const size_t end = std::min(
      lower.find_first_not_of("0123456789", std::min(digit, lower.size())),
      lower.size());
  if (digit != kNowhere && digit > 0 && lower[digit - 1] == '-') --digit;
  const bool other = digit != kNowhere &&
                     front.find(lower.substr(digit, end - digit)) == kNowhere;
  return ((rejects && other) || unreal) && left ? front : text;
}

// "The sum is 12. Let me check ... The sum is 14.": whether the last sentence
// says of the same quantity what it is.
bool SaysAnew(std::string_view front, std::string_view checks) {
  constexpr std::string_view kIs = " is ";
  constexpr size_t kShortest = 6;
  checks = TrimBlanks(checks);
  while (checks.ends_with(".")) checks.remove_suffix(1);
  const size_t start = SentenceStart(checks);
  if (start == 0) return false;
  const std::string last = PlainLower(TrimBlanks(checks.substr(start)));
  const size_t verb = last.find(kIs);
  if (verb == std::string::npos || verb < kShortest ||
      !last.starts_with("the ") || last.find_first_of(",;?") < verb) {
    return false;
  }
  // "The sum is 5 for x = 0."
  if (Mentions(last, Reading::kOnlyIf) ||
      last.find(" for ") != std::string::npos) {
    return false;
  }
  const std::string subject = last.substr(0, verb + kIs.size());
  return PlainLower(front).find(subject) != std::string::npos &&
         last.size() > subject.size();
}

}  // namespace

std::string_view WithoutChecks(std::string_view text) {
  text = WithoutRejection(text);
  // "**So it is 11.** (Check: 2 * 11 = 22)"
  if (const std::string_view end = TrimBlanks(text); end.ends_with(")")) {
    const size_t open = end.rfind('(');
    const std::string_view front =
        TrimBlanks(end.substr(0, open == kNowhere ? 0 : open));
    if (!front.empty() &&
        std::string_view(".!]$}*").find(front.back()) != kNowhere &&
        end.size() - open < kLongestCheck && HasDigits(front) &&
        BeginsIn(Lower(end.substr(open + 1)), Reading::kChecks) > 0) {
      text = front;
    }
  }
  // "(We might also have noted that ...)" at the end.
  if (const std::string_view end = TrimBlanks(text);
      (end.ends_with(".)") || end.ends_with(".\\right)")) && end.size() > 2) {
    const size_t open = end.rfind('(');
    std::string_view front =
        TrimBlanks(end.substr(0, open == kNowhere ? 0 : open));
    if (front.ends_with("\\left")) {
      front = TrimBlanks(front.substr(0, front.size() - 5));
    }
    const bool sentence =
        !front.empty() && open + 1 < end.size() &&
        (std::isupper(static_cast<unsigned char>(end[open + 1])) != 0 ||
         (Digit(end[open + 1]) && IsRemark(end.substr(open)))) &&
        std::string_view(".!]$}*").find(front.back()) != kNowhere;
    if (sentence && std::any_of(front.begin(), front.end(), Digit)) {
      text = front;
    }
  }
  const size_t first =
      text.size() > kLongestCheck ? text.size() - kLongestCheck : 0;
  for (size_t at = first; at + 1 < text.size(); ++at) {
    const bool line = text[at] == '\n';
    if (!line && !(StopAt(text, at) && Blank(text[at + 1]))) continue;
    const std::string_view rest = text.substr(at + 1, 40);
    size_t word = rest.find_first_not_of(" \t\r\n*_#(");
    if (word != kNowhere && rest.substr(word).starts_with("\\left(")) word += 6;
    if (word == kNowhere) continue;
    const std::string lower = Lower(rest.substr(word));
    if (BeginsIn(lower, Reading::kChecks) == 0) continue;
    // Nothing is concluded behind it.
    const std::string_view front = text.substr(0, at + 1);
    const bool last = text.size() - at < kLongestCheck &&
                      !Mentions(PlainLower(text.substr(at + 1 + word)),
                                Reading::kTherefore) &&
                      !SaysAnew(front, text.substr(at + 1));
    const bool answers = HasDigits(front) || front.find("**") != kNowhere;
    if (last && answers) {
      return front.substr(0, front.find_last_not_of(" \n\r\t-_=") + 1);
    }
  }
  return text;
}

}  // namespace espalier
