#include "datasets/answers/words/names_said.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr size_t kLongestStatement = 240;
constexpr size_t kMostNameWords = 6;

bool Upper(char c) { return c >= 'A' && c <= 'Z'; }

// Also that of a name in another script: "Ångström".
bool BeginsName(std::string_view word) {
  return !word.empty() &&
         (Upper(word[0]) || static_cast<unsigned char>(word[0]) >= 0x80);
}

std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> out;
  while (!(text = TrimBlanks(text)).empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
    out.push_back(word);
    text.remove_prefix(word.size());
  }
  return out;
}

std::string Joined(const std::vector<std::string_view>& words, size_t from,
                   size_t to) {
  std::string out;
  for (size_t i = from; i < to; ++i) {
    if (i > from) out += ' ';
    out += words[i];
  }
  return out;
}

std::string_view WithoutStopMarks(std::string_view text) {
  text = TrimBlanks(text);
  while (!text.empty() &&
         std::string_view(".!*").find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);
  }
  return TrimBlanks(text);
}

// Whether nothing in a text turns, denies, doubts or attributes what it says.
bool Plainly(std::string lower) {
  // A passive with its agent attributes nothing.
  constexpr std::string_view kWrittenBy = "written by";
  if (const size_t at = lower.find(kWrittenBy); at != kNowhere) {
    lower.replace(at, kWrittenBy.size(), "made by");
  }
  for (const Reading turn :
       {Reading::kDenies, Reading::kDoubts, Reading::kMaybe, Reading::kWrong,
        Reading::kOtherTry, Reading::kNamesOther, Reading::kAttributes,
        Reading::kMisleads, Reading::kExcept}) {
    if (Mentions(lower, turn)) return false;
  }
  return BeginsIn(lower, Reading::kImagines) == 0 &&
         lower.find(" if ") == kNowhere && lower.find(" unless ") == kNowhere &&
         lower.find_first_of("?\"") == kNowhere;
}

// The end of the first sentence; that of initials is none: "F. Scott".
size_t FirstSentenceEnd(std::string_view text) {
  for (size_t at = 1; at + 1 < text.size(); ++at) {
    if (text[at] == '\n') return at;
    if (std::string_view(".!?").find(text[at]) == std::string_view::npos ||
        !Blank(text[at + 1]) || Abbreviated(text, at + 1)) {
      continue;
    }
    const bool initial = text[at] == '.' && Upper(text[at - 1]) &&
                         (at == 1 || !Letter(text[at - 2]));
    if (!initial) return at + 1;
  }
  return text.size();
}

// Whether it begins as a clause that is not the statement: "In Rome, it was";
// not "To Kill a Mockingbird was".
bool BeginsAside(std::string_view sentence, std::string_view lower) {
  const size_t word = BeginsIn(lower, Reading::kSubordinate);
  if (word == 0) return false;
  const std::string_view next = TrimBlanks(sentence.substr(word));
  return sentence.find(',') != std::string_view::npos ||
         !(BeginsName(next) || next.starts_with("the "));
}

// The first sentence, if later ones only say more of it; empty if not.
std::string_view Statement(std::string_view text) {
  text = TrimBlanks(text);
  if (text.size() > 2 * kLongestStatement) return {};
  const size_t end = FirstSentenceEnd(text);
  const std::string_view rest = TrimBlanks(text.substr(end));
  const std::string later = PlainLower(rest);
  if (!rest.empty() && (BeginsIn(later, Reading::kPronoun) == 0 ||
                        !Plainly(later) || later.find("answer") != kNowhere)) {
    return {};
  }
  std::string_view first = TrimBlanks(text.substr(0, end));
  // A title in quotes in front.
  if (first.starts_with("\"")) {
    const size_t close = first.find('"', 1);
    if (close == kNowhere) return {};
    first = TrimBlanks(first.substr(close + 1));
  }
  return first.size() <= kLongestStatement &&
                 first.find_first_of("\n:;\\{") == std::string_view::npos
             ? WithoutStopMarks(first)
             : std::string_view();
}

