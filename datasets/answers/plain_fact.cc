#include "datasets/answers/plain_fact.h"

#include <algorithm>
#include <array>
#include <vector>

#include "datasets/answers/find/last_statement.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/plain_letters.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/times_dates.h"

namespace espalier {
namespace {

constexpr size_t kLongestFactText = 600;
constexpr size_t kLongestFact = 60;
constexpr std::array<std::string_view, 4> kPlainVerbs = {" is ", " was ",
                                                         " are ", " were "};
// A dash in front of what only says more.
constexpr std::array<std::string_view, 4> kDashes = {" \u2014 ", " \u2013 ",
                                                     " - ", "\u2014"};

// What a text says, without emphasis, quotes, emoji and brackets. Brackets that
// follow the name only say more of it.
std::string WithoutAsides(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    if (rest[0] == '*' || rest[0] == '_' || rest[0] == '"') continue;
    // Curly quotes.
    if (rest.starts_with("\u201c") || rest.starts_with("\u201d")) {
      at += 2;
      continue;
    }
    if (rest.starts_with("\xf0\x9f") && rest.size() > 3) {
      at += 3;
      continue;
    }
    if (rest.starts_with(" (")) {
      const size_t close = rest.find(')');
      if (close != kNowhere && rest.substr(2, close).find('(') == kNowhere) {
        at += close;
        continue;
      }
    }
    out += rest[0];
  }
  return out;
}

// Without "the" in front.
std::string_view WithoutThe(std::string_view text) {
  constexpr std::string_view kThe = "the ";
  return text.starts_with(kThe) ? text.substr(kThe.size()) : text;
}

// Whether what follows a name only says more of it: ", after hydrogen", " in
// 1928", ", signed on 28 June".
bool OnlyAdds(std::string_view tail) {
  for (const std::string_view dash : kDashes) {
    const size_t at = tail.find(dash);
    if (at != kNowhere && !Mentions(tail.substr(at), Reading::kNamesOther)) {
      tail = tail.substr(0, at);
    }
  }
  if (tail.empty()) return true;
  const bool comma = tail.starts_with(", ");
  if (!comma && !tail.starts_with(" ")) return false;
  // "and published in 1937"
  constexpr std::string_view kAnd = " and ";
  if (tail.starts_with(kAnd)) {
    const std::string_view more = tail.substr(kAnd.size());
    return BeginsIn(more, Reading::kMadeBy) > 0 &&
           more.find(" by ") == kNowhere && more.find(kAnd) == kNowhere;
  }
  const std::string_view rest = tail.substr(comma ? 2 : 1);
  const size_t word = BeginsIn(rest, Reading::kAfterName);
  const std::string_view first = rest.substr(0, rest.find(' '));
  const bool participle =
      comma && first.size() > 4 &&
      (first.ends_with("ed") || first.ends_with("ing") ||
       IsPhrase(first, Reading::kMadeBy)) &&
      first.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == kNowhere;
  // "between Italy and Greece" behind a name without a comma
  constexpr std::string_view kPlaced[] = {"in",     "at",      "on",
                                          "during", "between", "from"};
  const bool placed = std::find(std::begin(kPlaced), std::end(kPlaced),
                                first) != std::end(kPlaced);
  // "with 10 seconds left"
  const bool with = first == "with" && rest.size() > 5 && Digit(rest[5]);
  if (comma ? word == 0 && !participle : !placed && !with) return false;
  // "the heart, the lungs and the liver"
  const bool list = first == "the" || first == "a" || first == "an";
  if (list && rest.find(" and ") != kNowhere) return false;
  const bool relative = first == "which" || first == "who" ||
                        first == "where" || first == "whose" ||
                        rest.starts_with("even though ");
  if (relative && rest.find(", and ") == kNowhere) return true;
  return std::none_of(
      kPlainVerbs.begin(), kPlainVerbs.end(),
      [rest](std::string_view verb) { return rest.find(verb) != kNowhere; });
}

// Where `name` stands as whole words in `lower`; npos if nowhere or twice.
size_t OnlyPlace(std::string_view lower, std::string_view name) {
  size_t found = kNowhere;
  for (size_t at = lower.find(name); at != kNowhere;
       at = lower.find(name, at + 1)) {
    const size_t end = at + name.size();
    const auto apart = [&](size_t i) {
      return !Letter(lower[i]) && !Digit(lower[i]) && lower[i] != '-' &&
             lower[i] != '\'';
    };
    const bool whole =
        (at == 0 || apart(at - 1)) && (end >= lower.size() || apart(end));
    if (!whole) continue;
    if (found != kNowhere) return kNowhere;
    found = at;
  }
  return found;
}

// "The compound is | NaCl, better known as": without another name of the same
// in front.
std::string_view WithoutOtherName(std::string_view front) {
  constexpr size_t kMostWords = 3;
  for (const std::string_view known : Phrases(Reading::kAlsoCalled)) {
    if (!front.ends_with(known)) continue;
    const std::string_view before =
        TrimBlanks(front.substr(0, front.size() - known.size()));
    if (!before.ends_with(",")) continue;
    for (const std::string_view is : kPlainVerbs) {
      const size_t at = before.rfind(is);
      if (at == kNowhere) continue;
      const std::string_view name = before.substr(at + is.size());
      const auto words = std::count(name.begin(), name.end(), ' ');
      if (static_cast<size_t>(words) < kMostWords) {
        return before.substr(0, at + is.size() - 1);
      }
    }
  }
  return front;
}

// "The second lightest gas | is | helium, after hydrogen": the complement of
// what is said of a thing that is described, not named.
bool IsComplement(std::string_view front, std::string_view tail) {
  if (!OnlyAdds(tail)) return false;
  if (front.ends_with(" the")) front.remove_suffix(4);
  front = WithoutOtherName(front);
  for (const std::string_view called :
       {" called", " named", " known as", " that of"}) {
    if (front.ends_with(called)) front.remove_suffix(called.size());
  }
  size_t verb = 0;
  for (const std::string_view is : kPlainVerbs) {
    const std::string_view word = is.substr(0, is.size() - 1);
    if (front.ends_with(word)) verb = word.size();
  }
  // "It's", "You're thinking of"
  const bool pointed = IsPhrase(TrimBlanks(front), Reading::kPointsAtName);
  if (pointed) return true;
  if (verb == 0) return false;
  front.remove_suffix(verb);
  const bool described =
      front.starts_with("the ") || front.starts_with("its ") ||
      front.starts_with("their ") || front.find("'s ") != kNowhere;
  if (!described || front.find_first_of(",;:") != kNowhere) return false;
  if (Mentions(front, Reading::kOthers) ||
      Mentions(front, Reading::kRelatesTo) ||
      BeginsIn(front, Reading::kLesserOne) > 0) {
    return false;
  }
  // A clause of its own has its verb behind "that": "the part that is big".
  for (const std::string_view is : kPlainVerbs) {
    const size_t at = front.find(is);
    if (at == kNowhere) continue;
    const std::string_view before = front.substr(0, at);
    if (!before.ends_with(" that") && !before.ends_with(" which") &&
        !before.ends_with(" who")) {
      return false;
    }
  }
  return true;
}

// Without "in 1994" or "in 1994,".
std::string_view WithoutYearInFront(std::string_view front) {
  constexpr std::string_view kIn = "in ";
  constexpr size_t kYear = 4;
  if (!front.starts_with(kIn) || front.size() < kIn.size() + kYear ||
      !std::all_of(front.begin() + kIn.size(),
                   front.begin() + kIn.size() + kYear, Digit)) {
    return front;
  }
  std::string_view rest = front.substr(kIn.size() + kYear);
  if (rest.starts_with(",")) rest.remove_prefix(1);
  if (!rest.starts_with(" ")) return front;
  return rest.substr(1);
}

// Without "the Swedish botanist".
std::string_view WithoutRoleInFront(std::string_view front) {
  constexpr std::string_view kThe = "the ";
  if (!front.starts_with(kThe) || !front.ends_with(" ")) return front;
  const std::string_view words =
      TrimBlanks(front.substr(kThe.size(), front.size() - kThe.size()));
  const size_t last = words.rfind(' ');
  const std::string_view noun = words.substr(last == kNowhere ? 0 : last + 1);
  return words.find(',') == kNowhere && IsPhrase(noun, Reading::kRole)
             ? std::string_view()
             : front;
}

// "K2 | is the second highest mountain, after Mount Everest": the subject of
// what marks it among all.
bool IsSubject(std::string_view front, std::string_view tail) {
  front = WithoutRoleInFront(WithoutYearInFront(front));
  // "The third president, | Ann Lee |, was the author"
  constexpr std::string_view kApposed = ", ";
  if (front.starts_with("the ") && front.ends_with(kApposed) &&
      tail.starts_with(kApposed) &&
      front.find(',') + kApposed.size() == front.size() &&
      !Mentions(front, Reading::kOthers) &&
      !Mentions(front, Reading::kRelatesTo)) {
    front = {};
    tail.remove_prefix(1);
  }
  if (!(front.empty() || front == "the ") || !tail.starts_with(" ")) {
    return false;
  }
  std::string_view rest = tail.substr(1);
  size_t verb = BeginsIn(rest, Reading::kHasTheMost);
  if (verb == 0) verb = BeginsIn(rest, Reading::kWasFirst);
  if (verb == 0 && rest.find(", ") == kNowhere && rest.find(';') == kNowhere &&
      !Mentions(rest, Reading::kAlsoOrder)) {
    verb = BeginsIn(rest, Reading::kDidIt);
  }
  for (const std::string_view is :
       {"is the ", "was the ", "were the ", "are the "}) {
    if (!rest.starts_with(is)) continue;
    verb = is.size();
    if (BeginsIn(rest.substr(verb - 4), Reading::kLesserOne) > 0 ||
        BeginsIn(rest.substr(verb), Reading::kLesserOne) > 0) {
      return false;
    }
  }
  if (verb == 0) return false;
  rest.remove_prefix(verb);
  const bool second_verb = std::any_of(
      kPlainVerbs.begin(), kPlainVerbs.end(), [rest](std::string_view is) {
        const size_t at = rest.find(is);
        if (at == kNowhere) return false;
        const std::string_view before = rest.substr(0, at);
        return !before.ends_with(" that") && !before.ends_with(" which") &&
               !before.ends_with(" who");
      });
  constexpr std::string_view kFirstPlace = "place 1";
  const std::string place = PlaceInWords(rest.substr(0, rest.find(' ')));
  // "the right choice", "the first after Ann Lee", "the second largest"
  return !second_verb && !Mentions(rest, Reading::kOthers) &&
         !Mentions(rest, Reading::kRelatesTo) &&
         !Mentions(rest, Reading::kOption) &&
         !Mentions(rest, Reading::kGaveWay) &&
         !Mentions(rest, Reading::kLesserOne) &&
         (place.empty() || place == kFirstPlace);
}

// "was discovered in 1928 in London by the bacteriologist | Ann Lee"
bool IsAgent(std::string_view front, std::string_view tail) {
  constexpr std::string_view kBy = " by ";
  constexpr size_t kMostRoleWords = 4;
  if (!OnlyAdds(tail)) return false;
  const size_t by = front.rfind(kBy);
  if (by == kNowhere) return false;
  // "by the Scottish bacteriologist"
  const std::string_view role = front.substr(by + kBy.size());
  const auto words =
      static_cast<size_t>(std::count(role.begin(), role.end(), ' '));
  if (words > kMostRoleWords ||
      (words > 0 && !role.starts_with("the ") &&
       !IsPhrase(TrimBlanks(role), Reading::kHonorific)) ||
      Mentions(role, Reading::kOthers) || role.find("'") != kNowhere ||
      role.find(" of ") != kNowhere || role.find(',') != kNowhere) {
    return false;
  }
  std::string_view passive = front.substr(0, by);
  // Places and years between the verb and its agent.
  while (true) {
    const size_t made = EndsIn(passive, Reading::kMadeBy);
    if (made > 0) {
      passive.remove_suffix(made);
      break;
    }
    size_t cut = kNowhere;
    for (const std::string_view placed :
         {" in ", " at ", " between ", " on ", " with ", " jointly"}) {
      const size_t at = passive.rfind(placed);
      if (at != kNowhere && (cut == kNowhere || at > cut)) cut = at;
    }
    if (cut == kNowhere ||
        passive.substr(cut).find_first_of(",;:") != kNowhere) {
      return false;
    }
    passive = passive.substr(0, cut);
  }
  passive = TrimBlanks(passive);
  passive = TrimBlanks(
      passive.substr(0, passive.size() - EndsIn(passive, Reading::kFirstMade)));
  const size_t is = EndsIn(passive, Reading::kIs);
  if (is == 0) return false;
  passive.remove_suffix(is);
  return passive.find(',') == kNowhere &&
         std::none_of(kPlainVerbs.begin(), kPlainVerbs.end(),
                      [passive](std::string_view verb) {
                        return passive.find(verb) != kNowhere;
                      });
}

// "it was | Ann Lee | who threw it", in the last clause of a sentence.
bool IsSingledOut(std::string_view front, std::string_view tail) {
  const bool relative = tail.starts_with(" that ") ||
                        tail.starts_with(" who ") ||
                        tail.starts_with(" which ");
  if (front.ends_with(" the ")) front.remove_suffix(4);
  if (!relative || !(front.ends_with("it was ") || front.ends_with("it is "))) {
    return false;
  }
  front.remove_suffix(front.ends_with("it was ") ? 7 : 6);
  return (front.empty() || front.ends_with(", but ") ||
          front.ends_with(", and ") || front.ends_with("; ")) &&
         tail.find("it was ") == kNowhere && tail.find("it is ") == kNowhere;
}

// "There were more | German | people than Irish people"
bool IsGreater(std::string_view front, std::string_view tail) {
  return (front == "there were more " || front == "there are more ") &&
         tail.find(" than ") != kNowhere && tail.find(',') == kNowhere;
}

// "signed on | 11 November 1918 | at Compi\u00e8gne": the only date of a
// sentence.
bool StatesDate(std::string_view date, std::string_view sentence,
                std::string_view lower) {
  constexpr size_t kMostDateWords = 3;
  if (Mentions(lower, Reading::kOtherTime) ||
      BeginsIn(lower, Reading::kSubordinate) > 0 ||
      Mentions(lower, Reading::kNotYet)) {
    return false;
  }
  std::vector<size_t> starts{0};
  for (size_t i = 0; i < sentence.size(); ++i) {
    if (sentence[i] == ' ') starts.push_back(i + 1);
  }
  starts.push_back(sentence.size() + 1);
  const auto part = [&](size_t from, size_t to) {
    std::string_view words =
        sentence.substr(starts[from], starts[to] - 1 - starts[from]);
    while (words.ends_with(",")) words.remove_suffix(1);
    return words;
  };
  for (size_t i = 1; i + kMostDateWords < starts.size(); ++i) {
    if (DateOf(part(i, i + kMostDateWords)) != date) continue;
    const std::string_view front = lower.substr(0, starts[i]);
    const std::string_view tail =
        lower.substr(std::min(starts[i + kMostDateWords] - 1, lower.size()));
    return front.ends_with(" on ") && !Mentions(front, Reading::kMonth) &&
           front.find(',') == kNowhere &&
           !Mentions(front, Reading::kRelatesTo) && !HasDigits(tail) &&
           OnlyAdds(tail) && Affirms(front.substr(0, front.size() - 4));
  }
  return false;
}

// "The second lightest gas is": whether it leaves one thing in question.
bool AsksForOne(std::string_view front) {
  while (!front.empty()) {
    const std::string_view word = front.substr(0, front.find(' '));
    if (word == "most" || word == "only" ||
        (word.size() > 4 && word.ends_with("est"))) {
      return true;
    }
    front.remove_prefix(std::min(word.size() + 1, front.size()));
  }
  return false;
}

// "came in the | second | quarter"
bool IsPartOfGame(std::string_view front, std::string_view name,
                  std::string_view tail) {
  return front.ends_with(" in the ") && tail.starts_with(" ") &&
         IsPhrase(tail.substr(1), Reading::kPartOfGame) &&
         !PlaceInWords(name).empty() && !Mentions(front, Reading::kRelatesTo);
}

// "Bolivia is named after | Ann Lee"
bool IsLedTo(std::string_view front, std::string_view tail) {
  if (!OnlyAdds(tail)) return false;
  if (front.ends_with(" the ")) front.remove_suffix(4);
  return EndsIn(TrimBlanks(front), Reading::kLeadsToName) > 0 &&
         !Mentions(front, Reading::kOthers) &&
         !Mentions(front, Reading::kRelatesTo) &&
         front.find("; ") == kNowhere && front.find(", ") == kNowhere;
}

// Whether a place of a fact's name in a sentence states it.
bool StatesNamed(std::string_view name, std::string_view lower, bool capital,
                 bool only) {
  const size_t at = OnlyPlace(lower, name);
  if (at == kNowhere) return false;
  const std::string_view front = lower.substr(0, at),
                         tail = lower.substr(at + name.size());
  const std::string_view trimmed = TrimBlanks(front);
  // "The derivative is even" may be about another function.
  const bool noun = capital || trimmed.ends_with(" the") ||
                    name.find(' ') != kNowhere || AsksForOne(front) ||
                    WithoutOtherName(trimmed).size() < trimmed.size();
  if (noun && IsComplement(trimmed, tail)) {
    return true;
  }
  if (only && IsPartOfGame(front, name, tail)) return true;
  return only && (IsSubject(front, tail) || IsAgent(front, tail) ||
                  IsGreater(front, tail) || IsLedTo(front, tail));
}

}  // namespace

