#include "datasets/tasks/story_words.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "datasets/tasks/sentences.h"
#include "datasets/tasks/story_reading.h"
#include "datasets/tasks/story_sentences.h"

namespace espalier {
namespace {

bool IsPerson(std::string_view word) {
  return std::any_of(
      std::begin(kStoryPeople), std::end(kStoryPeople),
      [word](const StoryPerson& person) { return person.name == word; });
}

bool IsOneOf(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether `word` may stand for the slot of a template.
bool Fits(char slot, std::string_view word) {
  static constexpr std::string_view kPronouns[] = {"He", "She", "he", "she"};
  switch (slot) {
    case 'N':
    case 'F':
      return IsPerson(word);
    case 'S':
    case 's':
      return IsPerson(word) || IsOneOf(word, kPronouns);
    case 'o':
      return IsOneOf(word, kStoryThings);
    case 'w':
      return IsOneOf(word, kStoryNumberWords);
    default:
      return !word.empty() &&
             std::all_of(word.begin(), word.end(), absl::ascii_isdigit);
  }
}

bool Matches(const std::vector<std::string>& words,
             std::string_view template_text) {
  const std::vector<std::string> wanted =
      absl::StrSplit(AbslView(template_text), ' ');
  if (wanted.size() != words.size()) return false;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view want = wanted[i];
    std::string_view word = words[i];
    if (i + 1 == words.size()) {  // "." or "?"
      if (word.empty() || word.back() != want.back()) return false;
      want.remove_suffix(1);
      word.remove_suffix(1);
    }
    if (want.starts_with('$') ? !Fits(want[1], word) : want != word) {
      return false;
    }
  }
  return true;
}

bool IsOwnSentence(const std::string& sentence) {
  const std::vector<std::string> words = absl::StrSplit(sentence, ' ');
  for (const std::span<const std::string_view> templates :
       {std::span<const std::string_view>(kStoryOpenings),
        std::span<const std::string_view>(kStoryAdds),
        std::span<const std::string_view>(kStorySubtracts),
        std::span<const std::string_view>(kStoryMultiplies),
        std::span<const std::string_view>(kStoryDivides),
        std::span<const std::string_view>(kStoryDistractors),
        std::span<const std::string_view>(kStoryQuestions)}) {
    for (const std::string_view text : templates) {
      for (const char* times : {"twice", "$w times"}) {
        if (Matches(words,
                    absl::StrReplaceAll(AbslView(text), {{"$k", times}}))) {
          return true;
        }
      }
    }
  }
  return false;
}

// "" if there is no word for the factor.
std::string Sentence(const StoryChange& change, std::string_view subject,
                     std::string_view thing) {
  const bool factor = change.event == StoryEvent::kMultiply ||
                      change.event == StoryEvent::kDivide;
  if (factor &&
      (change.amount < 2 ||
       change.amount >= static_cast<int64_t>(std::size(kStoryNumberWords)))) {
    return "";
  }
  const std::string word =
      factor
          ? std::string(kStoryNumberWords[static_cast<size_t>(change.amount)])
          : "";
  const std::string times = word == "two" ? "twice" : word + " times";
  switch (change.event) {
    case StoryEvent::kAdd:
      return absl::StrCat(AbslView(subject), " finds ", change.amount, " ",
                          AbslView(thing), ".");
    case StoryEvent::kSubtract:
      return absl::StrCat(AbslView(subject), " loses ", change.amount, " ",
                          AbslView(thing), ".");
    case StoryEvent::kMultiply:
      return absl::StrCat("Then ", absl::AsciiStrToLower(AbslView(subject)),
                          " has ", times, " as many.");
    case StoryEvent::kDivide:
      return absl::StrCat(AbslView(subject), " makes ", word,
                          " equal piles and keeps one.");
  }
  return "";
}

}  // namespace

std::string InStoryWords(std::string_view question) {
  const std::vector<std::string> sentences = SplitSentences(question);
  std::string unchanged(question);
  if (std::all_of(sentences.begin(), sentences.end(), IsOwnSentence)) {
    return unchanged;
  }
  const auto story = ReadStoryContent(question);
  if (!story.ok()) return unchanged;
  std::string_view name = story->she ? "Ann" : "Tom";
  for (const StoryPerson& person : kStoryPeople) {
    const std::string lower = absl::AsciiStrToLower(AbslView(person.name));
    if (lower == story->hero && person.female == story->she) {
      name = person.name;
    }
  }
  const std::string_view thing = IsOneOf(story->thing, kStoryThings)
                                     ? std::string_view(story->thing)
                                     : kStoryThings[0];
  std::string told = absl::StrCat(AbslView(name), " has ", story->first, " ",
                                  AbslView(thing), ".");
  for (const StoryChange& change : story->changes) {
    const std::string sentence =
        Sentence(change, story->she ? "She" : "He", thing);
    if (sentence.empty()) return unchanged;
    absl::StrAppend(&told, " ", sentence);
  }
  absl::StrAppend(&told, " How many ", AbslView(thing), " does ",
                  AbslView(name), " have now?");
  return told;
}

}  // namespace espalier
