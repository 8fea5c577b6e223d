#include "datasets/answers/find/sentence.h"

#include <algorithm>
#include <cctype>

#include "datasets/answers/find/bold_answer.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/times_dates.h"

namespace espalier {
namespace {

// Longer ones are not sentences.
constexpr size_t kLongestConcluding = 1000;

std::string_view LastSentence(std::string_view text) {
  text = TrimBlanks(text);
  if (const size_t line = text.rfind('\n'); line != kNowhere) {
    text = text.substr(line + 1);
  }
  for (size_t at = text.size(); at-- > 1;) {
    const bool stop =
        text[at - 1] == '.' || text[at - 1] == '!' || text[at - 1] == '?';
    if (stop && !Abbreviated(text, at) && Blank(text[at]) &&
        at + 1 < text.size() &&
        std::isdigit(static_cast<unsigned char>(text[at + 1])) == 0) {
      text = text.substr(at + 1);
      break;
    }
  }
  return TrimBlanks(text);
}

// Without emphasis marks and the full stop.
std::string Plain(std::string_view text) {
  text = TrimBlanks(text);
  while (!text.empty() && (text.back() == '.' || text.back() == '*' ||
                           text.back() == '!' || text.back() == ',')) {
    text.remove_suffix(1);
  }
  while (!text.empty() && (text.front() == '*' || text.front() == ':')) {
    text.remove_prefix(1);
  }
  return std::string(TrimBlanks(text));
}

// "| or C": whether another choice may be meant as well.
bool OrAnother(std::string_view behind) {
  behind.remove_prefix(
      std::min(behind.find_first_not_of(")*}"), behind.size()));
  const auto choice_behind = [behind](std::string_view joint) {
    if (!behind.starts_with(joint)) return false;
    std::string_view next = behind.substr(joint.size());
    while (next.starts_with("(") || next.starts_with("*")) {
      next.remove_prefix(1);
    }
    return !next.empty() && next[0] >= 'A' && next[0] <= 'J' &&
           (next.size() == 1 || !Letter(next[1])) &&
           !next.substr(1).starts_with(" ");
  };
  const auto& words = Phrases(Reading::kOrElse);
  return std::any_of(words.begin(), words.end(), choice_behind) ||
         choice_behind("/") || choice_behind(", ");
}

// "actually no", "or, rather, it is no": without words of a correction in
// front.
std::string_view WithoutCorrection(std::string_view clause) {
  constexpr std::string_view kOr = "or ";
  bool corrects = false;
  while (true) {
    const size_t blank = clause.find_first_not_of(" ,");
    clause.remove_prefix(std::min(blank, clause.size()));
    // "no" is the verdict.
    size_t word = BeginsIn(clause, Reading::kCorrects);
    if (word <= 2) word = clause.starts_with(kOr) ? kOr.size() : 0;
    if (word == 0 && corrects) word = BeginsIn(clause, Reading::kItIs);
    if (word == 0) return clause;
    corrects = true;
    clause.remove_prefix(word);
  }
}

// "Yes. Actually no.": whether a part of a text behind a stop is another
// verdict and nothing else.
bool TurnsToOther(std::string_view lower, std::string_view verdict) {
  constexpr size_t kLongestTurn = 200;
  if (lower.size() > kLongestTurn) return false;
  constexpr std::string_view kStops = ".!,;:\n";
  for (size_t at = lower.find_first_of(kStops); at != kNowhere;
       at = lower.find_first_of(kStops, at + 1)) {
    std::string_view clause = WithoutCorrection(lower.substr(at + 1));
    clause = TrimBlanks(clause.substr(0, clause.find_first_of(kStops)));
    const bool alike =
        IsPhrase(clause, Reading::kYesNo) == IsPhrase(verdict, Reading::kYesNo);
    if (clause != verdict && alike && IsPhrase(clause, Reading::kVerdict)) {
      return true;
    }
  }
  return false;
}

// "Yes. No.": whether a sentence of the text begins with another verdict.
bool OtherVerdict(std::string_view lower, std::string_view verdict) {
  if (TurnsToOther(lower, verdict)) return true;
  for (const std::string_view word : Phrases(Reading::kVerdict)) {
    if (word == verdict) continue;
    for (const std::string_view stop : {". ", "! ", ", ", "\n"}) {
      const std::string begin = std::string(stop) + std::string(word);
      for (const char end : {'.', '!', ','}) {
        if (lower.find(begin + end) != kNowhere) return true;
      }
    }
  }
  return false;
}

// "Yes, if n is even", "No. 5": whether what follows a verdict makes it hold
// only in some case, or no verdict.
bool DependsOrNumbers(std::string_view behind) {
  constexpr std::string_view kCases[] = {
      "if ",       "provided ", "unless ",     "when ",      "whenever ",
      "only if ",  "only when", "as long as ", "assuming ",  "given that ",
      "but only ", "except ",   "depending ",  "in general "};
  const bool stop = behind.starts_with(".");
  while (!behind.empty() && !Letter(behind[0]) && !Digit(behind[0])) {
    behind.remove_prefix(1);
  }
  const bool number = stop && !behind.empty() &&
                      behind.find_first_not_of("0123456789.") == kNowhere;
  return number || (stop && behind.starts_with("of ")) ||
         std::any_of(std::begin(kCases), std::end(kCases),
                     [behind](std::string_view one) {
                       return behind.starts_with(one);
                     });
}

// What a verb states, without introductory words and without the text that
// continues behind a verdict: "either 2 or 5", "false: take $x = 0$".
std::string_view WithoutLead(std::string_view said) {
  for (const std::string_view word : Phrases(Reading::kNamely)) {
    if (said.starts_with(word)) said.remove_prefix(word.size());
  }
  for (const std::string_view word : Phrases(Reading::kVerdict)) {
    if (said.starts_with(word) &&
        (said.substr(word.size()).starts_with(": ") ||
         said.substr(word.size()).starts_with(" - ") ||
         said.substr(word.size()).starts_with("; ") ||
         said.substr(word.size()).starts_with(" \u2014 "))) {
      return said.substr(0, word.size());
    }
  }
  return said;
}

// "The Blue Nile": whether all words but the first begin with capitals.
bool OnlyCapitals(std::string_view sentence) {
  size_t words = 0;
  for (size_t at = sentence.find(' '); at != kNowhere;
       at = sentence.find(' ', at + 1)) {
    if (at + 1 == sentence.size()) break;
    if (sentence[at + 1] < 'A' || sentence[at + 1] > 'Z') return false;
    ++words;
  }
  return words > 1;
}

// The one that a sentence names as having the most of something, or as having
// done it: "Evelyn has the greatest speed", "it is Maria who".
std::string SubjectNamed(std::string_view sentence) {
  // "Maria finished first, ahead of both Tom and Jenny"
  for (size_t at = sentence.find(", "); at != kNowhere;
       at = sentence.find(", ", at + 1)) {
    const std::string behind = PlainLower(sentence.substr(at + 2));
    if (BeginsIn(behind, Reading::kAheadOf) > 0 &&
        !Mentions(behind, Reading::kNamesOther) &&
        !Mentions(behind, Reading::kDenies)) {
      sentence = sentence.substr(0, at);
      break;
    }
  }
  const size_t comma = sentence.rfind(", ");
  std::string_view clause =
      comma == kNowhere ? sentence : sentence.substr(comma + 2);
  clause.remove_prefix(StartsWith(Lower(clause.substr(0, 10)), Reading::kSo));
  const auto name_at = [](std::string_view text) {
    size_t end = 0;
    while (end < text.size() && Letter(text[end])) ++end;
    const bool name = end > 1 && text[0] >= 'A' && text[0] <= 'Z';
    if (!name) return std::string_view();
    // "Plan B"
    const bool more = end + 2 < text.size() && text[end] == ' ' &&
                      text[end + 2] == ' ' &&
                      ((text[end + 1] >= 'A' && text[end + 1] <= 'Z') ||
                       Digit(text[end + 1]));
    if (more) return text.substr(0, end + 2);
    // "Ann Lee"
    while (end + 2 < text.size() && text[end] == ' ' && text[end + 1] >= 'A' &&
           text[end + 1] <= 'Z' && Letter(text[end + 2])) {
      ++end;
      while (end < text.size() && Letter(text[end])) ++end;
    }
    return text.substr(0, end);
  };
  const std::string plain = Lower(sentence);
  for (const std::string_view cleft : Phrases(Reading::kCleft)) {
    const size_t at = plain.rfind(cleft);
    if (at == kNowhere) continue;
    const std::string_view name = name_at(sentence.substr(at + cleft.size()));
    const std::string_view rest = sentence.substr(
        std::min(sentence.size(), at + cleft.size() + name.size()));
    if (!name.empty() && StartsWith(rest, Reading::kRelative) > 0) {
      return std::string(name);
    }
  }
  for (const std::string_view article : {"the ", "The "}) {
    if (clause.starts_with(article)) clause.remove_prefix(article.size());
  }
  const std::string_view name = name_at(clause);
  if (name.empty()) return {};
  std::string rest = Lower(clause.substr(name.size()));
  while (rest.ends_with(".") || rest.ends_with("!")) rest.pop_back();
  // "Ann | finished first"
  if (rest.starts_with(" ") &&
      IsPhrase(std::string_view(rest).substr(1), Reading::kWins)) {
    return std::string(name);
  }
  // Only "has the greatest speed", "orbits closest to it".
  if (rest.ends_with("?") || Mentions(rest, Reading::kNotMost)) return {};
  if (!rest.starts_with(" ")) return {};
  if (BeginsIn(std::string_view(rest).substr(1), Reading::kWins) > 0 &&
      rest.find(" and ") == kNowhere && rest.find(" if ") == kNowhere) {
    return std::string(name);
  }
  const size_t verb = rest.find(' ', 1);
  if (verb == kNowhere) return {};
  std::string_view what = std::string_view(rest).substr(verb + 1);
  if (what.starts_with("the ")) what.remove_prefix(4);
  const std::string_view word = what.substr(0, what.find(' '));
  // "is cheaper by $5", "is the cheaper one"
  const bool comparative =
      word.size() > 4 && word.ends_with("er") &&
      IsPhrase(std::string_view(rest).substr(1, verb - 1), Reading::kIs) &&
      rest.find(" than ") == kNowhere && rest.find(" and ") == kNowhere &&
      !IsPhrase(word, Reading::kNoComparative);
  if (comparative || (word.size() > 4 && word.ends_with("est")) ||
      IsPhrase(word, Reading::kMost)) {
    return std::string(name);
  }
  return {};
}

// "the 29th of May, 1953, | a few days before the coronation": the date with
// its year in front of a comma, behind which no other one follows.
std::string DateInFront(std::string_view text) {
  for (size_t comma = text.find(", "); comma != kNowhere;
       comma = text.find(", ", comma + 1)) {
    const std::string_view front = text.substr(0, comma);
    const bool year =
        comma > 4 && std::all_of(front.end() - 4, front.end(), Digit);
    if (!year || DateOf(front).empty()) continue;
    const std::string behind = PlainLower(text.substr(comma));
    const bool other =
        HasDigits(behind) || Mentions(behind, Reading::kNamesOther) ||
        Mentions(behind, Reading::kTurnsBack) ||
        Mentions(behind, Reading::kDenies) ||
        Mentions(behind, Reading::kMaybe) || Mentions(behind, Reading::kWrong);
    return other ? std::string() : std::string(front);
  }
  return {};
}

// "The other one is": whether a statement is about another thing than the one
// that is asked for.
bool AboutAnother(std::string_view lower) {
  return Mentions(lower, Reading::kOthers) || lower.starts_with("another ");
}

// " - it sinks", "\n\nIt sinks": whether a text behind a verdict in bold type
// starts something new, rather than to say what it is a verdict on.
bool BeginsAnew(std::string_view behind) {
  if (behind.starts_with("\n")) return true;
  behind = TrimBlanks(behind);
  return behind.starts_with("-") || behind.starts_with("(") ||
         (!behind.empty() && (static_cast<unsigned char>(behind[0]) >= 0x80 ||
                              (behind[0] >= 'A' && behind[0] <= 'Z')));
}

}  // namespace

std::vector<std::string> SaidInWords(std::string_view text) {
  std::vector<std::string> out;
  // "No, it is not."
  std::string first = Lower(TrimBlanks(text).substr(0, 10));
  std::erase(first, '*');
  // "**No** - it sinks."
  const bool marked = TrimBlanks(text).starts_with("**");
  for (const std::string_view word : Phrases(Reading::kVerdict)) {
    const std::string bold = "**" + std::string(word) + "**";
    const bool alone = marked &&
                       Lower(TrimBlanks(text).substr(0, bold.size())) == bold &&
                       BeginsAnew(TrimBlanks(text).substr(bold.size()));
    const bool goes_on =
        first.size() > word.size() && first.starts_with(word) &&
        (first[word.size()] == ',' || first[word.size()] == '.' ||
         first[word.size()] == '!' ||
         std::string_view(first).substr(word.size()).starts_with(" \u2014") ||
         std::string_view(first).substr(word.size()).starts_with(" \u2013") ||
         std::string_view(first).substr(word.size()).starts_with(" - ") ||
         // "No it isn't."
         (IsPhrase(word, Reading::kYesNo) &&
          (first[word.size()] == ':' ||
           first.substr(word.size()).starts_with(" it ") ||
           first.substr(word.size()).starts_with(" they "))));
    if (goes_on || alone) {
      const std::string whole = Lower(TrimBlanks(text));
      const size_t end = whole.find(word) + word.size();
      if (OtherVerdict(Lower(text), word) ||
          DependsOrNumbers(std::string_view(whole).substr(end))) {
        return out;
      }
      return {std::string(word)};
    }
  }
  std::string_view sentence = LastSentence(text);
  if (sentence.size() > kLongestConcluding) return out;
  std::string lower = Lower(sentence);
  // "Since 3 + 4 = 7, yes, it is."
  for (const std::string_view word : Phrases(Reading::kYesNo)) {
    // "The answer to the question is yes, they are."
    for (const std::string_view joint : {", ", "; ", " is "}) {
      const std::string said = std::string(joint) + std::string(word);
      if (lower.find(said + ",") != kNowhere || lower.ends_with(said + ".")) {
        out.emplace_back(word);
      }
    }
  }
  // "Since it is odd, ..., so there is none": the conclusion of a reason.
  if (const size_t so = lower.rfind(", so ");
      so != kNowhere && Mentions(lower.substr(0, so), Reading::kReason)) {
    sentence = sentence.substr(so + 5);
    lower.erase(0, so + 5);
  }
  // A reason after the answer is dropped.
  for (const std::string_view reason : Phrases(Reading::kReason)) {
    if (const size_t at = lower.find(reason); at != kNowhere && at > 0) {
      sentence = sentence.substr(0, at);
      lower.resize(at);
    }
  }
  if (const size_t close = sentence.rfind("**");
      close != kNowhere && close > 2) {
    const size_t open = sentence.rfind("**", close - 1);
    if (open != kNowhere && open + 2 < close && open > 0) {
      const std::string_view bold = sentence.substr(open + 2, close - open - 2);
      if (!Blank(bold.front()) && !Blank(bold.back()) && bold.back() != ':' &&
          !HasRival(sentence, open, close + 2) &&
          EndsIn(PlainLower(WithoutMarks(sentence.substr(0, open))),
                 Reading::kNotThis) == 0 &&
          // "Although it is **a**, this is b."
          (BeginsIn(lower, Reading::kSubordinate) == 0 ||
           sentence.find(", ", close) == kNowhere)) {
        out.push_back(Plain(bold));
      }
    }
  }
  // "The next one is blue; the previous one was red."
  if (const size_t joint = lower.find("; ");
      joint != kNowhere && BeginsIn(std::string_view(lower).substr(joint + 2),
                                    Reading::kAnotherOne) > 0) {
    sentence = sentence.substr(0, joint);
    lower.resize(joint);
  }
  size_t behind = kNowhere;
  for (const std::string_view verb : Phrases(Reading::kVerb)) {
    const size_t at = lower.rfind(verb);
    if (at == kNowhere) continue;
    const size_t end = at + verb.size();
    if (behind == kNowhere || end > behind) behind = end;
  }
  const std::string lead = PlainLower(
      WithoutMarks(sentence.substr(0, behind == kNowhere ? 0 : behind)));
  const bool unknown =
      OfUnknown(std::string_view(lead).substr(ClauseStart(lead)));
  // "will take 12 days for its height to be 600"
  const bool purpose =
      lead.ends_with(" to be") && std::any_of(lead.begin(), lead.end(), Digit);
  // "though some argue it's b"
  const std::string_view clause =
      std::string_view(lead).substr(lead.rfind(", ") + 1);
  const bool others = BeginsIn(TrimBlanks(clause), Reading::kTurnsBack) > 0 &&
                      Mentions(clause, Reading::kAttributes);
  if (behind != kNowhere && !unknown && !purpose && !others &&
      !lower.ends_with("?") &&
      StanceAt(sentence, behind, sentence.size()) == Stance::kStates) {
    std::string said = Plain(WithoutLead(sentence.substr(behind)));
    const std::string folded = Lower(said);
    // "is on Saturday"
    for (const std::string_view place : Phrases(Reading::kWhen)) {
      if (!said.starts_with(place)) continue;
      if (place != "on " && AboutAnother(lead)) continue;
      const std::string rest = Plain(std::string_view(said).substr(3));
      const bool day = place == "on " && !DateOf(rest).empty();
      if (day || std::all_of(rest.begin(), rest.end(), Letter)) {
        out.push_back(rest);
      }
    }
    // "Statement 1 is true, statement 2 is false" states two things.
    // "It is false that the statement is false."
    const bool second = IsPhrase(folded, Reading::kTrueFalse) &&
                        (lower.find("true") < behind ||
                         lower.find("false") < behind || AboutAnother(lead));
    // "is blue, with 7 marbles", "are 12 and 18, which add up to 30"
    for (const std::string_view joint : {", with ", ", which "}) {
      if (const size_t with = said.find(joint); with != std::string::npos) {
        out.push_back(said.substr(0, with));
      }
    }
    // "is two days after Monday: Wednesday"
    if (const size_t colon = said.rfind(": "); colon != std::string::npos) {
      const std::string word = said.substr(colon + 2);
      if (std::all_of(word.begin(), word.end(), Letter)) out.push_back(word);
    }
    // "is increasing on that interval"
    if (const size_t word = std::min(said.find(' '), said.size());
        word > 3 && word < said.size() &&
        StartsWith(std::string_view(folded).substr(word),
                   Reading::kWhereItHolds) > 0 &&
        folded.find(" and ") == kNowhere && folded.find(',') == kNowhere &&
        std::all_of(said.begin(),
                    said.begin() + static_cast<std::ptrdiff_t>(word), Letter)) {
      out.push_back(said.substr(0, word));
    }
    // "is neither even nor odd"
    if (folded.starts_with("neither ") && folded.find(" nor ") != kNowhere) {
      out.emplace_back("neither");
    }
    // "is an odd function"
    if (const size_t noun = EndsIn(folded, Reading::kThing);
        noun > 0 && noun < folded.size()) {
      std::string kind = Plain(said.substr(0, said.size() - noun));
      for (const std::string_view article : {"a ", "an ", "the "}) {
        if (kind.starts_with(article)) kind.erase(0, article.size());
      }
      if (std::all_of(kind.begin(), kind.end(), Letter)) {
        out.push_back(std::move(kind));
      }
    }
    if (!second) out.push_back(std::move(said));
  }
  for (const std::string_view word : Phrases(Reading::kTherefore)) {
    if (!lower.starts_with(word) || lower.size() <= word.size() ||
        Letter(lower[word.size()])) {
      continue;
    }
    std::string_view rest = sentence.substr(word.size());
    while (!rest.empty() && (rest[0] == ',' || rest[0] == ' ')) {
      rest.remove_prefix(1);
    }
    out.push_back(Plain(rest));
  }
  if (std::string name = SubjectNamed(sentence);
      !name.empty() && Affirms(sentence)) {
    out.push_back(std::move(name));
  }
  // "It was adopted on July 4, 1776.", "reaches it at 14:20"
  for (const std::string_view place : Phrases(Reading::kOnAt)) {
    const size_t at = lower.rfind(place);
    if (at == kNowhere || !Affirms(sentence)) continue;
    std::string_view before = std::string_view(lower).substr(0, at);
    if (const size_t comma = before.rfind(", "); comma != kNowhere) {
      before.remove_prefix(comma + 2);
    }
    const bool another = std::any_of(before.begin(), before.end(), Digit) ||
                         Mentions(before, Reading::kOtherTime);
    if (another) continue;
    const std::string when = Plain(sentence.substr(at + place.size()));
    std::string front = when.substr(0, when.find(", "));
    if (front.ends_with(" sharp")) front.resize(front.size() - 6);
    std::string day = Lower(when);
    if (day.starts_with("a ")) day.erase(0, 2);
    if (IsPhrase(day, Reading::kDay)) {
      out.push_back(std::move(day));
    } else if (!DateOf(when).empty())
      out.push_back(when);
    else if (std::string date = DateInFront(when);
             !date.empty() && !Mentions(before, Reading::kRelatesTo))
      out.push_back(std::move(date));
    else if (!TimeOfDay(front).empty())
      out.push_back(front);
  }
  // "The statement isn't true."
  std::string_view whole = lower;
  while (whole.ends_with(".") || whole.ends_with("!")) whole.remove_suffix(1);
  if (EndsWith(whole, Reading::kUntrue) > 0 &&
      Affirms(
          whole.substr(0, whole.size() - EndsWith(whole, Reading::kUntrue)))) {
    out.emplace_back("false");
  }
  // "The system has no solution."
  const std::string plain = Lower(Plain(sentence));
  for (const std::string_view words : Phrases(Reading::kMeans)) {
    if (words.find(' ') == kNowhere ||
        !plain.ends_with(" " + std::string(words))) {
      continue;
    }
    const size_t at = plain.size() - words.size();
    if (!Mentions(std::string_view(plain).substr(0, at), Reading::kDenies) &&
        StanceAt(plain, 0, 0) != Stance::kOpen &&
        Affirms(std::string_view(plain).substr(0, at))) {
      out.emplace_back(words);
    }
  }
  // "The series converges."; not "It was Ann, who married Sara."
  const bool clauses =
      lower.find(',') != kNowhere || Holds(lower, Reading::kRelative);
  if ((behind == kNowhere || !clauses) &&
      std::count(sentence.begin(), sentence.end(), ' ') < 6 &&
      StartsWith(lower, Reading::kSubject) > 0 &&
      !Mentions(lower, Reading::kDenies) && !AboutAnother(lower) &&
      (lower.find(" by ") == kNowhere ||
       (lower.find(" will be ") == kNowhere &&
        !Mentions(lower, Reading::kNotYet)))) {
    std::string word = Plain(sentence.substr(sentence.rfind(' ') + 1));
    // "The Swiss Alps" and "the left lung" are names, "It is negative seven."
    // a number; "the day after Sunday, Monday".
    const std::string last = Lower(word);
    const bool verb = behind != kNowhere || lower.starts_with("it ") ||
                      IsPhrase(last, Reading::kDoes) ||
                      IsPhrase(last, Reading::kDay) ||
                      IsPhrase(last, Reading::kTrueFalse) ||
                      Mentions(lower, Reading::kRelatesTo) ||
                      lower.find(" of " + last) != kNowhere ||
                      lower.find(", " + last) != kNowhere;
    // "It is false that the statement is false."
    const auto stands_before = [&lower](std::string_view verdict) {
      const size_t at = lower.find(verdict);
      return at != kNowhere && at + verdict.size() + 2 < lower.size();
    };
    const bool twice = IsPhrase(last, Reading::kTrueFalse) &&
                       (stands_before("true") || stands_before("false"));
    if (verb && !twice && !OnlyCapitals(sentence) && word.size() > 2 &&
        std::all_of(word.begin(), word.end(), Letter) &&
        NumberInWords(Lower(word)).empty()) {
      out.push_back(std::move(word));
    }
  }
  std::erase(out, "");
  return out;
}

char ChoiceNamed(std::string_view text) {
  if (text.size() > 4000) text = text.substr(text.size() - 4000);
  const std::string lower = Lower(text);
  char found = 0;
  const auto note = [&found](char letter) {
    if (found != 0 && found != letter) return false;
    found = letter;
    return true;
  };
  const auto choice = [](char c) { return c >= 'A' && c <= 'J'; };
  for (size_t at = 0; at < text.size(); ++at) {
    const char before = at > 0 ? text[at - 1] : ' ';
    const char after = at + 1 < text.size() ? text[at + 1] : ' ';
    // "option (c)"
    const bool small =
        text[at] >= 'a' && text[at] <= 'j' && before == '(' && after == ')' &&
        EndsIn(TrimBlanks(std::string_view(lower).substr(0, at - 1)),
               Reading::kOption) > 0;
    if (!choice(text[at]) && !small) continue;
    const char letter =
        small ? static_cast<char>(text[at] - 'a' + 'A') : text[at];
    if (Letter(before) || Letter(after)) continue;
    size_t open = at;
    while (open > 0 && (text[open - 1] == '(' || text[open - 1] == '*' ||
                        text[open - 1] == '{' || text[open - 1] == ' ')) {
      --open;
    }
    const std::string_view lead = std::string_view(lower).substr(0, open);
    const std::string_view rest = std::string_view(lower).substr(at + 1);
    const std::string_view verdict = TrimBlanks(rest.substr(0, 40));
    if (BeginsIn(verdict, Reading::kChoiceDenied) > 0 ||
        EndsIn(TrimBlanks(lead), Reading::kNotThis) > 0) {
      continue;
    }
    // "choose B as a wrong example"
    if (verdict.starts_with("as ") &&
        BeginsIn(verdict.substr(3), Reading::kChoiceAsOther) > 0) {
      continue;
    }
    // "leaves B, which fails as well"
    const bool goes_on = verdict.starts_with(", which ") ||
                         verdict.starts_with("; but ") ||
                         verdict.starts_with(", but ");
    if (goes_on && (Mentions(verdict, Reading::kDenies) ||
                    Mentions(verdict, Reading::kWrong))) {
      continue;
    }
    const bool named = BeginsIn(verdict, Reading::kChoiceTaken) > 0 ||
                       EndsIn(lead, Reading::kChoice) > 0;
    if ((named || (before == '(' && after == ')')) && !note(letter)) {
      return 0;
    }
    // "I'd go with A or C."
    if (named && OrAnother(text.substr(at + 1))) return 0;
  }
  return found;
}

std::string WordsInFont(std::string_view text) {
  for (const std::string_view font : {"\\text{", "\\mbox{", "\\textrm{"}) {
    if (!text.starts_with(font) || text.find('}') != text.size() - 1) continue;
    const std::string_view inside =
        text.substr(font.size(), text.size() - font.size() - 1);
    const bool words = std::all_of(inside.begin(), inside.end(), [](char c) {
      return Letter(c) || std::string_view(" ,.").find(c) != kNowhere;
    });
    const auto blanks = std::count(inside.begin(), inside.end(), ' ');
    // "The square of it is even" states nothing of it.
    const std::string lower = PlainLower(inside);
    const bool states = words && blanks > 1 &&
                        Mentions(lower, Reading::kCopula) &&
                        !Mentions(lower, Reading::kRelatesTo) &&
                        lower.find(" of ") == std::string::npos;
    if (HasDigits(inside) || states) return std::string(inside);
  }
  return {};
}

std::string_view ChoiceLeft(std::string_view text) {
  constexpr size_t kLongestLeft = 200;
  text = TrimBlanks(text);
  std::string_view sentence = text.substr(LastSentenceStart(text));
  // "Tom wrote: I choose B."
  if (TrimBlanks(text.substr(0, text.size() - sentence.size()))
          .ends_with(":")) {
    return {};
  }
  // "So I choose: B) Oslo."
  const std::string lower = PlainLower(sentence);
  if (sentence.size() > kLongestLeft || lower.ends_with("?")) return {};
  const auto letters_in = [](std::string_view part) {
    std::string found;
    for (size_t at = 0; at < part.size(); ++at) {
      const bool alone = (at == 0 || !Letter(part[at - 1])) &&
                         (at + 1 == part.size() || !Letter(part[at + 1]));
      if (alone && part[at] >= 'A' && part[at] <= 'J') found += part[at];
    }
    return found;
  };
  const auto letter_at = [](std::string_view part) {
    part.remove_prefix(std::min(part.find_first_not_of(" :*_(,"), part.size()));
    part.remove_prefix(StartsWith(Lower(part.substr(0, 10)), Reading::kOption));
    part.remove_prefix(std::min(part.find_first_not_of(" *_("), part.size()));
    const bool letter = !part.empty() && part[0] >= 'A' && part[0] <= 'J' &&
                        (part.size() == 1 || !Letter(part[1]));
    return letter ? part : std::string_view();
  };
  if (const size_t leaves = BeginsIn(lower, Reading::kLeavesChoice)) {
    const std::string_view named = letter_at(sentence.substr(leaves));
    if (named.empty()) return {};
    const std::string tail = PlainLower(named.substr(1));
    // "leaves A out" says the opposite.
    const std::string_view next = std::string_view(tail).substr(
        std::min(tail.find_first_not_of("*_"), tail.size()));
    const bool ends = next.empty() || next.starts_with(" as ") ||
                      std::string_view(").:,!").find(next[0]) != kNowhere;
    const bool other = next.starts_with(" as ") &&
                       BeginsIn(next.substr(4), Reading::kChoiceAsOther) > 0;
    const bool turns =
        !ends || other || !letters_in(named.substr(1)).empty() ||
        Mentions(tail, Reading::kDenies) || Mentions(tail, Reading::kMaybe) ||
        Mentions(tail, Reading::kWrong) || Mentions(tail, Reading::kNamesOther);
    return turns ? std::string_view() : named.substr(0, 1);
  }
  // "Therefore only D remains."
  constexpr std::string_view kOnlyOne = "only ";
  size_t only = BeginsIn(lower, Reading::kTherefore);
  only = std::min(lower.find_first_not_of(" ,", only), lower.size());
  if (std::string_view(lower).substr(only).starts_with(kOnlyOne)) {
    const std::string_view named =
        letter_at(sentence.substr(only + kOnlyOne.size()));
    std::string rest = named.empty() ? "" : PlainLower(named.substr(1));
    while (rest.ends_with(".") || rest.ends_with("!")) rest.pop_back();
    rest = std::string(
        rest.substr(std::min(rest.find_first_not_of(" *_)"), rest.size())));
    if (IsPhrase(rest, Reading::kRemains)) return named.substr(0, 1);
  }
  // "It cannot be A, B or C, so D."
  const size_t comma = lower.rfind(", ");
  if (comma == kNowhere || BeginsIn(lower, Reading::kImagines) > 0) return {};
  const size_t so =
      StartsWith(std::string_view(lower).substr(comma + 2), Reading::kSo);
  if (so == 0) return {};
  const std::string_view named = letter_at(sentence.substr(comma + 2 + so));
  const std::string_view front = sentence.substr(0, comma);
  const std::string others = letters_in(front);
  if (named.empty() || named.find_first_not_of(".!*) ", 1) != kNowhere ||
      others.empty() || others.find(named[0]) != std::string::npos) {
    return {};
  }
  const bool denied =
      Mentions(std::string_view(lower).substr(0, comma), Reading::kDenies);
  return denied ? named.substr(0, 1) : std::string_view();
}

namespace {

// Whether a text already calls something the answer.
bool CallsAnswer(std::string_view text) {
  return PlainLower(text).find("answer") != std::string::npos;
}

}  // namespace

std::string_view ConcludedInWords(std::string_view text) {
  constexpr size_t kLongestConcluded = 120;
  text = TrimBlanks(text);
  const size_t start = LastSentenceStart(text);
  std::string_view sentence = TrimBlanks(text.substr(start));
  const std::string lower = PlainLower(sentence);
  const size_t word = BeginsIn(lower, Reading::kTherefore);
  if (start == 0 || word == 0 || sentence.size() > kLongestConcluded ||
      CallsAnswer(text.substr(0, start)) || HasDigits(sentence) ||
      sentence.find_first_of("$\\=?") != kNowhere ||
      Mentions(lower, Reading::kMaybe) || Mentions(lower, Reading::kOnlyIf) ||
      Mentions(lower, Reading::kOtherTry) ||
      Mentions(lower, Reading::kNamesOther) ||
      Mentions(lower, Reading::kAttributes)) {
    return {};
  }
  sentence.remove_prefix(word);
  sentence.remove_prefix(
      std::min(sentence.find_first_not_of(" ,"), sentence.size()));
  return sentence;
}

std::string_view FinalLine(std::string_view text) {
  constexpr size_t kLongestFinal = 60;
  text = TrimBlanks(text);
  const size_t line = text.rfind('\n');
  if (line == kNowhere) return {};
  const std::string_view last = TrimBlanks(text.substr(line));
  const size_t colon = last.find(": ");
  if (colon == kNowhere || last.size() > kLongestFinal ||
      CallsAnswer(text.substr(0, line))) {
    return {};
  }
  const std::string label = PlainLower(WithoutMarks(last.substr(0, colon)));
  for (const Phrase& row : Rows(Reading::kResultLabel)) {
    if (row.meaning == "final" && label == row.pattern) {
      return TrimBlanks(last.substr(colon + 1));
    }
  }
  return {};
}

}  // namespace espalier