// Whether words behind a name only say when, where or who it is.
bool OnlySaysMore(std::string_view tail) {
  const std::string lower = PlainLower(tail);
  for (size_t at = lower.find(" and "); at != kNowhere;
       at = lower.find(" and ", at + 1)) {
    if (at + 5 < tail.size() && BeginsName(tail.substr(at + 5))) return false;
  }
  return !Mentions(lower, Reading::kCopula) || tail.starts_with(", who ");
}

// "da" of "Leonardo da Vinci"
bool IsParticle(std::string_view word) {
  constexpr std::string_view kParticles[] = {
      "of", "the", "de",  "da",  "di",  "du",  "del", "della", "la",  "le",
      "el", "al",  "van", "von", "der", "den", "dos", "bin",   "ibn", "y"};
  return std::find(std::begin(kParticles), std::end(kParticles), word) !=
         std::end(kParticles);
}

// "the astronomer Johannes Kepler in 1609" as it is without what only says
// more, and as the name alone.
void AddName(std::string_view rest, std::vector<std::string>& out) {
  const std::string lower = PlainLower(rest);
  size_t end = rest.size();
  for (const std::string_view tail : Phrases(Reading::kBehindName)) {
    const size_t at = lower.find(tail);
    if (at != kNowhere && at > 0) end = std::min(end, at);
  }
  if (end < rest.size() && !OnlySaysMore(rest.substr(end))) return;
  rest = TrimBlanks(rest.substr(0, end));
  const auto words = WordsOf(rest);
  const bool several = rest.find_first_of(",&/") != std::string_view::npos ||
                       lower.substr(0, end).find(" and ") != kNowhere;
  if (words.empty() || words.size() > kMostNameWords + 3 || several ||
      !BeginsName(words.back())) {
    return;
  }
  size_t name = words.size();
  while (name > 0 && BeginsName(words[name - 1])) --name;
  // "Leonardo da Vinci", "the Gulf of Mexico"
  const bool whole =
      name == 0 || (name == 1 && IsPhrase(Lower(words[0]), Reading::kArticle));
  const size_t first = IsPhrase(Lower(words[0]), Reading::kArticle) ? 1 : 0;
  const bool inner =
      !whole && first < words.size() && BeginsName(words[first]) &&
      std::all_of(words.begin() + static_cast<std::ptrdiff_t>(first),
                  words.end(), [](std::string_view word) {
                    return BeginsName(word) || IsParticle(word);
                  });
  if ((whole || inner) && words.size() <= kMostNameWords) {
    out.emplace_back(rest);
    return;
  }
  // A title in capitals, too long for a name.
  if (name == 0) return;
  const bool kind = IsPhrase(Lower(words[name - 1]), Reading::kRole);
  const std::string front = " " + Lower(Joined(words, 0, name)) + " ";
  const bool of_it = name > 2 && words[name - 1] == "of" &&
                     IsPhrase(Lower(words[name - 2]), Reading::kNameOf);
  const bool other = front.find("'s ") != kNowhere ||
                     (front.find(" of ") != kNowhere && !of_it);
  if ((kind || of_it) && !other && name <= 4) {
    out.push_back(Joined(words, name, words.size()));
  }
}

// "The Kiss was | a bronze sculpture | made by": whether a text ends in what
// kind of thing something is.
bool IsAThing(std::string_view front) {
  constexpr size_t kMostWords = 3;
  const auto words = WordsOf(front);
  for (size_t i = 2; i < words.size() && i < kMostWords + 2; ++i) {
    const size_t at = words.size() - i;
    if (IsPhrase(words[at], Reading::kArticle)) {
      return at > 0 && IsPhrase(words[at - 1], Reading::kIs);
    }
  }
  return false;
}

// "were formulated by | Johannes Kepler"
void AddAgent(std::string_view sentence, const std::string& lower,
              std::vector<std::string>& out) {
  constexpr std::string_view kBy = " by ";
  const std::string padded = " " + lower;
  const size_t by = padded.find(kBy);
  if (by == kNowhere || padded.find(kBy, by + 1) != kNowhere) return;
  std::string_view front = std::string_view(padded).substr(0, by);
  const size_t verb = EndsIn(front, Reading::kMadeBy);
  if (verb == 0) return;
  front = TrimBlanks(front.substr(0, front.size() - verb));
  // "was first"
  if (!front.empty()) {
    front = TrimBlanks(
        front.substr(0, front.size() - EndsIn(front, Reading::kFirstMade)));
  }
  if (front.empty() || EndsIn(front, Reading::kIs) > 0 ||
      front.ends_with(" been") || IsAThing(front)) {
    AddName(sentence.substr(by + kBy.size() - 1), out);
  }
}

