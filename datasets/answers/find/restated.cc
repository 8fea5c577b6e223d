#include "datasets/answers/find/restated.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr size_t kLongestRestated = 300;

bool Capital(std::string_view word) {
  return !word.empty() && word[0] >= 'A' && word[0] <= 'Z';
}

std::string_view WithoutEnd(std::string_view text) {
  text = TrimBlanks(text);
  while (!text.empty() &&
         std::string_view(".!*").find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);
  }
  return TrimBlanks(text);
}

// Whether a text has a word of several letters that is no command.
bool HasWordsIn(std::string_view text) {
  size_t run = 0;
  bool command = false;
  for (const char c : text) {
    if (!Letter(c)) command = c == '\\';
    run = Letter(c) ? run + 1 : 0;
    if (run > 1 && !command) return true;
  }
  return false;
}

// Whether a text takes something back, or names another one.
bool TurnsAway(std::string_view lower) {
  return Mentions(lower, Reading::kDenies) ||
         Mentions(lower, Reading::kDoubts) ||
         Mentions(lower, Reading::kMaybe) || Mentions(lower, Reading::kWrong) ||
         Mentions(lower, Reading::kOtherTry) ||
         Mentions(lower, Reading::kNamesOther);
}

// "a Polish physicist", not "the king was Tom": an article with a noun, whose
// verbs stand behind a relative pronoun only.
bool IsNounPhrase(std::string_view lower) {
  const std::vector<std::string> words = BareWords(lower);
  if (words.size() < 2 || !IsPhrase(words[0], Reading::kArticle)) return false;
  for (const std::string& word : words) {
    if (IsPhrase(word, Reading::kSaysMore)) return true;
    if (IsPhrase(word, Reading::kCopula) ||
        IsPhrase(word, Reading::kAuxiliary) || word == ",") {
      return word == ",";
    }
  }
  return true;
}

// "| , who served from 1789", "| (a Polish physicist)"; `whole`: also with what
// stands in front.
bool SaysMore(std::string_view rest, bool bracket, std::string_view whole) {
  rest = WithoutEnd(rest);
  const std::string lower = PlainLower(rest);
  if (!HasLetters(rest) || TurnsAway(lower)) return false;
  for (size_t at = lower.find("and "); at != kNowhere;
       at = lower.find("and ", at + 1)) {
    const bool word = at > 0 && !Letter(lower[at - 1]);
    const bool comma = at > 1 && lower[at - 2] == ',';
    if (word && (comma || Capital(rest.substr(at + 4)))) return false;
  }
  if (bracket) {
    // "Oxygen (O)"
    const bool sign = !WithoutShortForm(whole).empty();
    return rest.ends_with(")") && (sign || !Capital(rest));
  }
  return BeginsIn(lower, Reading::kSaysMore) > 0 || IsNounPhrase(lower);
}

// "All of the other options are wrong."
bool RulesOutOthers(std::string_view lower) {
  const std::vector<std::string> words = BareWords(lower);
  size_t at = 0;
  while (at < words.size() && (IsPhrase(words[at], Reading::kEveryOne) ||
                               IsPhrase(words[at], Reading::kArticle) ||
                               words[at] == "none" || words[at] == "of")) {
    ++at;
  }
  return at < words.size() && IsPhrase(words[at], Reading::kOthers) &&
         (Mentions(lower, Reading::kWrong) ||
          Mentions(lower, Reading::kDenies));
}

}  // namespace

