#include "datasets/grade/sentence.h"

#include <algorithm>
#include <cctype>

#include "datasets/grade/characters.h"
#include "datasets/grade/clean_text.h"
#include "datasets/grade/phrases.h"
#include "datasets/grade/stance.h"
#include "datasets/grade/times_dates.h"

namespace espalier {
namespace {

constexpr size_t kNone = std::string_view::npos;
// Longer ones are no sentence.
constexpr size_t kLongest = 1000;

std::string_view LastSentence(std::string_view text) {
  text = TrimBlanks(text);
  if (const size_t line = text.rfind('\n'); line != kNone) {
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

// Without marks of emphasis and the full stop.
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

}  // namespace

std::vector<std::string> SaidInWords(std::string_view text) {
  std::vector<std::string> out;
  // "No, it is not."
  std::string first = Lower(TrimBlanks(text).substr(0, 10));
  std::erase(first, '*');
  for (const std::string_view word : Phrases(Reading::kVerdict)) {
    if (first.size() > word.size() && first.starts_with(word) &&
        (first[word.size()] == ',' || first[word.size()] == '.')) {
      return {std::string(word)};
    }
  }
  std::string_view sentence = LastSentence(text);
  if (sentence.size() > kLongest) return out;
  std::string lower = Lower(sentence);
  // What only gives the reason comes after the answer.
  for (const std::string_view reason : Phrases(Reading::kReason)) {
    if (const size_t at = lower.find(reason); at != kNone && at > 0) {
      sentence = sentence.substr(0, at);
      lower.resize(at);
    }
  }
  if (const size_t close = sentence.rfind("**"); close != kNone && close > 2) {
    const size_t open = sentence.rfind("**", close - 1);
    if (open != kNone && open + 2 < close && open > 0) {
      const std::string_view bold = sentence.substr(open + 2, close - open - 2);
      if (!Blank(bold.front()) && !Blank(bold.back()) && bold.back() != ':') {
        out.push_back(Plain(bold));
      }
    }
  }
  size_t behind = kNone;
  for (const std::string_view verb : Phrases(Reading::kVerb)) {
    const size_t at = lower.rfind(verb);
    if (at == kNone) continue;
    const size_t end = at + verb.size();
    if (behind == kNone || end > behind) behind = end;
  }
  const std::string lead = PlainLower(
      WithoutMarks(sentence.substr(0, behind == kNone ? 0 : behind)));
  const bool unknown =
      OfUnknown(std::string_view(lead).substr(ClauseStart(lead)));
  // "will take 12 days for its height to be 600"
  const bool purpose =
      lead.ends_with(" to be") && std::any_of(lead.begin(), lead.end(), Digit);
  if (behind != kNone && !unknown && !purpose && !lower.ends_with("?") &&
      StanceAt(sentence, behind, sentence.size()) == Stance::kStates) {
    std::string said = Plain(sentence.substr(behind));
    const std::string folded = Lower(said);
    // "is on Saturday"
    for (const std::string_view place : {"on ", "at ", "in "}) {
      if (!said.starts_with(place)) continue;
      const std::string rest = Plain(std::string_view(said).substr(3));
      const bool day = place == "on " && !DateOf(rest).empty();
      if (day || std::all_of(rest.begin(), rest.end(), Letter)) {
        out.push_back(rest);
      }
    }
    // "Statement 1 is true, statement 2 is false" says two things.
    const bool second =
        (folded == "true" || folded == "false") && lower.find("true") < behind;
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
  // "The system has no solution."
  const std::string plain = Lower(Plain(sentence));
  for (const std::string_view words : Phrases(Reading::kMeans)) {
    if (words.find(' ') == kNone ||
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
  // "The series converges."
  if (std::count(sentence.begin(), sentence.end(), ' ') < 6 &&
      (lower.starts_with("the ") || lower.starts_with("it ") ||
       lower.starts_with("this ")) &&
      !Mentions(lower, Reading::kDenies)) {
    std::string word = Plain(sentence.substr(sentence.rfind(' ') + 1));
    if (word.size() > 2 && std::all_of(word.begin(), word.end(), Letter)) {
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
    if (!choice(text[at])) continue;
    const char before = at > 0 ? text[at - 1] : ' ';
    const char after = at + 1 < text.size() ? text[at + 1] : ' ';
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
    const bool named = BeginsIn(verdict, Reading::kChoiceTaken) > 0 ||
                       EndsIn(lead, Reading::kChoice) > 0;
    if ((named || (before == '(' && after == ')')) && !note(text[at])) {
      return 0;
    }
  }
  return found;
}

}  // namespace espalier