// "lie on | the Zambezi", "was born in 1879 in | Ulm"
void AddPlace(std::string_view sentence, const std::string& lower,
              std::vector<std::string>& out) {
  size_t behind = 0;
  int verbs = 0;
  for (size_t at = lower.find(' '); at != kNowhere;
       at = lower.find(' ', at + 1)) {
    const std::string_view rest = std::string_view(lower).substr(at + 1);
    const size_t verb = BeginsIn(rest, Reading::kLies);
    if (verb == 0) continue;
    const std::string_view next = rest.substr(verb);
    const size_t in =
        next.starts_with(" ") ? BeginsIn(next.substr(1), Reading::kLiesIn) : 0;
    if (in == 0) continue;
    ++verbs;
    behind = at + 1 + verb + 1 + in;
  }
  if (behind == 0 || verbs > 1 || behind + 1 >= sentence.size() ||
      Mentions(lower, Reading::kOthers)) {
    return;
  }
  std::string_view rest = sentence.substr(behind + 1);
  constexpr size_t kYear = 4;
  const bool year = rest.size() > kYear + 4 &&
                    std::all_of(rest.begin(), rest.begin() + kYear, Digit) &&
                    rest.substr(kYear).starts_with(" in ");
  if (year) rest.remove_prefix(kYear + 4);
  AddName(rest, out);
}

// "Au is the chemical symbol for | gold": what the last sentence of a text
// says that a symbol or an abbreviation means.
void AddMeaning(std::string_view text, std::vector<std::string>& out) {
  constexpr size_t kMostWords = 5;
  text = TrimBlanks(text);
  if (text.size() > kLongestStatement) return;
  std::string whole(text);
  std::erase_if(whole, [](char c) { return c == '"' || c == '*'; });
  const std::string lower = PlainLower(whole);
  if (!Plainly(lower) || lower.find('\n') != kNowhere ||
      lower.size() != whole.size()) {
    return;
  }
  size_t behind = 0;
  for (const std::string_view phrase : Phrases(Reading::kStandsFor)) {
    const size_t at = lower.rfind(phrase);
    if (at == kNowhere || at == 0 || lower[at - 1] != ' ') continue;
    if (lower.find(phrase) != at) return;
    behind = std::max(behind, at + phrase.size());
  }
  if (behind == 0) return;
  const std::string_view said =
      WithoutStopMarks(std::string_view(whole).substr(behind));
  // The subject alone in front: "It is the", "Au is the".
  const std::string_view front = std::string_view(lower).substr(0, behind);
  const size_t stop = front.rfind(". ");
  const std::string_view clause = front.substr(stop == kNowhere ? 0 : stop + 2);
  const bool plain = std::all_of(said.begin(), said.end(), [](char c) {
    return Letter(c) || c == ' ' || c == '-';
  });
  if (said.empty() || !plain || WordsOf(said).size() > kMostWords ||
      WordsOf(clause).size() > kMostWords + 2 || clause.find(',') != kNowhere ||
      PlainLower(said).find(" and ") != kNowhere) {
    return;
  }
  out.emplace_back(said);
}

// Without what a second verb says: "It was written by Ann Lee | and was first
// published in 1860".
std::string_view WithoutSecondVerb(std::string_view sentence) {
  constexpr std::string_view kAnd = " and ";
  const std::string lower = PlainLower(sentence);
  const size_t by = lower.find(" by ");
  if (by == kNowhere || lower.size() != sentence.size()) return sentence;
  const size_t at = lower.find(kAnd, by);
  if (at == kNowhere) return sentence;
  const std::string_view rest =
      std::string_view(lower).substr(at + kAnd.size());
  const size_t verb = BeginsIn(rest, Reading::kIs);
  if (verb == 0) return sentence;
  const std::string_view tail = rest.substr(verb);
  if (tail.find(" by ") != kNowhere || tail.find(kAnd) != kNowhere ||
      Mentions(tail, Reading::kCopula) || Mentions(tail, Reading::kNotYet)) {
    return sentence;
  }
  sentence = TrimBlanks(sentence.substr(0, at));
  if (sentence.ends_with(",")) sentence.remove_suffix(1);
  return sentence;
}

