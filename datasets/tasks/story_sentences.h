// The sentences of stories: the one table that the generator writes from. Each
// has a form in story_forms.h, by which stories are recognized.
#ifndef ESPALIER_DATASETS_TASKS_STORY_SENTENCES_H_
#define ESPALIER_DATASETS_TASKS_STORY_SENTENCES_H_

#include <string_view>

namespace espalier {

inline constexpr std::string_view kStoryNumberWords[] = {
    "zero", "one", "two",   "three", "four",
    "five", "six", "seven", "eight", "nine"};

struct StoryPerson {
  std::string_view name;
  bool female;
};

inline constexpr StoryPerson kStoryPeople[] = {
    {"Ann", true}, {"Tom", false}, {"Mia", true},  {"Ben", false},
    {"Eva", true}, {"Sam", false}, {"Lucy", true}, {"Max", false},
};

inline constexpr std::string_view kStoryThings[] = {
    "shells", "marbles", "stamps",  "cards",   "coins",   "beads",   "pens",
    "books",  "apples",  "plums",   "nuts",    "buttons", "stones",  "stickers",
    "sweets", "pencils", "ribbons", "tickets", "candles", "flowers", "figs",
};

// Templates. $S the hero as subject (name or pronoun), $s the same inside a
// sentence, $N the hero's name, $o the objects, $F a friend, $x the number. For
// factors: $k "twice" or "three times", $w the number word.
inline constexpr std::string_view kStoryOpenings[] = {
    "$N has $x $o.",         "At first $N has $x $o.",
    "$N starts with $x $o.", "There are $x $o in the box that $N has.",
    "$N owns $x $o.",
};
inline constexpr std::string_view kStoryAdds[] = {
    "$S finds $x more.",        "$S finds $x $o.",    "$S buys $x more $o.",
    "$S wins $x $o in a game.", "$S picks up $x $o.", "$S gets $x $o from $F.",
};
inline constexpr std::string_view kStorySubtracts[] = {
    "$S loses $x $o.",    "$S sells $x of them.",  "$S throws away $x $o.",
    "$S drops $x $o.",    "$S breaks $x of them.", "$S gives $x $o to $F.",
    "$S gives $x to $F.",
};
inline constexpr std::string_view kStoryMultiplies[] = {
    "Now $s gets $k as many.",        "Then $s has $k as many.",
    "$S trades them for $k as many.", "$S ends up with $k as many $o.",
    "The pile grows to $k its size.",
};
inline constexpr std::string_view kStoryDivides[] = {
    "$S makes $w equal piles and keeps one.",
    "$S fills $w equal bags and keeps one.",
    "$S cuts the pile into $w equal parts and keeps one.",
};
inline constexpr std::string_view kStoryDistractors[] = {
    "The shop opens at $x.",      "$F is $x years old.",
    "The walk takes $x minutes.", "$S reads $x pages of a book.",
    "$F lives in house $x.",      "$S also sees $x birds.",
};
inline constexpr std::string_view kStoryQuestions[] = {
    "How many $o does $N have now?",
    "How many $o does $N have at the end?",
    "How many $o are left for $N?",
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_STORY_SENTENCES_H_
