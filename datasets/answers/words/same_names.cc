#include "datasets/answers/words/same_names.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

bool BeginsCapital(std::string_view word) {
  return !word.empty() && word[0] >= 'A' && word[0] <= 'Z';
}

// Also a byte of a letter with a diacritic.
bool NameLetter(char c) {
  return Letter(c) || static_cast<unsigned char>(c) >= 0x80;
}

// Whether a word may end or begin at `at`.
bool WordEdge(std::string_view text, size_t at) {
  const auto inner = [](char c) { return Letter(c) || Digit(c) || c == '_'; };
  return at == 0 || at >= text.size() || !inner(text[at]) ||
         !inner(text[at - 1]);
}

// "USA", "U.S.": the length of the capitals at the start of `text` that spell
// `letters`, with or without points.
size_t SpelledLength(std::string_view text, std::string_view letters) {
  size_t at = 0;
  const bool points = text.size() > 1 && text[1] == '.';
  for (const char c : letters) {
    if (at >= text.size()) return 0;
    const bool capital = c >= 'a' && c <= 'z';
    if (text[at] != (capital ? static_cast<char>(c - 'a' + 'A') : c)) return 0;
    ++at;
    if (points && at < text.size() && text[at] == '.') ++at;
  }
  return at;
}

// Whether a phrase is an abbreviation, written in capitals, and no word of the
// name.
bool Abbreviation(const Phrase& row) {
  constexpr size_t kLongest = 5;
  const std::string words = " " + Lower(row.meaning) + " ";
  return row.pattern.size() <= kLongest && row.pattern.find(' ') == kNowhere &&
         words.find(" " + std::string(row.pattern) + " ") == std::string::npos;
}

size_t LengthAt(std::string_view text, const Phrase& row) {
  const std::string_view pattern = row.pattern;
  if (Abbreviation(row)) return SpelledLength(text, pattern);
  return Lower(text.substr(0, pattern.size())) == pattern ? pattern.size() : 0;
}

// A name without an article, markup and the full stop at its end.
std::string_view BareName(std::string_view text) {
  text = TrimBlanks(text);
  if (text.starts_with("\\text{") && text.ends_with("}")) {
    text = text.substr(6, text.size() - 7);
  }
  for (const std::string_view article : {"the ", "The "}) {
    if (text.starts_with(article)) text.remove_prefix(article.size());
  }
  if (text.ends_with(".") && text.size() > 2 && text[text.size() - 3] != '.') {
    text.remove_suffix(1);
  }
  return TrimBlanks(text);
}

// The words of a name as they are written; empty if it is none.
std::vector<std::string_view> WordsOfName(std::string_view text) {
  constexpr size_t kLongestName = 60;
  std::vector<std::string_view> out;
  if (text.size() > kLongestName) return {};
  while (!(text = TrimBlanks(text)).empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
      return NameLetter(c) || c == '.' || c == '-' || c == '\'';
    });
    if (!plain || !BeginsCapital(word)) return {};
    out.push_back(word);
    text.remove_prefix(word.size());
  }
  return out;
}

bool Initial(std::string_view word) {
  return !word.empty() && (word.size() == 1 || word.substr(1) == ".");
}

// "South West Africa" is no person with a name in the middle.
bool PlaceWord(std::string_view word) {
  constexpr std::string_view kWords[] = {"North", "South", "East",   "West",
                                         "New",   "Great", "Upper",  "Lower",
                                         "Saint", "San",   "Central"};
  return std::find(std::begin(kWords), std::end(kWords), word) !=
         std::end(kWords);
}

// Whether the names between the first and the last one may be the same.
bool SameMiddle(const std::vector<std::string_view>& a,
                const std::vector<std::string_view>& b) {
  if (a.empty() || b.empty()) {
    const auto& other = a.empty() ? b : a;
    return std::none_of(other.begin(), other.end(), PlaceWord);
  }
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](std::string_view x, std::string_view y) {
                      const bool initial = Initial(x) || Initial(y);
                      return initial ? x[0] == y[0] : x == y;
                    });
}

bool IsHonorific(std::string_view word) {
  return IsPhrase(Lower(word), Reading::kHonorific);
}

struct Person {
  std::string_view first, last;
  std::vector<std::string_view> middle;
  std::string written;
};

Person PersonOf(std::string_view name) {
  std::vector<std::string_view> words = WordsOfName(BareName(name));
  while (words.size() > 2 && IsHonorific(words[0])) words.erase(words.begin());
  constexpr size_t kMostWords = 4;
  if (words.size() < 2 || words.size() > kMostWords ||
      (words.size() == 2 && Initial(words[0])) || words.back().size() < 2 ||
      words.back().ends_with(".") || IsHonorific(words[0])) {
    return {};
  }
  Person out;
  out.first = words.front();
  out.last = words.back();
  out.middle.assign(words.begin() + 1, words.end() - 1);
  for (const std::string_view word : words) {
    if (!out.written.empty()) out.written += ' ';
    out.written += word;
  }
  return out;
}