// "Paris | is the correct answer"
void AddSubject(std::string_view sentence, const std::string& lower,
                std::vector<std::string>& out) {
  const size_t verb = EndsIn(lower, Reading::kIsTheAnswer);
  if (verb > 0 && verb < sentence.size()) {
    AddName(sentence.substr(0, sentence.size() - verb), out);
  }
}

// "The longest river is | the Nile, at about 6,650 km"
void AddPredicate(std::string_view sentence, const std::string& lower,
                  std::vector<std::string>& out) {
  size_t behind = 0;
  for (const std::string_view verb : {" is ", " was "}) {
    const size_t at = lower.find(verb);
    if (at == kNowhere) continue;
    if (behind > 0) return;
    behind = at + verb.size();
    if (lower.find(verb, behind) != kNowhere) return;
  }
  if (behind == 0 || behind >= sentence.size()) return;
  const std::string_view front = std::string_view(lower).substr(0, behind);
  if (front.find(',') != kNowhere || Mentions(front, Reading::kOthers) ||
      Mentions(front, Reading::kRelatesTo)) {
    return;
  }
  AddName(sentence.substr(behind), out);
}

// A name without an article and the words for its kind.
struct Named {
  std::string name;  // in lower case
  bool kind = false;
  bool article = false;
  bool capital = false;
};

Named WithoutKind(std::string_view text) {
  Named out;
  text = WithoutStopMarks(text);
  auto words = WordsOf(text);
  if (!words.empty() && Lower(words[0]) == "the") {
    out.article = true;
    words.erase(words.begin());
  }
  if (words.size() > 1 && IsPhrase(Lower(words.back()), Reading::kKindBehind)) {
    out.kind = true;
    words.pop_back();
  } else if (words.size() > 1) {
    std::string_view first = words[0];
    if (first.ends_with(".")) first.remove_suffix(1);
    if (IsPhrase(Lower(first), Reading::kKindInFront)) {
      out.kind = true;
      words.erase(words.begin());
    }
  }
  constexpr size_t kMostWords = 3;
  if (words.empty() || words.size() > kMostWords) return {};
  out.capital = std::all_of(words.begin(), words.end(), BeginsName);
  out.name = Lower(Joined(words, 0, words.size()));
  return out;
}

// Whether capitals are the initials of words, or stand in them in this order:
// "WHO", "DNA".
bool AreInitials(std::string_view letters, std::string_view words) {
  std::string name = Lower(words);
  const std::string wanted = Lower(letters);
  if (name.empty() || name[0] != wanted[0]) return false;
  size_t at = 0;
  for (const char c : name) {
    if (at < wanted.size() && wanted[at] == c) ++at;
  }
  return at == wanted.size();
}

// Whether a text is the symbol or the abbreviation of the words at the end of
// `front`.
bool ShortFormOf(std::string_view text, std::string_view front) {
  constexpr size_t kLongestShort = 7;
  const auto words = WordsOf(front);
  if (words.empty() || text.empty() || text.size() > kLongestShort ||
      !Upper(text[0]) || !std::all_of(text.begin(), text.end(), [](char c) {
        return Letter(c) || Digit(c);
      })) {
    return false;
  }
  const std::string last = Lower(words.back());
  const bool formula = HasDigits(text) && text.size() > 2;
  if (formula) return true;
  for (const Phrase& row : Rows(Reading::kSymbolOf)) {
    if (row.pattern == last) return row.meaning == text;
  }
  const bool symbol = text.size() <= 2 && (text.size() == 1 || !Upper(text[1]));
  if (symbol) {
    return text.size() == 2 && last.size() > 3 && AreInitials(text, last);
  }
  const std::string lower = Lower(text);
  if (!std::all_of(text.begin(), text.end(), Upper) ||
      IsPhrase(lower, Reading::kSpoils) || IsPhrase(lower, Reading::kDenies)) {
    return false;
  }
  for (size_t i = words.size(); i-- > 0;) {
    const std::string words_behind = Joined(words, i, words.size());
    if (words_behind.size() > 2 * text.size() &&
        words.size() - i <= text.size() + 2 &&
        AreInitials(text, words_behind)) {
      return true;
    }
  }
  return false;
}