std::string_view WithoutClause(std::string_view text) {
  text = TrimBlanks(text);
  if (text.size() > kLongestRestated) return {};
  const size_t start = LastSentenceStart(text);
  const std::string_view sentence = text.substr(start);
  // "In Paris, the king died."; "The candidates are Tom, who is tall, and ..."
  const std::string lower = PlainLower(sentence);
  if (BeginsIn(lower, Reading::kSubordinate) > 0) return {};
  size_t from = 0;
  for (size_t at = 1; at + 2 < sentence.size(); ++at) {
    size_t joint = 0;
    for (const std::string_view mark :
         {", ", " (", " - ", " \u2013 ", " \u2014 ", "\u2014"}) {
      if (joint == 0 && sentence.substr(at).starts_with(mark)) {
        joint = mark.size();
      }
    }
    if (joint == 0) continue;
    const std::string front = PlainLower(sentence.substr(0, at));
    // "The notes, however, were written by Ann Lee, who ..."
    if (EndsIn(front, Reading::kAside) > 0) from = at + joint;
    if (from == at + joint ||
        BeginsIn(std::string_view(lower).substr(at + joint), Reading::kAside) >
            0) {
      continue;
    }
    // "were written by Ann Lee"
    const size_t by = from > 0 ? front.rfind(" by ") : kNowhere;
    const bool agent = by != kNowhere && by > from &&
                       Capital(sentence.substr(by + 4)) &&
                       Affirms(sentence.substr(0, at));
    if (!agent && Mentions(front, Reading::kSeveral)) return {};
    // "The train from Rome" states nothing.
    const bool alone =
        Capital(sentence) && std::count(front.begin(), front.end(), ' ') < 3;
    if (!alone && front.find(": ") == std::string::npos &&
        !Holds(front, Reading::kVerb)) {
      return {};
    }
    if (SaysMore(sentence.substr(at + joint), sentence[at + 1] == '(',
                 sentence)) {
      if (agent) from = by + 4;
      return from == 0 ? text.substr(0, start + at)
                       : sentence.substr(from, at - from);
    }
  }
  return {};
}

std::string_view WithoutRole(std::string_view text) {
  constexpr size_t kLongest = 100;
  text = WithoutEnd(text);
  if (text.size() > kLongest) return {};
  // The name, from the end.
  size_t name = text.size();
  while (name > 0) {
    const size_t blank = text.substr(0, name - 1).rfind(' ');
    if (blank == kNowhere || !Capital(text.substr(blank + 1))) break;
    name = blank + 1;
    const std::string_view front = TrimBlanks(text.substr(0, name));
    const std::string lower = PlainLower(front);
    const size_t role = EndsIn(lower, Reading::kRole);
    if (role == 0) continue;
    std::vector<std::string> words =
        BareWords(std::string_view(lower).substr(0, lower.size() - role));
    const size_t verb = BeginsIn(lower, Reading::kItIs);
    if (verb > 0) {
      words = BareWords(std::string_view(lower).substr(
          verb, lower.size() - role - std::min(verb, lower.size() - role)));
    }
    // "her | older | brother"
    if (words.size() > 1 && IsPhrase(words[1], Reading::kAge)) {
      words.erase(words.begin() + 1);
    }
    // "The first one was | astronaut Ann Lee"
    if (!words.empty() && IsPhrase(words.back(), Reading::kIs)) {
      return TurnsAway(lower) || Mentions(lower, Reading::kRelatesTo)
                 ? std::string_view()
                 : text.substr(name);
    }
    const bool owned =
        words.size() == 1 && (IsPhrase(words[0], Reading::kOwner) ||
                              IsPhrase(words[0], Reading::kArticle));
    return owned ? text.substr(name) : std::string_view();
  }
  return {};
}

std::string_view BehindQuestion(std::string_view text) {
  constexpr size_t kLongestAnswer = 80;
  text = TrimBlanks(text);
  const size_t mark = text.rfind('?');
  if (text.size() > kLongestRestated || mark == kNowhere) return {};
  const std::string_view rest = TrimBlanks(text.substr(mark + 1));
  const std::string_view front = text.substr(0, mark);
  const std::string asked =
      PlainLower(TrimBlanks(front.substr(LastSentenceStart(front))));
  if (rest.size() > kLongestAnswer || !Letter(asked.empty() ? ' ' : asked[0]) ||
      BeginsIn(asked, Reading::kAsksFor) == 0 || TurnsAway(asked)) {
    return {};
  }
  return rest;
}

