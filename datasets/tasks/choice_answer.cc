#include "datasets/tasks/choice_answer.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/parse_json.h"
#include "base/text.h"
#include "datasets/answers/find/extract_answer.h"
#include "datasets/answers/find/later_answer.h"
#include "datasets/answers/find/sentence.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/tasks/choice_concluded.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

std::string LetterOf(size_t option) {
  return std::string(1, static_cast<char>('A' + option));
}

// The options for which `picks` is true.
template <typename Picks>
std::vector<size_t> Where(size_t count, const Picks& picks) {
  std::vector<size_t> found;
  for (size_t i = 0; i < count; ++i) {
    if (picks(i)) found.push_back(i);
  }
  return found;
}

// The exact words of the response, and those of the answer found in it,
// normalized for comparing words.
struct ResponseWords {
  std::string whole;
  std::vector<std::string> found;
};

ResponseWords WordsOf(std::string_view response) {
  const std::string plain = WithPlainSigns(response);
  ResponseWords words{FoldWords(plain), {FoldWords(ExtractAnswer(plain).text)}};
  if (const auto found = FindFinalAnswer(response)) {
    words.found.push_back(FoldWords(*found));
  }
  return words;
}

// The option that a response names by a small letter: "c.", "(c)", "c) 18",
// "option c"; else one that does not exist.
size_t SmallLetter(const std::vector<std::string>& options,
                   std::string_view response) {
  constexpr size_t kLongest = 200;
  if (response.size() > kLongest) return std::string::npos;
  std::string text(TrimBlanks(response));
  absl::AsciiStrToLower(&text);
  std::string_view rest = text;
  for (const std::string_view lead : {"the ", "my ", "correct ", "answer",
                                      "option", "choice", " is", ":", " "}) {
    if (rest.starts_with(lead)) rest.remove_prefix(lead.size());
  }
  rest.remove_prefix(std::min(rest.find_first_not_of("(*"), rest.size()));
  if (rest.empty() || rest[0] < 'a' || rest[0] > 'j') return std::string::npos;
  const auto option = static_cast<size_t>(rest[0] - 'a');
  rest.remove_prefix(1);
  const std::string_view content = TrimBlanks(
      rest.substr(std::min(rest.find_first_not_of("):.*"), rest.size())));
  if (option >= options.size()) return std::string::npos;
  const bool named =
      content.empty() || (content.size() < rest.size() && rest[0] != ' ' &&
                          FoldWords(content) == FoldWords(options[option]));
  return named ? option : std::string::npos;
}

// Whether an option consists of the response's words.
bool IsOption(const std::vector<std::string>& options,
              std::string_view response) {
  return std::any_of(options.begin(), options.end(),
                     [response](const std::string& option) {
                       return FoldWords(option) == FoldWords(response);
                     });
}

// The option whose text stands behind the letter that a response picks: "B) 12"
// where 12 is option A; else `letter`.
size_t TextBehindLetter(const std::vector<std::string>& options,
                        std::string_view response, size_t letter) {
  const auto name = static_cast<char>('A' + letter);
  size_t at = response.rfind(name);
  for (; at != response.npos && at > 0; at = response.rfind(name, at - 1)) {
    if (!absl::ascii_isalnum(response[at - 1])) break;
  }
  if (at == response.npos) return letter;
  std::string_view rest = response.substr(at + 1);
  if (rest.empty() || std::string_view(").:").find(rest[0]) == rest.npos) {
    return letter;
  }
  rest = rest.substr(1, rest.find('\n') - 1);
  const std::string said = FoldWords(rest);
  if (said.empty() || FoldWords(options[letter]) == said) return letter;
  for (size_t i = 0; i < options.size(); ++i) {
    if (FoldWords(options[i]) == said) return i;
  }
  return letter;
}

// The options that the response picks; correct only if it is just the right
// one.
std::vector<size_t> Picked(const std::vector<std::string>& options,
                           std::string_view response) {
  const size_t count = options.size();
  if (const char letter = ChoiceRechecked(response);
      letter != '\0' && letter < static_cast<char>('A' + count)) {
    return {static_cast<size_t>(letter - 'A')};
  }
  std::string capital;
  if (const size_t small = SmallLetter(options, response);
      small < count && !IsOption(options, response)) {
    capital = LetterOf(small);
    response = capital;
  } else if (const std::string_view left = ChoiceLeft(response);
             !left.empty() && response.find("boxed") == response.npos) {
    response = left;
  }
  std::vector<size_t> by_letter = Where(count, [&](size_t i) {
    return GradeAnswer(LetterOf(i), response).equal;
  });
  if (by_letter.size() == 1) {
    const size_t text = TextBehindLetter(options, response, by_letter[0]);
    if (text != by_letter[0]) by_letter.push_back(text);
  }
  if (!by_letter.empty()) return by_letter;
  if (NamesOtherChoice(response)) return {};
  const size_t concluded = ChoiceConcluded(options, response);
  if (concluded < count) return {concluded};
  const ResponseWords words = WordsOf(response);
  std::vector<size_t> by_words = Where(count, [&](size_t i) {
    const std::string folded = FoldWords(options[i]);
    if (folded.empty()) return false;
    if (words.whole == folded) return true;
    // "Tom wrote: the answer is 2" claims nothing.
    return std::find(words.found.begin(), words.found.end(), folded) !=
               words.found.end() &&
           !GradeAnswer(options[i], response).undecided;
  });
  if (by_words.size() == 1) return by_words;
  return Where(
      count, [&](size_t i) { return GradeAnswer(options[i], response).equal; });
}

}  // namespace

std::vector<std::string> ChoiceOptions(const Reference& reference) {
  const auto it = reference.fields.find("options");
  if (it == reference.fields.end() || reference.answer.empty()) return {};
  const auto list = ParseJsonOrNull(it->second);
  if (!list.is_array()) return {};
  std::vector<std::string> options;
  for (const auto& option : list) {
    if (!option.is_string()) return {};
    options.push_back(option.get<std::string>());
  }
  for (const char letter : reference.answer) {
    if (letter < 'A' || static_cast<size_t>(letter - 'A') >= options.size()) {
      return {};
    }
  }
  return options;
}

Verdict CheckChoice(const std::vector<std::string>& options,
                    std::string_view gold, std::string_view response) {
  const std::string expected = absl::StrCat("expected ", AbslView(gold));
  if (gold.size() != 1) {
    GradeVerdict verdict = GradeAnswer(gold, response);
    if (verdict.equal) return {true, std::move(verdict.reason)};
    return {false, absl::StrCat(expected, ": ", verdict.reason),
            verdict.undecided};
  }
  const std::vector<size_t> picked = Picked(options, response);
  if (picked.empty()) {
    return {false, absl::StrCat(expected, ", found no option")};
  }
  std::string found = LetterOf(picked[0]);
  for (size_t i = 1; i < picked.size(); ++i) {
    absl::StrAppend(&found, " and ", LetterOf(picked[i]));
  }
  if (picked.size() > 1 || found != gold) {
    return {false, absl::StrCat(expected, ", found ", found)};
  }
  return {true, absl::StrCat("picks ", found)};
}

}  // namespace espalier
