#include "datasets/tasks/story_pronouns.h"

#include <algorithm>

namespace espalier {
namespace {

bool Contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsSubject(std::string_view word) {
  return word == "she" || word == "he" || word == "they";
}

}  // namespace

char StoryPronounOf(std::string_view name) {
  static constexpr std::string_view kShe[] = {"ann", "mia", "eva", "lucy"};
  static constexpr std::string_view kHe[] = {"tom", "ben"};
  return Contains(kShe, name) ? 's' : Contains(kHe, name) ? 'h' : '?';
}

std::optional<UnclearPronoun> FindUnclearPronoun(
    std::span<const PlainWords> sentences,
    std::span<const std::string> hero_name) {
  static constexpr std::string_view kShe[] = {"she", "hers", "herself"};
  static constexpr std::string_view kHe[] = {"he", "him", "his", "himself"};
  char hero = StoryPronounOf(hero_name.front());
  char other = 0;            // of whom the sentence before named, 0: nobody
  bool about_other = false;  // the sentence before began with that person
  for (size_t at = 0; at < sentences.size(); ++at) {
    const PlainWords& words = sentences[at];
    char named = 0;
    bool begun = false;       // with the person of `named`
    bool about_hero = false;  // who is named before anybody else
    for (size_t i = 0; i < words.texts.size(); ++i) {
      const std::string& word = words.texts[i];
      const char pronoun = Contains(kShe, word)  ? 's'
                           : Contains(kHe, word) ? 'h'
                           : word == "they"      ? 't'
                                                 : 0;
      if (pronoun != 0) {
        if (hero == '?') hero = pronoun;
        // "Tom gives Ann 3 of his pens."
        if (word == "his" && hero == 's' && named != 0 && named != 's')
          continue;
        // "herself" is whoever its sentence is about. In "Ann sells 3 and she
        // finds 2" she is whom the sentence names first, and in "Tom gives
        // him 4" he is not Tom.
        const bool subject = IsSubject(word);
        const bool unclear = word.ends_with("self")      ? false
                             : begun && named == pronoun ? word != "him"
                             : other == pronoun
                                 ? !about_hero && (about_other || !subject)
                                 : false;
        if (hero != pronoun || unclear) return UnclearPronoun{at, word};
        about_hero = true;
      }
      // After ", Ann" as after "Ann" in a sentence of its own.
      if (words.after_comma[i] && word == hero_name.front()) named = 0;
      if (word == hero_name.front() && named == 0) about_hero = true;
      const bool name = i > 0 && !words.names[i].empty() && word != "i";
      const bool first = i == 0 && StoryPronounOf(word) != '?';
      if ((name || first) && std::find(hero_name.begin(), hero_name.end(),
                                       word) == hero_name.end()) {
        named = StoryPronounOf(word);
        begun = first;
      }
    }
    other = named;
    about_other = begun;
  }
  return std::nullopt;
}

}  // namespace espalier
