// Whom the pronouns of a story mean, as far as names tell: a story is about one
// person.
//
// A pronoun that begins a sentence is whoever the sentence before was about:
// "She gives 3 to Ann. She loses 4." One behind names is the first of them.
//
// Stateless and thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_STORY_PRONOUNS_H_
#define ESPALIER_DATASETS_TASKS_STORY_PRONOUNS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "datasets/tasks/plain_words.h"

namespace espalier {

// By the generator's names, in lower case: 's' she, 'h' he, '?' not known (Sam,
// Max and all others).
char StoryPronounOf(std::string_view name);

struct UnclearPronoun {
  size_t sentence = 0;  // its index
  std::string word;
};

// The first pronoun that may mean somebody other than the hero.
std::optional<UnclearPronoun> FindUnclearPronoun(
    std::span<const PlainWords> sentences,
    std::span<const std::string> hero_name);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_STORY_PRONOUNS_H_
