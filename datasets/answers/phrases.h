// The English phrases that answers are read by, in one table of (pattern,
// reading): to read one more, add a row to phrases.txt. Numerals and units have
// tables of their own (number_words.h, units.h).
//
//   EndsIn("so there are at most", Reading::kBounds)   // 7
//   ReadAs("no real roots")                            // "\\emptyset"
//
// Patterns are in lower case; blanks at their ends stand for themselves.
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_PHRASES_H_
#define ESPALIER_DATASETS_ANSWERS_PHRASES_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace espalier {

enum class Reading {
  kMeans,         // the whole text says what stands beside it
  kStates,        // the number behind these words is the answer
  kBounds,        // the number behind these is not: it is a bound, or denied
  kBoundBehind,   // nor is the number in front of these
  kCompared,      // nor is it there, behind one of kCopula
  kCopula,        // says what something is, not what it has
  kAuxiliary,     // a verb that "not" may follow
  kModifies,      // behind these it is a part of another number
  kRelates,       // behind these it may be anything
  kLabels,        // the number behind these only names something
  kFunction,      // a word of grammar: never a product of letters
  kRelation,      // in front of the bound of a range
  kSign,          // a kind of number: the range of x
  kNearly,        // in front of a number that it does not change
  kShape,         // what a bracket behind it is
  kAnswer,        // the answer follows
  kIsInChinese,   // "is", in front of an answer
  kLeadsOn,       // behind "the answer", in front of what it is
  kSays,          // behind a formula: what it is follows
  kVerb,          // the last one of a sentence says what follows it
  kReason,        // the answer ends here, a reason follows
  kExplains,      // a formula that only explains follows
  kConcludes,     // the last formula is the answer
  kTherefore,     // begins a sentence that concludes
  kClause,        // a clause of its own begins behind
  kVerdict,       // begins a sentence that it sums up
  kDenies,        // a clause with one of these says nothing positive
  kHarmless,      // holds a word that denies, and denies nothing
  kSupposes,      // begins a clause that only asks or assumes
  kDoubts,        // a clause with one of these claims nothing
  kMaybe,         // nor is a clause with one of these sure
  kWrong,         // what stands in front of these is taken back
  kWhenOrWhy,     // ends what a sentence says of its number
  kBeside,        // joins two statements of two numbers
  kSubordinate,   // begins a clause that ends at its comma
  kAbbreviation,  // ends in a full stop that ends no sentence
  kChecks,        // begins a part that adds nothing to the answer
  kDeniesBehind,  // a number in front of these is no answer
  kJudges,        // ends a sentence about a statement
  kChoice,        // the letter of a choice follows
  kChoiceTaken,   // the choice in front is the answer
  kChoiceDenied,  // the choice in front is not
  kMonth,         // the number behind is a day
  kGoesOn,        // behind a result: another statement follows
  kVague,         // behind a number: it is not meant to be exact, or not always
  kGives,         // whom it gives may stand in front of the number
  kReceiver,      // a pronoun for that
  kRestates,      // what follows says the same again
  kDescribes,     // behind "which": says more of what was counted
  kNotThis,       // the box directly behind is not meant
  kTakenBack,     // nor is the one directly in front
  kRetracts,      // what was said before was a mistake
  kWrongKind,     // in front of "answer": one that is wrong
  kEndsClause,    // behind a whole clause: where, why or when it holds
  kAffirms,       // says that the answer is right
  kEarlier,       // of a mistake: not in the answer but before it
  kGivesUp,       // a last sentence with one of these leaves no answer
  kCorrects,      // begins a sentence that corrects the one in front
  kDisowns,       // a sentence with one of these takes back what was said
  kRejects,       // of a number or a candidate: it is none
  kAlters,        // behind a number: it may make another one of it
  kNotMost,       // nor is what a sentence with one of these compares the most
  kOtherTime,     // in front of a date or time: another one may be meant
};

struct Phrase {
  std::string_view pattern;
  Reading reading;
  // What it stands for, of kMeans, kRelation and kSign.
  std::string_view meaning = {};
};

std::span<const Phrase> AllPhrases();
const std::vector<std::string_view>& Phrases(Reading reading);

// What a whole text means, "\\emptyset" or other words; empty for no phrase.
std::string_view ReadAs(std::string_view folded);

// The length of the longest phrase of this reading that `text` ends in, or
// begins with, as whole words; 0 for none. Whether it is one.
size_t EndsIn(std::string_view text, Reading reading);
size_t BeginsIn(std::string_view text, Reading reading);
bool IsPhrase(std::string_view text, Reading reading);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_PHRASES_H_
