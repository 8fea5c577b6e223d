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

bool IsPronoun(std::string_view word) {
  static constexpr std::string_view kPronouns[] = {"He", "She", "he", "she"};
  return IsOneOf(word, kPronouns);
}

// A number as the generator writes it: it changes nothing by 1.
bool IsAmount(std::string_view word) {
  return !word.empty() && word[0] != '0' && word != "1" &&
         std::all_of(word.begin(), word.end(), absl::ascii_isdigit);
}

// Whether `word` may stand for the slot of a template in a story about `hero`,
// who is named in the opening: "" there.
bool Fits(char slot, std::string_view word, std::string_view hero) {
  switch (slot) {
    case 'N':
      return IsPerson(word) && (hero.empty() || word == hero);
    case 'F':
      return IsPerson(word) && word != hero;
    case 'S':
    case 's':
      return IsPronoun(word) || word == hero;
    case 'o':
      return IsOneOf(word, kStoryThings);
    case 'w':
      return IsOneOf(word, std::span(kStoryNumberWords).subspan(2));
    default:
      return IsAmount(word);
  }
}

bool Matches(const std::vector<std::string>& words,
             std::string_view template_text, std::string_view hero) {
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
    if (want.starts_with('$') ? !Fits(want[1], word, hero) : want != word) {
      return false;
    }
  }
  return true;
}

bool MatchesOne(const std::string& sentence,
                std::span<const std::string_view> templates,
                std::string_view hero) {
  const std::vector<std::string> words = absl::StrSplit(sentence, ' ');
  return std::any_of(
      templates.begin(), templates.end(), [&](std::string_view text) {
        for (const char* times : {"twice", "$w times"}) {
          if (Matches(words,
                      absl::StrReplaceAll(AbslView(text), {{"$k", times}}),
                      hero)) {
            return true;
          }
        }
        return false;
      });
}

// Who has something in the opening; "" if the generator writes none like it.
std::string_view HeroOf(const std::string& opening) {
  if (!MatchesOne(opening, kStoryOpenings, "")) return "";
  const auto person = std::find_if(
      std::begin(kStoryPeople), std::end(kStoryPeople),
      [&](const StoryPerson& one) {
        const std::vector<std::string> words = absl::StrSplit(opening, ' ');
        return std::find(words.begin(), words.end(), one.name) != words.end();
      });
  return person == std::end(kStoryPeople) ? "" : person->name;
}

// Whether the generator could have written it: an opening, changes with at most
// one distractor in front of each, and the question.
bool IsOwnStory(const std::vector<std::string>& sentences) {
  if (sentences.size() < 3) return false;
  const std::string_view hero = HeroOf(sentences.front());
  if (hero.empty() || !MatchesOne(sentences.back(), kStoryQuestions, hero)) {
    return false;
  }
  bool distracted = false;
  for (size_t i = 1; i + 1 < sentences.size(); ++i) {
    const bool distracts = MatchesOne(sentences[i], kStoryDistractors, hero);
    const bool changes = MatchesOne(sentences[i], kStoryAdds, hero) ||
                         MatchesOne(sentences[i], kStorySubtracts, hero) ||
                         MatchesOne(sentences[i], kStoryMultiplies, hero) ||
                         MatchesOne(sentences[i], kStoryDivides, hero);
    if (!changes && (!distracts || distracted)) return false;
    distracted = distracts;
  }
  return !distracted;
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
  const auto finds = [&](int64_t amount) {
    return absl::StrCat(AbslView(subject), " finds ", amount, " ",
                        AbslView(thing), ".");
  };
  const auto loses = [&](int64_t amount) {
    return absl::StrCat(AbslView(subject), " loses ", amount, " ",
                        AbslView(thing), ".");
  };
  // The generator changes nothing by 1.
  switch (change.event) {
    case StoryEvent::kAdd:
      return change.amount == 1 ? finds(3) + " " + loses(2)
                                : finds(change.amount);
    case StoryEvent::kSubtract:
      return change.amount == 1 ? finds(2) + " " + loses(3)
                                : loses(change.amount);
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
  std::string unchanged(question);
  if (IsOwnStory(SplitSentences(question))) return unchanged;
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
  // The generator opens with 2 or more.
  const bool one = story->first == 1;
  std::string told =
      absl::StrCat(AbslView(name), " has ", one ? 3 : story->first, " ",
                   AbslView(thing), ".");
  std::vector<StoryChange> changes = story->changes;
  if (one) changes.insert(changes.begin(), {StoryEvent::kSubtract, 2});
  for (const StoryChange& change : changes) {
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