bool StatesFact(std::string_view gold, std::string_view text) {
  if (gold.size() > kLongestFact || gold.size() < 2 ||
      text.size() > kLongestFactText ||
      gold.find_first_of("\\${}=()[]/^*+<>:") != kNowhere ||
      !HasLetters(gold)) {
    return false;
  }
  text = TrimBlanks(text);
  const size_t source =
      BeginsIn(PlainLower(text.substr(0, 60)), Reading::kSourceLead);
  text.remove_prefix(source);
  text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  const std::string plain = WithPlainLetters(WithoutAsides(text));
  const std::string_view whole = WithoutLastMarks(plain);
  const std::string_view sentence = LastStatementOf(plain);
  const std::string lower = PlainLower(sentence), all = PlainLower(whole);
  if (sentence.size() > kLongestLast || all.find("answer") != kNowhere ||
      all.find("boxed") != kNowhere ||
      lower.find_first_of("\n=\\{}:?") != kNowhere) {
    return false;
  }
  const bool only = sentence.size() + 2 >= whole.size();
  const std::string folded = PlainLower(WithPlainLetters(gold));
  const std::string_view name = WithoutThe(folded);
  // A number alone is for other rules.
  const bool letters = name.size() > 1 && HasLetters(name) &&
                       (!Digit(name[0]) || !DateOf(gold).empty());
  if (!letters) return false;
  // "it was" may stand against what is said in front of it.
  if (const size_t at = OnlyPlace(lower, name);
      only && at != kNowhere &&
      IsSingledOut(std::string_view(lower).substr(0, at),
                   std::string_view(lower).substr(at + name.size()))) {
    const size_t clause = lower.rfind("it ", at);
    return SaysPlainly(std::string_view(sentence).substr(clause)) &&
           !Mentions(lower, Reading::kAttributes) &&
           !Mentions(lower, Reading::kMaybe) &&
           BeginsIn(lower, Reading::kImagines) == 0;
  }
  if (!SaysPlainly(whole) || Mentions(lower, Reading::kNotYet)) return false;
  if (const std::string date = DateOf(gold); !date.empty()) {
    return only && StatesDate(date, sentence, lower);
  }
  const size_t at = OnlyPlace(lower, name);
  const bool capital =
      at != kNowhere && sentence[at] >= 'A' && sentence[at] <= 'Z';
  return StatesNamed(name, lower, capital, only);
}

}  // namespace espalier