// The one bracket of a text: its place and its end; npos if none or several.
std::pair<size_t, size_t> OnlyBracket(std::string_view text) {
  const size_t open = text.find(" (");
  if (open == kNowhere || open == 0 || text.size() > kLongestStatement ||
      text.find('(', open + 2) != kNowhere) {
    return {kNowhere, kNowhere};
  }
  const size_t close = text.find(')', open);
  return {close == kNowhere ? kNowhere : open, close};
}

}  // namespace

bool SaysPlainly(std::string_view text) {
  return text.size() <= 2 * kLongestStatement && Plainly(PlainLower(text));
}

std::vector<std::string> NamesSaid(std::string_view text) {
  std::vector<std::string> out;
  AddMeaning(text, out);
  if (!out.empty()) return out;
  const std::string_view sentence = WithoutSecondVerb(Statement(text));
  if (sentence.empty()) return out;
  const std::string lower = PlainLower(sentence);
  if (!Plainly(lower) || Mentions(lower, Reading::kNotYet) ||
      lower.find(" will be ") != kNowhere || BeginsAside(sentence, lower)) {
    return out;
  }
  // "his father": another one.
  const auto words = WordsOf(lower);
  if (words.size() > 1 && IsPhrase(words[0], Reading::kOwner) &&
      IsPhrase(words[1], Reading::kRole)) {
    return out;
  }
  AddAgent(sentence, lower, out);
  if (out.empty()) AddPlace(sentence, lower, out);
  if (out.empty()) AddSubject(sentence, lower, out);
  if (out.empty()) AddPredicate(sentence, lower, out);
  return out;
}

Alike SameButKind(std::string_view a, std::string_view b) {
  const Named x = WithoutKind(a), y = WithoutKind(b);
  if (x.name.empty() || x.name != y.name || x.kind == y.kind ||
      !(x.kind ? x : y).capital) {
    return Alike::kOther;
  }
  const bool other = IsPhrase(x.name, Reading::kAlsoNames) ||
                     IsPhrase(x.name, Reading::kCountry);
  // "the Ohio" for "Ohio River"
  const bool meant = (x.kind ? y : x).article;
  return other && !meant ? Alike::kMaybe : Alike::kSame;
}

std::string WithoutShortForm(std::string_view text) {
  text = WithoutStopMarks(text);
  const auto [open, close] = OnlyBracket(text);
  if (open == kNowhere || !ShortFormOf(text.substr(open + 2, close - open - 2),
                                       text.substr(0, open))) {
    return {};
  }
  return std::string(text.substr(0, open)) +
         std::string(text.substr(close + 1));
}

std::pair<std::string_view, std::string_view> BothForms(std::string_view text) {
  text = WithoutStopMarks(text);
  const auto [open, close] = OnlyBracket(text);
  if (open == kNowhere || close + 1 != text.size()) return {};
  const std::string_view front = text.substr(0, open),
                         inside = text.substr(open + 2, close - open - 2);
  // Of a sentence, the short form need not be the answer.
  const auto words = WordsOf(front);
  const bool plain = words.size() <= kMostNameWords &&
                     !Mentions(PlainLower(front), Reading::kCopula);
  const bool forms = ShortFormOf(inside, front) || ShortFormOf(front, inside);
  return plain && forms ? std::pair(front, inside)
                        : std::pair<std::string_view, std::string_view>();
}

std::string_view WithoutCountry(std::string_view text) {
  text = WithoutStopMarks(text);
  const size_t comma = text.rfind(", ");
  if (comma == kNowhere || text.size() > kLongestStatement ||
      !IsPhrase(Lower(text.substr(comma + 2)), Reading::kCountry)) {
    return {};
  }
  const std::string_view front = text.substr(0, comma);
  const auto words = WordsOf(front);
  const bool place = !words.empty() && BeginsName(words.back()) &&
                     !IsPhrase(Lower(words.back()), Reading::kCountry) &&
                     front.find(',') == std::string_view::npos;
  return place ? front : std::string_view();
}

}  // namespace espalier