std::string_view WithoutOthers(std::string_view text) {
  text = TrimBlanks(text);
  if (text.size() > kLongestRestated) return {};
  const size_t part = text.rfind("; ");
  for (const size_t start :
       {LastSentenceStart(text), part == kNowhere ? 0 : part + 2}) {
    std::string_view front = TrimBlanks(text.substr(0, start));
    if (front.ends_with(";")) front.remove_suffix(1);
    if (!front.empty() && RulesOutOthers(PlainLower(text.substr(start)))) {
      return front;
    }
  }
  return {};
}

std::string_view BehindCorrection(std::string_view text) {
  constexpr size_t kLongest = 60;
  text = WithoutEnd(text);
  if (text.size() > kLongest) return {};
  const size_t word = BeginsIn(PlainLower(text), Reading::kCorrects);
  // "no" is a verdict itself.
  if (word <= 2) return {};
  std::string_view rest = text.substr(word);
  rest.remove_prefix(std::min(rest.find_first_not_of(" ,:"), rest.size()));
  return IsPhrase(Lower(rest), Reading::kVerdict) ? rest : std::string_view();
}

std::string_view LeftOver(std::string_view gold, std::string_view text) {
  constexpr size_t kFar = 6;
  text = WithoutEnd(text);
  gold = TrimBlanks(gold);
  if (text.size() > kLongestRestated || gold.empty()) return {};
  const std::vector<std::string> words =
      BareWords(text.substr(LastSentenceStart(text)));
  const std::vector<std::string> name = BareWords(gold);
  // "The answer is A. All options but B are wrong." is no clear answer.
  if (words.empty() || name.size() != 1 || LastSentenceStart(text) > 0 ||
      !IsPhrase(words[0], Reading::kEveryOne) ||
      Mentions(PlainLower(text), Reading::kOthers)) {
    return {};
  }
  for (size_t at = 1; at < words.size() && at < kFar; ++at) {
    if (!IsPhrase(words[at], Reading::kExcept)) continue;
    ++at;
    while (at < words.size() && (IsPhrase(words[at], Reading::kOption) ||
                                 words[at] == "for" || words[at] == "(")) {
      ++at;
    }
    if (at >= words.size() || words[at] != name[0]) return {};
    if (++at < words.size() && words[at] == ")") ++at;
    const std::string rest =
        JoinWords(std::span(words).subspan(std::min(at, words.size())));
    const bool wrong =
        Mentions(rest, Reading::kWrong) && !Mentions(rest, Reading::kNotThis);
    const size_t place = text.rfind(gold);
    return wrong && place != kNowhere ? text.substr(place, gold.size())
                                      : std::string_view();
  }
  return {};
}

std::string_view WithoutContrasted(std::string_view text) {
  constexpr size_t kLongestOther = 24;
  text = WithoutEnd(text);
  size_t at = kNowhere, behind = 0;
  for (const std::string_view joint : {", not ", " and not ", ", and not "}) {
    const size_t place = text.rfind(joint);
    if (place == kNowhere) continue;
    at = place;
    behind = place + joint.size();
  }
  if (text.size() > kLongestRestated || at == kNowhere) return {};
  const bool joined = text.substr(at, behind - at).find("and") != kNowhere;
  std::string_view other = text.substr(behind);
  // "Sydney as many people assume"
  const std::string lower = PlainLower(other);
  for (const std::string_view thought : Phrases(Reading::kAsThought)) {
    const size_t begin = lower.find(" " + std::string(thought) + " ");
    if (begin != kNowhere)
      other = other.substr(0, std::min(begin, other.size()));
  }
  if (other.ends_with(",")) other.remove_suffix(1);
  const std::vector<std::string> words = BareWords(other);
  const bool name = std::any_of(words.begin(), words.end(), [](const auto& w) {
    return Digit(w[0]) || w.size() == 1;
  });
  const bool plain = other.size() <= kLongestOther && words.size() < 4 &&
                     (name || Capital(other));
  // "7, not 5" says of what it is told apart, not that it is the answer.
  const std::string_view front = text.substr(0, at);
  const bool value = front.find_first_of("<>=[,\\") == kNowhere;
  return plain && (joined ? value : HasLetters(front)) ? front
                                                       : std::string_view();
}

