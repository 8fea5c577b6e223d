// What the words around a place in a text say about it: that it holds, that it
// may hold, or that it does not.
//
//   StanceAt("It is false that x = 5", 21, 22)   // Stance::kDenies
//   StanceAt("If Bob has 4, Alice has 5", 24, 25)   // Stance::kStates
//
// A sentence is read clause by clause: the part behind "so", or behind the
// comma of "if ..., ", is a statement in itself. Looks at most kLongestLook
// bytes to either side. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_STANCE_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_STANCE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "datasets/answers/words/phrases.h"

namespace espalier {

enum class Stance { kDenies, kOpen, kStates };

inline constexpr size_t kLongestLook = 400;

// The stance towards the text at [start, end).
Stance StanceAt(std::string_view text, size_t start, size_t end);

// Stance towards the result of a calculation: a "not" in front of "3000 - 2000
// = 1000" belongs to what is counted; only words such as "wrong" retract it.
Stance StanceOfResult(std::string_view text, size_t start, size_t end);

// Whether the last clause of a text claims what it says.
bool Affirms(std::string_view text);

// Stance towards a value, numeral or formula, in words: "the square of", "at
// most", " or more" turn it into another one.
Stance StanceBeside(std::string_view lead, std::string_view behind);

// Whether a clause, up to its verb, is about something computed from an unknown
// rather than about the unknown: "the square of x is", "twice the number is".
bool OfUnknown(std::string_view lower);

// Whether the full stop before `at` ends an abbreviation: "i.e. 3".
bool Abbreviated(std::string_view text, size_t at);

// Start of the sentence that ends at the end of `text`, including the part of
// `text` that continues into it.
size_t SentenceStart(std::string_view text);
size_t SentenceLength(std::string_view text);

// Start of the last clause of a sentence.
size_t ClauseStart(std::string_view lower);

// In lower case, with plain blanks. Byte for byte, so that offsets are those of
// the original text.
std::string PlainLower(std::string_view text);

// Whether one of the phrases occurs in the text, as whole words.
bool Mentions(std::string_view lower, Reading reading);

// Without marks that may stand between a verb and its object: emphasis, quotes,
// brackets, formula delimiters and currency signs.
std::string_view WithoutMarks(std::string_view lead);

// Without a last part that checks, remarks or offers help, if something with a
// digit or a formula comes before it.
std::string_view WithoutChecks(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_STANCE_H_
