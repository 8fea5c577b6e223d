// The name that a short statement gives in other words than it alone: behind a
// passive or a place, with the kind of thing that it names, its country, or its
// symbol or abbreviation.
//
//   NamesSaid("The laws were formulated by Johannes Kepler.")
//       // "Johannes Kepler"
//   NamesSaid("The falls lie on the Zambezi River.")   // "the Zambezi River"
//   SameButKind("Zambezi", "the Zambezi River")        // Alike::kSame
//   SameButKind("Ohio", "the Ohio River")              // Alike::kMaybe
//   WithoutShortForm("Tungsten (W)")                   // "Tungsten"
//   WithoutCountry("It's Paris, France.")              // "It's Paris"
//
// Stateless; looks at short texts only: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_NAMES_SAID_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_NAMES_SAID_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

// Whether nothing in a short text turns, denies, doubts or attributes what it
// says.
bool SaysPlainly(std::string_view text);

// The names that may be the answer of a statement that nothing in the text
// turns or puts in doubt; the longest first. Empty if there are none.
std::vector<std::string> NamesSaid(std::string_view text);

enum class Alike { kOther, kMaybe, kSame };

// Whether two names are the same but for a word for their kind ("River",
// "Lake") that only one has. Maybe if the name without it is also that of
// another thing, or an ordinary word.
Alike SameButKind(std::string_view a, std::string_view b);

// Without a bracket that holds the symbol or the initials of the words in front
// of it; empty if there is none.
std::string WithoutShortForm(std::string_view text);

// The two forms of a text that is only both of them: "Gold (Au)", "WHO (World
// Health Organization)".
std::pair<std::string_view, std::string_view> BothForms(std::string_view text);

// Without the country behind the place at its end; empty if there is none.
std::string_view WithoutCountry(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_NAMES_SAID_H_
