// Other ways to write a name that stands for a whole answer: short forms of
// well-known names ("the U.S." for "United States"; sameName in phrases.txt),
// and persons with a title or other initials ("Sir Alexander Fleming",
// "Neil A. Armstrong" for "Neil Armstrong").
//
//   WithShortNamesInFull("United States", "It is the USA.")
//       // "It is the United States."
//   WithPersonAs("Neil Armstrong", "It was Neil A. Armstrong.")
//       // "It was Neil Armstrong."
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_SAME_NAMES_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_SAME_NAMES_H_

#include <string>
#include <string_view>

namespace espalier {

// `text` with the short forms of the name that all of `name` is, written in
// full; `text` itself if the name has none.
std::string WithShortNamesInFull(std::string_view name, std::string_view text);

// `text` with each mention of the person that all of `name` is, written as
// `name` without a title. A different initial makes another person, and so does
// a name in the middle for the few first and last names of kNamesakes.
std::string WithPersonAs(std::string_view name, std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_SAME_NAMES_H_
