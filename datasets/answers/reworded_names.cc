#include "datasets/answers/reworded_names.h"

#include <algorithm>
#include <cctype>

#include "datasets/answers/find/last_statement.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/times_dates.h"

namespace espalier {
namespace {

// "It ended in 1945 (September 2, to be exact).", "It is iron oxide, Fe2O3.",
// "Many think it is Sydney, but it is Canberra.", "She became the first on July
// 20, 1969.": the statement without what only says more of it.
void AddWithoutMore(std::string_view text, std::string_view sentence,
                    std::vector<std::string>& out, std::string_view gold) {
  const auto add = [&](std::string_view said) {
    if (SaysPlainly(said) && said.size() < kLongestLast) {
      out.emplace_back(said);
    }
  };
  const std::string lower = PlainLower(text);
  if (lower.find("answer") != std::string::npos ||
      lower.find("boxed") != std::string::npos) {
    return;
  }
  const std::string_view first = WithoutLastMarks(text);
  const bool only = sentence.size() + 8 >= first.size();
  const bool year = gold.size() == 4 && !HasLetters(gold) && HasDigits(gold);
  if (const size_t open = sentence.rfind(" (");
      only && year && open != kNowhere && sentence.ends_with(")") &&
      !DateOf(sentence.substr(open + 2).substr(
                  0, sentence.substr(open + 2).find_first_of(",;)")))
           .empty()) {
    add(sentence.substr(0, open));
  }
  if (HasDigits(gold) || gold.size() < 3) return;
  // The clause that stands against what others think.
  constexpr std::string_view kBut = ", but ";
  if (const size_t but = sentence.rfind(kBut); only && but != kNowhere) {
    const std::string_view others = sentence.substr(0, but);
    std::string clause(sentence.substr(but + kBut.size()));
    for (const std::string_view word :
         {" actually ", " in fact ", " really "}) {
      const size_t at = clause.find(word);
      if (at != std::string::npos) clause.replace(at, word.size(), " ");
    }
    if (Mentions(PlainLower(others), Reading::kAttributes) &&
        others.find(gold) == kNowhere && !clause.empty()) {
      clause[0] = static_cast<char>(
          std::toupper(static_cast<unsigned char>(clause[0])));
      add(clause);
    }
  }
  // ", at 24.3% compared to 12% Irish"
  for (const std::string_view tail : {", at ", ", with "}) {
    const size_t at = sentence.rfind(tail);
    if (only && at != kNowhere && at + tail.size() < sentence.size() &&
        Digit(sentence[at + tail.size()])) {
      add(sentence.substr(0, at));
    }
  }
  // "converges by the ratio test"
  if (const size_t by = sentence.rfind(" by the ");
      only && by != kNowhere && gold.find(' ') == kNowhere &&
      PlainLower(sentence.substr(0, by)).ends_with(" " + PlainLower(gold))) {
    add(sentence.substr(0, by));
  }
  // A date at the end.
  for (const std::string_view on : {" on ", " in ", " around "}) {
    const size_t at = sentence.rfind(on);
    if (!only || at == kNowhere) continue;
    const std::string_view when = sentence.substr(at + on.size());
    const bool number =
        when.size() == 4 && !HasLetters(when) && HasDigits(when);
    if (number || !DateOf(when).empty()) add(sentence.substr(0, at));
  }
}

// "Ann Lee became the first woman to fly there.", "Eric Blair, better known as
// George Orwell, wrote it.": the names of the one that is meant.
void AddNamed(std::string_view text, std::string_view sentence,
              std::vector<std::string>& out, std::string_view gold) {
  constexpr size_t kMostNameWords = 5;
  const auto name = [](std::string_view words) {
    words = TrimBlanks(words);
    const auto blanks = std::count(words.begin(), words.end(), ' ');
    if (words.empty() || static_cast<size_t>(blanks) >= kMostNameWords) {
      return false;
    }
    bool begins = true;
    for (const char c : words) {
      if (begins && Letter(c) && c >= 'a') return false;
      if (!Letter(c) && std::string_view(" .'-").find(c) == kNowhere &&
          static_cast<unsigned char>(c) < 0x80) {
        return false;
      }
      begins = c == ' ';
    }
    return true;
  };
  const std::string lower = PlainLower(sentence);
  if (HasDigits(gold) || gold.size() < 3 || !SaysPlainly(sentence) ||
      sentence.size() + 8 < WithoutLastMarks(text).size() ||
      Mentions(lower, Reading::kNotYet)) {
    return;
  }
  for (const std::string_view phrase : Phrases(Reading::kWasFirst)) {
    const size_t at = lower.find(" " + std::string(phrase) + " ");
    if (at != std::string::npos && name(sentence.substr(0, at)) &&
        lower.find(" after ", at) == std::string::npos &&
        lower.find(" before ", at) == std::string::npos) {
      out.emplace_back(sentence.substr(0, at));
    }
  }
  // "Ann Lee developed the theory.": a sentence about gold alone.
  std::string_view subject = sentence;
  if (subject.starts_with("The ")) subject.remove_prefix(4);
  if (subject.starts_with(gold) && name(gold) &&
      subject.substr(gold.size()).starts_with(" ")) {
    const std::string_view rest = subject.substr(gold.size() + 1);
    const std::string verb = PlainLower(rest);
    bool another = Mentions(verb, Reading::kAlsoOrder);
    for (size_t at = rest.find(", "); at != kNowhere;
         at = rest.find(", ", at + 1)) {
      another |=
          at + 2 < rest.size() && rest[at + 2] >= 'A' && rest[at + 2] <= 'Z';
    }
    if (BeginsIn(verb, Reading::kDidIt) > 0 && !another &&
        rest.find(';') == kNowhere) {
      out.emplace_back(gold);
    }
  }
  for (const std::string_view phrase : Phrases(Reading::kKnownAs)) {
    const std::string joint = ", " + std::string(phrase) + " ";
    const size_t at = lower.find(joint);
    if (at == std::string::npos) continue;
    const size_t behind = at + joint.size();
    const size_t end = std::min(sentence.find(',', behind), sentence.size());
    const std::string_view first = sentence.substr(0, at),
                           second = sentence.substr(behind, end - behind);
    if (!name(first) || !name(second)) continue;
    out.emplace_back(second);
    out.emplace_back(first);
  }
}

// "Methane has a tetrahedral geometry": what a thing has, if gold is one word.
void AddShape(std::string_view text, std::string_view sentence,
              std::vector<std::string>& out, std::string_view gold) {
  if (gold.find_first_of(" \\$") != kNowhere || HasDigits(gold) ||
      !SaysPlainly(sentence) ||
      sentence.size() + 8 < WithoutLastMarks(text).size()) {
    return;
  }
  const std::string lower = PlainLower(sentence);
  for (const std::string_view has : {" has a ", " has an "}) {
    const size_t at = lower.find(has);
    if (at == std::string::npos) continue;
    const std::string_view rest =
        std::string_view(lower).substr(at + has.size());
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (word.size() == rest.size()) continue;
    const std::string_view noun = rest.substr(word.size() + 1);
    const size_t shape = BeginsIn(noun, Reading::kHasShape);
    if (shape > 0 && noun.substr(shape).find(" and ") == kNowhere) {
      out.emplace_back(word);
    }
  }
}

// "In the 2nd quarter.", "It came in the second quarter." for gold "the second
// quarter".
void AddPlaceInOrder(std::string_view text, std::string_view sentence,
                     std::vector<std::string>& out, std::string_view gold) {
  constexpr std::string_view kInThe = "in the ";
  constexpr std::string_view kThe = "the ";
  std::string wanted = Lower(gold);
  if (wanted.starts_with(kThe)) wanted.erase(0, kThe.size());
  const size_t blank = wanted.find(' ');
  if (blank == std::string::npos || wanted.size() > 40 || HasDigits(wanted)) {
    return;
  }
  const std::string place = PlaceInWords(wanted.substr(0, blank));
  const std::string noun = wanted.substr(blank + 1);
  const std::string lower = PlainLower(sentence);
  const size_t at = lower.rfind(kInThe);
  std::string_view said = lower;
  std::string_view front;
  if (at != std::string::npos && (at == 0 || lower[at - 1] == ' ')) {
    front = said.substr(0, at);
    said = said.substr(at + kInThe.size());
  } else if (said.starts_with(kThe)) {
    said.remove_prefix(kThe.size());
  }
  const size_t end = said.find(' ');
  if (place.empty() || end == kNowhere || said.substr(end + 1) != noun ||
      PlaceInWords(said.substr(0, end)) != place ||
      front.find(noun) != kNowhere || !SaysPlainly(sentence) ||
      sentence.size() + 8 < WithoutLastMarks(text).size()) {
    return;
  }
  out.emplace_back(gold);
}

// Whether it is the symbol of an element: "Au" of "gold".
bool IsSymbolOf(std::string_view text, std::string_view name) {
  const std::string lower = Lower(name);
  const auto rows = Rows(Reading::kSymbolOf);
  return std::any_of(rows.begin(), rows.end(), [&](const Phrase& row) {
    return row.pattern == lower && row.meaning == text;
  });
}

// Whether it is a formula of several elements without an index: "NaCl".
bool IsCompound(std::string_view text) {
  constexpr size_t kLongestCompound = 8;
  if (text.size() > kLongestCompound || text.size() < 2) return false;
  size_t elements = 0;
  while (!text.empty()) {
    if (text[0] < 'A' || text[0] > 'Z') return false;
    const bool two = text.size() > 1 && text[1] >= 'a' && text[1] <= 'z';
    text.remove_prefix(two ? 2 : 1);
    ++elements;
  }
  return elements > 1;
}

// "CO2 (carbon dioxide)", "It is carbon dioxide, CO2.", "It is Fe2O3, iron(III)
// oxide.": either form alone.
void AddForms(std::string_view text, std::string_view sentence,
              std::vector<std::string>& out) {
  const auto name = [](std::string_view words) {
    return words.size() > 3 && words.size() < 40 &&
           std::count(words.begin(), words.end(), ' ') < 3 &&
           std::all_of(words.begin(), words.end(), [](char c) {
             return Letter(c) || std::string_view(" -()").find(c) != kNowhere;
           });
  };
  if (sentence.size() + 8 < WithoutLastMarks(text).size() ||
      !SaysPlainly(sentence)) {
    return;
  }
  size_t cut = sentence.rfind(", "), end = sentence.size();
  size_t behind = cut == kNowhere ? 0 : cut + 2;
  if (sentence.ends_with(")") && cut == kNowhere) {
    cut = sentence.rfind(" (");
    behind = cut == kNowhere ? 0 : cut + 2;
    --end;
  }
  if (cut == kNowhere || cut == 0 || behind >= end) return;
  const std::string_view front = sentence.substr(0, cut);
  std::string_view second = sentence.substr(behind, end - behind);
  const size_t blank = front.rfind(' ');
  const std::string_view word = front.substr(blank == kNowhere ? 0 : blank + 1);
  // "gold (symbol Au)"
  const size_t lead = BeginsIn(PlainLower(second), Reading::kSymbolLead);
  second = TrimBlanks(second.substr(lead));
  const bool symbol = lead > 0 && IsSymbolOf(second, word);
  const bool compound =
      IsCompound(second) && EndsWith(Lower(word), Reading::kCompoundEnd) > 0;
  if (symbol || compound) {
    const size_t verb = front.rfind(" is ");
    out.emplace_back(front);
    if (name(verb == kNowhere ? front : front.substr(verb + 4))) {
      out.emplace_back(second);
    }
    return;
  }
  // "Superior (Lake Superior)"
  if (end < sentence.size() && SameButKind(front, second) != Alike::kOther) {
    out.emplace_back(front.size() > second.size() ? front : second);
    return;
  }
  if (IsFormulaSign(second) && HasLetters(front)) {
    out.emplace_back(front);
    size_t verb = kNowhere;
    for (const std::string_view is : {" is ", " are "}) {
      const size_t at = front.rfind(is);
      if (at != kNowhere) verb = at + is.size();
    }
    const std::string_view called =
        verb == kNowhere ? front : front.substr(verb);
    if (name(called)) {
      out.emplace_back(second);
    }
  } else if (IsFormulaSign(word) && name(second)) {
    out.emplace_back(front);
    if (blank == kNowhere) {
      out.emplace_back(second);
    }
  }
}

}  // namespace

bool IsFormulaSign(std::string_view text) {
  bool capital = false, index = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c >= 'A' && c <= 'Z') {
      capital = true;
    } else if (Digit(c) || text.substr(at).starts_with("\xe2\x82")) {
      index = true;
      if (!Digit(c)) at += 2;
    } else if (!Letter(c) && std::string_view("()_{}$").find(c) == kNowhere) {
      return false;
    }
  }
  return capital && index && Letter(text[0]);
}

std::vector<std::string> RewordedNames(std::string_view text,
                                       std::string_view sentence,
                                       std::string_view gold) {
  std::vector<std::string> out;
  AddWithoutMore(text, sentence, out, gold);
  AddForms(text, sentence, out);
  AddNamed(text, sentence, out, gold);
  AddShape(text, sentence, out, gold);
  AddPlaceInOrder(text, sentence, out, gold);
  return out;
}

}  // namespace espalier
