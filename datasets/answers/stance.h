// What the words around a place in a text say about what stands there: that it
// is so, that it may be, or that it is not.
//
//   StanceAt("It is false that x = 5", 21, 22)   // Stance::kDenies
//   StanceAt("If Bob has 4, Alice has 5", 24, 25)   // Stance::kStates
//
// A sentence is read clause by clause: what begins behind "so" or behind the
// comma of "if ..., " says something of its own. Looks at most
// kLongestLook bytes to either side. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_STANCE_H_
#define ESPALIER_DATASETS_ANSWERS_STANCE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "datasets/answers/phrases.h"

namespace espalier {

enum class Stance { kDenies, kOpen, kStates };

inline constexpr size_t kLongestLook = 400;

// Of what stands at [start, end).
Stance StanceAt(std::string_view text, size_t start, size_t end);

// Of the result of a calculation: a "not" in front of "3000 - 2000 = 1000"
// belongs to what is counted; only words such as "wrong" take it back.
Stance StanceOfResult(std::string_view text, size_t start, size_t end);

// Whether the last clause of a text claims what it says.
bool Affirms(std::string_view text);

// Of a thing, numeral or formula, in words: "the square of", "at most", " or
// more" make another one of it.
Stance StanceBeside(std::string_view lead, std::string_view behind);

// Whether a clause up to its verb tells of what an unknown makes, not of the
// unknown: "the square of x is", "twice the number is".
bool OfUnknown(std::string_view lower);

// Whether the full stop before `at` ends an abbreviation: "i.e. 3".
bool Abbreviated(std::string_view text, size_t at);

// Where the sentence begins that ends at the end of `text`, and how much of
// `text` belongs to the sentence that goes on at its begin.
size_t SentenceStart(std::string_view text);
size_t SentenceLength(std::string_view text);

// The last clause of a sentence, where it begins.
size_t ClauseStart(std::string_view lower);

// In lower case, with plain blanks: byte for byte, so that what is found in it
// is found at the same place of the text.
std::string PlainLower(std::string_view text);

// Whether one of the phrases stands in the text, as whole words.
bool Mentions(std::string_view lower, Reading reading);

// Without what may stand between a verb and what it says: emphasis, quotes,
// brackets, signs of formulas and of currency.
std::string_view WithoutMarks(std::string_view lead);

// Without a last part that checks, remarks or offers help, if something with a
// digit or a formula stands in front of it.
std::string_view WithoutChecks(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_STANCE_H_