std::string LinesAsList(std::string_view text) {
  constexpr std::string_view kMarks = " \t\r*$`-";
  std::string out, names;
  if (text.size() > kLongestRestated || text.find('\n') == kNowhere) return {};
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line.remove_prefix(std::min(line.find_first_not_of(kMarks), line.size()));
    line = line.substr(0, line.find_last_not_of(" \t\r*$`,.;") + 1);
    for (const auto& [open, close] :
         {std::pair("\\(", "\\)"), std::pair("\\[", "\\]")}) {
      if (line.size() > 4 && line.starts_with(open) && line.ends_with(close)) {
        line = TrimBlanks(line.substr(2, line.size() - 4));
      }
    }
    if (line.empty()) continue;
    // "The solution is:"
    if (names.empty() && line.ends_with(":") && !HasDigits(line) &&
        Mentions(PlainLower(line), Reading::kAnnounces)) {
      continue;
    }
    const std::string_view behind = TrimBlanks(line.substr(1));
    const std::string_view value =
        TrimBlanks(behind.substr(std::min<size_t>(behind.size(), 1)));
    if (!Letter(line[0]) || !behind.starts_with("=") || value.empty() ||
        value.find_first_of("=:?") != kNowhere || HasWordsIn(value) ||
        names.find(line[0]) != std::string::npos) {
      return {};
    }
    names += line[0];
    if (!out.empty()) out += ", ";
    out += line;
  }
  return names.size() > 1 ? out : std::string();
}

bool AnswersParts(std::string_view text) {
  constexpr size_t kLongestPart = 80;
  char next = 'a';
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = TrimBlanks(line);
    if (line.empty()) continue;
    if (line.starts_with("(")) line.remove_prefix(1);
    const bool part = line.size() > 2 && line.size() <= kLongestPart &&
                      line[0] == next && line[1] == ')';
    if (!part) return false;
    ++next;
  }
  return next > 'b';
}

std::pair<std::string_view, std::string_view> SaidTwice(std::string_view text) {
  constexpr size_t kLongest = 200;
  text = WithoutEnd(text);
  if (text.size() > kLongest) return {};
  const std::string lower = PlainLower(text);
  size_t first = kNowhere, second = 0;
  std::string_view whole = text;
  // "at least 3, or [3, \\infty)"
  const auto interval = [text](size_t behind) {
    const std::string_view rest = TrimBlanks(text.substr(behind));
    return !rest.empty() && (rest[0] == '[' || rest[0] == '(');
  };
  bool bracket = text.ends_with(")");
  for (const std::string_view joint : Phrases(Reading::kSaysAgain)) {
    const std::string behind = ", " + std::string(joint) + " ";
    const size_t at = lower.rfind(behind);
    bracket &= at == kNowhere || !interval(at + behind.size());
  }
  if (bracket) {
    first = text.rfind(" (");
    second = first + 2;
    whole.remove_suffix(1);
  } else {
    for (const std::string_view joint : Phrases(Reading::kSaysAgain)) {
      for (const char* end : {" ", ", "}) {
        const size_t at = lower.rfind(", " + std::string(joint) + end);
        if (at == kNowhere || at == 0) continue;
        first = at;
        second = at + 2;
      }
    }
    // "November 25, 2021 -> 11/25/2021"
    for (const std::string_view arrow : {" -> ", " \u2192 ", " => "}) {
      const size_t at = text.rfind(arrow);
      if (first != kNowhere || at == kNowhere) continue;
      first = at;
      second = at + arrow.size();
    }
  }
  if (first == kNowhere || first == 0 ||
      BeginsIn(lower, Reading::kImagines) > 0) {
    return {};
  }
  std::string_view again = whole.substr(second);
  const size_t joint = BeginsIn(PlainLower(again), Reading::kSaysAgain);
  again.remove_prefix(joint);
  again.remove_prefix(std::min(again.find_first_not_of(" ,"), again.size()));
  if (TrimBlanks(again).empty()) return {};
  return {text.substr(0, first), again};
}

}  // namespace espalier