// The word at `at`, with the point of an initial or a title.
std::string_view WordAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() &&
         (NameLetter(text[end]) || text[end] == '-' || text[end] == '\'')) {
    ++end;
  }
  const std::string_view word = text.substr(at, end - at);
  const bool point = end < text.size() && text[end] == '.' &&
                     (Initial(word) || IsHonorific(word));
  return text.substr(at, end - at + (point ? 1 : 0));
}

// The end of the person's name that begins at `at`; npos if none does.
size_t EndOfPerson(const Person& person, std::string_view text, size_t at) {
  constexpr size_t kMostMiddle = 2;
  std::vector<std::string_view> middle;
  std::string_view word = WordAt(text, at);
  // "W. A. Mozart": the initials of all names in front.
  // "John Ronald Reuel Tolkien" for "J. R. R. Tolkien" as well.
  const bool initials = word != person.first && !word.empty() &&
                        (Initial(word) || Initial(person.first)) &&
                        word[0] == person.first[0] && !person.middle.empty();
  if (word != person.first && !initials) return kNowhere;
  while (true) {
    at += word.size();
    const bool blank = at < text.size() && text[at] == ' ';
    if (!blank && !(word.ends_with(".") && at < text.size())) return kNowhere;
    if (blank) ++at;
    word = WordAt(text, at);
    // "Skłodowska-Curie"
    const bool joined = word.size() > person.last.size() + 1 &&
                        word.ends_with(person.last) &&
                        word[word.size() - person.last.size() - 1] == '-';
    if (word == person.last || joined) break;
    if (!BeginsCapital(word) || middle.size() == kMostMiddle) return kNowhere;
    middle.push_back(word);
  }
  if (!SameMiddle(person.middle, middle) ||
      (initials && middle.size() != person.middle.size())) {
    return kNowhere;
  }
  const bool left_out = person.middle.empty() != middle.empty();
  const std::string both = Lower(person.first) + " " + Lower(person.last);
  if (left_out && IsPhrase(both, Reading::kNamesakes)) return kNowhere;
  return at + word.size();
}

// Whether a name goes on around the part of it at [at, end): "Leopold |
// Mozart".
bool GoesOn(std::string_view text, size_t at, size_t end) {
  if (end + 1 < text.size() && text[end] == ' ' &&
      BeginsCapital(text.substr(end + 1))) {
    return true;
  }
  if (at < 2 || text[at - 1] != ' ') return false;
  const size_t blank = text.rfind(' ', at - 2);
  const size_t word = blank == kNowhere ? 0 : blank + 1;
  // "W. A. | Mozart"
  const std::string_view front = text.substr(word, at - 1 - word);
  if (front.ends_with(".") &&
      (front.size() == 2 || front.find('.') + 1 < front.size())) {
    return true;
  }
  // The first word of a sentence has a capital of its own.
  const bool first =
      word == 0 ||
      (word > 1 && std::string_view(".!?\n:").find(text[word - 2]) != kNowhere);
  return BeginsCapital(text.substr(word)) && !first;
}

}  // namespace

std::string WithShortNamesInFull(std::string_view name, std::string_view text) {
  name = BareName(name);
  std::string_view full;
  for (const Phrase& row : Rows(Reading::kSameName)) {
    if (!name.empty() && LengthAt(name, row) == name.size()) {
      full = row.meaning;
    }
  }
  if (full.empty()) return std::string(text);
  std::string out;
  std::vector<const Phrase*> forms;
  for (const Phrase& row : Rows(Reading::kSameName)) {
    if (row.meaning == full) forms.push_back(&row);
  }
  for (size_t at = 0; at < text.size();) {
    size_t longest = 0;
    const bool begins = (Letter(text[at]) || Digit(text[at])) &&
                        (at == 0 || WordEdge(text, at));
    for (size_t i = 0; begins && i < forms.size(); ++i) {
      const size_t length = LengthAt(text.substr(at), *forms[i]);
      if (length <= longest || !WordEdge(text, at + length)) continue;
      const bool part = !Abbreviation(*forms[i]) &&
                        forms[i]->pattern.find(' ') == kNowhere &&
                        forms[i]->pattern.size() < full.size();
      if (!part || !GoesOn(text, at, at + length)) longest = length;
    }
    if (longest > 0) {
      out += full;
      at += longest;
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string WithPersonAs(std::string_view name, std::string_view text) {
  const Person person = PersonOf(name);
  if (person.written.empty()) return std::string(text);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (!Letter(text[at])) {
      out += text[at++];
      continue;
    }
    std::string_view word = WordAt(text, at);
    size_t start = at;
    // "Sir Alexander Fleming"
    if (IsHonorific(word) && at + word.size() < text.size() &&
        text[at + word.size()] == ' ') {
      start = at + word.size() + 1;
    }
    size_t end = EndOfPerson(person, text, start);
    // "Dr. Sir", and a title that is a name: "Justice".
    if (end == kNowhere && start != at) end = EndOfPerson(person, text, at);
    if (end != kNowhere) {
      out += person.written;
      at = end;
    } else {
      out += word;
      at += word.size();
    }
  }
  return out;
}

}  // namespace espalier
