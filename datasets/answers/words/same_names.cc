#include "datasets/answers/words/same_names.h"

#include <algorithm>
#include <vector>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

bool BeginsCapital(std::string_view word) {
  return !word.empty() && word[0] >= 'A' && word[0] <= 'Z';
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

// Whether a phrase is an abbreviation, written in capitals.
bool Abbreviation(std::string_view pattern) {
  constexpr size_t kLongest = 5;
  return pattern.size() <= kLongest && pattern.find(' ') == kNowhere;
}

size_t LengthAt(std::string_view text, std::string_view pattern) {
  if (Abbreviation(pattern)) return SpelledLength(text, pattern);
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
      return Letter(c) || c == '.' || c == '-' || c == '\'';
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

// Whether the names between the first and the last one may be the same.
bool SameMiddle(const std::vector<std::string_view>& a,
                const std::vector<std::string_view>& b) {
  if (a.empty() || b.empty()) {
    const auto& other = a.empty() ? b : a;
    return std::all_of(other.begin(), other.end(), Initial);
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
  if (words.size() < 2 || words.size() > kMostWords || Initial(words[0]) ||
      words.back().size() < 2 || words.back().ends_with(".") ||
      IsHonorific(words[0])) {
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
         (Letter(text[end]) || text[end] == '-' || text[end] == '\'')) {
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
  const bool initials = word != person.first && Initial(word) &&
                        word[0] == person.first[0] && !person.middle.empty();
  if (word != person.first && !initials) return kNowhere;
  while (true) {
    at += word.size();
    const bool blank = at < text.size() && text[at] == ' ';
    if (!blank && !(word.ends_with(".") && at < text.size())) return kNowhere;
    if (blank) ++at;
    word = WordAt(text, at);
    if (word == person.last) break;
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

}  // namespace

std::string WithShortNamesInFull(std::string_view name, std::string_view text) {
  name = BareName(name);
  std::string_view full;
  for (const Phrase& row : Rows(Reading::kSameName)) {
    if (!name.empty() && LengthAt(name, row.pattern) == name.size()) {
      full = row.meaning;
    }
  }
  if (full.empty()) return std::string(text);
  std::string out;
  std::vector<std::string_view> forms;
  for (const Phrase& row : Rows(Reading::kSameName)) {
    if (row.meaning == full) forms.push_back(row.pattern);
  }
  for (size_t at = 0; at < text.size();) {
    size_t longest = 0;
    const bool begins = (Letter(text[at]) || Digit(text[at])) &&
                        (at == 0 || WordEdge(text, at));
    for (size_t i = 0; begins && i < forms.size(); ++i) {
      const size_t length = LengthAt(text.substr(at), forms[i]);
      if (length > longest && WordEdge(text, at + length)) longest = length;
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
