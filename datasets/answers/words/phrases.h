// The English words and phrases used to read answers, numerals and units
// included, in one table of (pattern, reading): to support another one, add a
// row to phrases.txt. Only symbols (units.cc), names of mathematics and LaTeX
// commands, and the tags of thoughts (thoughts.cc) stand elsewhere.
//
//   EndsIn("so there are at most", Reading::kBounds)   // 7
//   ReadAs("no real roots")                            // "\\emptyset"
//
// Patterns are in lower case, but for words that are commands; blanks at their
// ends are significant. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_WORDS_PHRASES_H_
#define ESPALIER_DATASETS_ANSWERS_WORDS_PHRASES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace espalier {

enum class Reading {
  kMeans,         // the whole text means the phrase's `meaning`
  kStates,        // the number behind these words is the answer
  kBounds,        // the number behind these is not: it is a bound, or denied
  kBoundBehind,   // nor is the number in front of these
  kCompared,      // nor is it there, behind one of kCopula
  kCopula,        // says what something is, not what it has
  kAuxiliary,     // a verb that "not" may follow
  kModifies,      // behind these it is a part of another number
  kRelates,       // behind these it may be anything
  kLabels,        // the number behind these only names something
  kFunction,      // a grammatical word: never a product of letters
  kRelation,      // in front of the bound of a range
  kSign,          // a kind of number: the range of x
  kNearly,        // in front of a number, without changing it
  kShape,         // names what the bracket behind it is
  kAnswer,        // the answer follows
  kIsInChinese,   // "is", in front of an answer
  kLeadsOn,       // behind "the answer", in front of what it is
  kSays,          // behind a formula: its value follows
  kVerb,          // the last one of a sentence introduces what follows
  kReason,        // the answer ends here, a reason follows
  kExplains,      // a formula that only explains follows
  kConcludes,     // the last formula is the answer
  kTherefore,     // begins a sentence that concludes
  kClause,        // an independent clause begins behind
  kVerdict,       // begins a sentence that it sums up
  kDenies,        // a clause with one of these states nothing positive
  kHarmless,      // contains a denying word, but denies nothing
  kSupposes,      // begins a clause that only asks or assumes
  kDoubts,        // a clause with one of these claims nothing
  kMaybe,         // nor is a clause with one of these certain
  kWrong,         // the text in front of these is retracted
  kWhenOrWhy,     // ends what a sentence states about its number
  kBeside,        // joins two statements about two numbers
  kSubordinate,   // begins a clause that ends at its comma
  kAbbreviation,  // ends in a full stop that ends no sentence
  kChecks,        // begins a part that adds nothing to the answer
  kDeniesBehind,  // a number in front of these is not an answer
  kJudges,        // ends a sentence about a statement
  kChoice,        // the letter of a choice follows
  kChoiceTaken,   // the choice in front is the answer
  kChoiceDenied,  // the choice in front is not
  kMonth,         // the number behind is a day
  kGoesOn,        // behind a result: another statement follows
  kVague,         // behind a number: it is approximate, or does not always hold
  kGives,         // the recipient may stand between it and the number
  kReceiver,      // a pronoun for that
  kRestates,      // what follows is a restatement
  kDescribes,     // behind "which": says more of what was counted
  kNotThis,       // the box directly behind is not meant
  kTakenBack,     // nor is the one directly in front
  kRetracts,      // the earlier statement was a mistake
  kWrongKind,     // in front of "answer": one that is wrong
  kEndsClause,    // behind a whole clause: where, why or when it holds
  kAffirms,       // says that the answer is right
  kEarlier,       // of a mistake: not in the answer but before it
  kGivesUp,       // a last sentence with one of these leaves no answer
  kCorrects,      // begins a sentence that corrects the one in front
  kDisowns,       // a sentence with one of these retracts the earlier statement
  kRejects,       // of a number or a candidate: it is rejected
  kAlters,        // behind a number: it may change it
  kNotMost,       // nor is what a sentence with one of these compares the most
  kOtherTime,     // in front of a date or time: another one may be meant
  // Of a claim (outright.h):
  kTurns,         // behind these a conclusion begins
  kAnswerKind,    // in front of "answer": the answer itself is meant
  kGoverns,       // in front of "the answer": still claims it
  kAnswerOf,      // behind "answer": the answer itself is meant
  kEquates,       // behind "answer": its value follows
  kFills,         // behind those, in front of the value: changes nothing
  kAttributes,    // gives a statement to somebody
  kSpeaker,       // in front of those: the response itself speaks
  kSource,        // behind "according to": a fact
  kMisleads,      // calls what follows a mistake, a bound or an example
  kOtherTry,      // calls it an earlier attempt, a wish or a guess
  kImagines,      // begins a condition
  kComputes,      // behind "if": no condition but a step
  kUnreal,        // in a condition: nothing follows for the answer
  kNarrows,       // begins a sentence about another case
  kChanges,       // behind a value: changes it
  kOnlyIf,        // behind a value: begins a condition or a correction
  kRates,         // behind a value: it is counted per something
  kGroups,        // behind those: how many of that there are
  kTailDoubts,    // behind a value, in its sentence: takes it back
  kUnclaims,      // in a later sentence: takes the answer back
  kObtains,       // in front of a bare number: how somebody came to it
  kReopens,       // behind an interval: changes its ends or points
  kHarmlessTail,  // behind a value: nothing that changes it follows
  kClosed,        // behind a value: the sentence goes on to say more of it
  kUnclaimsNext,  // in the next sentence: takes the answer back
  kRefers,        // begins a later sentence about the answer
  kWorksOn,       // begins a later sentence that makes another value of it
  kTurnsBack,     // begins a later sentence that turns against the answer
  // Of numerals and ranges; a number is the phrase's meaning:
  kNumeral,        // a number below 20
  kTens,           // a multiple of ten
  kScale,          // multiplies the number in front
  kPart,           // a denominator
  kPlace,          // a place in an order that is no denominator
  kOrdinal,        // ends a place in digits
  kNegative,       // in front of a number: it is negative
  kIntervalWords,  // in front of the ends of an interval: its brackets
  kReals,          // all real numbers
  kThatAre,        // behind those, in front of what restricts them
  kAllExcept,      // all numbers but those that follow
  // Each of one rule:
  kGround,  // at the start of a sentence, in front of what it follows from
  kGivesAnAnswer,  // a verb in front of "an answer of"
  kWhichGives,     // between a formula and its result in words
  kBecause,        // in front of a reason, inside a sentence
  kYesNo,          // a verdict and nothing else
  kRemainder,      // between a quotient and its remainder
  kHours,          // behind the hours of a duration
  kMinutes,        // behind its minutes
  kUnit,           // a unit: its size, and its base units with their powers
  kDirection,      // behind a unit: its direction follows
  kMeasured,       // behind a unit: what is measured
  kFiller,         // says nothing between the words for what is counted
  kPower,          // in front of a unit: its power
  kPowerBehind,    // behind a unit: its power
  kNotUnit,        // a word that is spelled like a unit
  kUnitGoesOn,   // behind a unit or an amount: only a part of what is measured
  kSquareCubic,  // in front of the name of a unit
  kOfCounted,    // begins a clause that says more of what was counted
  kTwoUnits,     // the name of two units
  kChance,       // of a probability
  kAtValue,    // in front of the value of a letter for which a statement holds
  kMorning,    // behind a time: it is before noon
  kAfternoon,  // or behind noon
  kHalfOfDay,  // ends a time, as written
  kSaysTime,   // ends a time, letters only
  kBase,       // in front of the base of digits
  kNoProduct,  // two letters that are a word even between signs
  kCommand,    // a word for a sign of a formula: its command
  kIs,         // says that something holds of a thing
  kRadian,     // of an angle in plain numbers
  kEvery,      // behind "for": holds for each value of a letter
  kIntegers,   // the values of a letter: integers
  kNumbers,    // the values of a letter: any number
  kWhere,      // begins what says the values of a letter
  kPercent,    // behind a number: percent
  kGiven,      // in front of a formula that is not yet the answer
  kConjunction,      // joins two answers
  kJoint,            // between two formulas: both are answers
  kOption,           // in front of the letter of a choice
  kWouldBe,          // supposes what follows
  kGuess,            // what somebody said
  kOutcome,          // what somebody found
  kUsual,            // of a mistake: many make it
  kArticle,          // in front of a noun
  kStatement,        // may be judged right or wrong
  kPointsBack,       // begins a statement about the box in front
  kProtests,         // begins an objection
  kTheAnswer,        // names the answer in front
  kMustBe,           // in front of what is said of it
  kFalse,            // says that it is wrong
  kCutOff,           // at the end: more was to follow
  kToConclude,       // begins a last sentence
  kInsteadOf,        // in front of a number that is not the answer
  kAndMore,          // behind an answer: a statement that leaves it as it is
  kOurFinal,         // in front of "answer": which one
  kChanceThat,       // of a probability: what follows is not the answer
  kOrMaybe,          // in front of another number that may be the answer
  kQuestion,         // behind "answer", which is a verb there
  kAny,              // in front of "answer": any of several
  kExcludes,         // an end of an interval does not belong to it
  kOrElse,           // in front of another choice
  kNamely,           // in front of an answer: changes nothing
  kSo,               // begins a clause that concludes
  kCleft,            // in front of the one who is meant
  kRelative,         // a relative pronoun
  kMost,             // a superlative that does not end in "est"
  kWhen,             // in front of a day, a time or a place
  kOnAt,             // the same inside a sentence
  kTrueFalse,        // a truth value
  kSubject,          // begins a short sentence whose last word is the answer
  kDoes,             // such a word that is a verb: "the series converges"
  kNotNone,          // denies, but not by saying that there is none
  kOfThe,            // in front of the unknown
  kUnknown,          // the unknown
  kHadWere,          // begins a condition that does not hold
  kConcludesBehind,  // in front of a clause that concludes, at the end of a
                     // sentence
  kOutOf,            // between a part and the whole that it is taken from
  kRootOf,           // in front of a number: its root
  kRelationBehind,   // behind the bound of a range
  kIsIn,             // between a letter and what restricts it
  kNamedTime,        // a time of day
  kPastHour,         // in front of an hour: minutes behind or before it
  kOClock,           // behind a full hour
  kFigure,           // has an equation, which is not the value of one side
  kThing,            // what a word in front describes
  kOnly,    // in front of the one number or thing of which a sentence holds
  kUntrue,  // at the end of a sentence that calls a statement false
  kNoComparative,  // a word in "er" that compares nothing
  kAbout,          // in front of a rounded value
  kExact,          // of a value that is exact
  kWhereItHolds,   // behind a word that describes: where that holds
  kDay,            // a day of the week
  kWins,           // behind a name: the one that is looked for
  kBelowZero,      // behind a number or its unit: the number is negative
  kFormulaWord,    // a word between or behind the parts of a formula: its sign
  kAnotherOne,     // begins a statement about another thing, behind the answer
  kInAll,          // behind a number and its unit, at the end: it is the total
  kItWould,        // begins a statement about another case
  // Of a number that is only mentioned (mentioned.h):
  kOpensWithAnswer,  // a first sentence that is an answer or a refusal
  kRefuses,          // a text with one of these gives no answer
  kOnlyGiven,        // a sentence with one of these repeats or plans
  kBaseName,         // names the base of digits
  kTotalLabel,       // begins a last line that is the total of those above
  // Of a remark inside the answer (spoiled.h):
  kSpoils,        // the value beside is not the answer, or only a bound of it
  kOtherScale,    // behind a number: it counts many, or parts
  kOtherNumeral,  // its digits have another base, or it is a remainder
  // Of a name that is only related to the answer (related.h), and of opposites
  // (opposites.h):
  kEveryOne,         // all of several
  kOthers,           // behind those: all but the one that is meant
  kExcept,           // in front of the one of those that is not meant
  kRelatesTo,        // in front of a name: another one is meant
  kNameOf,           // in front of "of" and a name: that name is meant
  kOwner,            // in front of a noun: whose it is
  kNameKind,         // in front of a name: changes nothing
  kOpposite,         // words between commas, and their opposites
  kLeadsToNumber,    // between a word and the number of which it is said
  kPartsFromNumber,  // between a number and a word that is said of others
  kItIs,             // between a correction and another verdict
  kRoundedTo,        // in front of a number: it is rounded
  kBegins,           // of a time: something begins then
  kOwnPast,     // in front of a number: how often the response did something
  kOwnLabel,    // all in front of a number that says something of the response
  kOwnTime,     // the same in front of seconds
  kOwnSeconds,  // those
  kOwnMore,     // in front of such a label: a part of it
  kOperation,   // all in front of a number: it is only one of the operands
  // Of an answer that is said with more words (restated.h):
  kNamesOther,   // takes a name back, or names another one
  kSaysMore,     // behind a name and a comma: says more of it
  kSeveral,      // of several names
  kRole,         // in front of a name: what the one is to somebody
  kAge,          // in front of those: which one
  kAsksFor,      // begins a question for the answer
  kSaysAgain,    // in front of the same value in other words
  kResultLabel,  // in front of ":" and a result
  kAnnounces,    // the answer follows
  kPronoun,      // begins a sentence about a name in front
  kCountry,      // behind a place and a comma
  kTitle,        // in front of a name; what it is short for, if that counts
  kPlural,       // a plural that does not end in "s" (counted_noun.h)
  kInYear,       // in front of a year (era_year.h)
  // Of another quantity (marks_beside.h):
  kMark,  // beside a number: its kind and which of that kind
  // Of more ways to say the same:
  kUnitPrefix,    // in front of the name of a unit: how many of it
  kSameNoun,      // what is counted: the word that it is compared as
  kRemains,       // behind a number and its noun: says where they are left
  kOwnSure,       // behind a percentage: how sure the response is
  kOwnSelf,       // in front of that: the response speaks
  kOwnTook,       // in front of a number of the response's own steps
  kAsThought,     // behind a name that is denied: who takes it for the answer
  kAside,         // between commas: adds nothing
  kAheadOf,       // behind "first" and a comma: the others follow
  kLeavesChoice,  // begins a sentence whose choice is the answer
  // Of a name that is said in other words (names_said.h):
  kNotYet,       // what is said is only planned, or due
  kMadeBy,       // in front of "by": the one behind it did or made something
  kFirstMade,    // in front of those
  kLies,         // in front of those below: the place of something follows
  kLiesIn,       // in front of a place
  kBehindName,   // behind a name: says when, where or who
  kIsTheAnswer,  // behind a name: it is the answer
  kKindBehind,   // behind a name: what it names
  kKindInFront,  // the same in front of it
  kAlsoNames,    // a name of several kinds of things, or a word that is none
  kSymbolOf,     // an element: its symbol
  // Of an answer in bold type (bold_answer.h):
  kJudged,  // in front of "is true": what a question asks about
  kEither,  // in front of the first of several
  // Of what a response states first of all (main_statement.h):
  kComesNext,   // behind a name and a comma: another one follows it
  kSourceLead,  // begins a statement: where it was read
  kRephrases,   // begins a sentence that gives a value in other units
  // Of what is not the answer itself:
  kPartLabel,      // in front of ":" and a number: only a part of the result
  kMadeOf,         // in front of "of" and a thing: another thing is meant
  kChoiceAsOther,  // behind a choice: it is named for another reason
  // Of other ways to write an answer (written_alike.h):
  kSameName,   // a name, or its short form: the name in full
  kHonorific,  // in front of a person's name: leaves the person the same
  kNamesakes,  // persons' names that other initials make other persons
  kCoin,      // a noun that is counted, and a fraction: one that is no fraction
  kAndAHalf,  // an amount in words: in digits, in front of its unit
  kOneWord,   // several words that are also written as one: that
  kEndsIncluded,  // behind two bounds: both belong to the range
  kEndsExcluded,  // or do not
  kLeadsToPair,   // in front of two names: these are what is asked for
  kFormulaLabel,  // in front of a formula of chemistry that is the result
  kHasFormula,    // in front of that of what a sentence is about
  // Of what is said to the reader (main_statement.h), and of symbols:
  kCourtesy,        // a first sentence that is only friendly
  kCourtesyBehind,  // begins a last sentence that is only friendly
  kStandsFor,       // in front of what a symbol or abbreviation means
  // Of what a last statement says in other words (reworded.h):
  kListLabel,     // in front of ":" and all values that are asked for
  kMolarUnit,     // a unit that "M" stands for
  kVerdictMeant,  // begins an answer: yes or no
  kJudgedAs,      // behind "the statement": true or false
  kTruth,         // begins a statement that is called true or false
  // Of the options of a multiple choice (datasets/tasks/choice_answer.h):
  kLeadsToChoice,    // in front of an option in words: it is chosen
  kConcludesChoice,  // in front of a choice at the end: it is chosen
  // Of names and amounts in short statements (reworded.h):
  kOnTop,      // behind an amount at the end: it comes on top of another one
  kWasFirst,   // behind a name: the one that did something before all others
  kKnownAs,    // between two names of the same
  kHasShape,   // behind a word in front of which "has a" stands
  kArrives,    // in front of a time of day; of a number, somebody came to it
  kDidIt,      // behind a name: what that one did
  kAlsoOrder,  // in what follows: another one may be meant
  kAgeLimit,   // in front of a number that bounds what is counted
  kOnlyOn,     // in front of where a part of a function holds
  kNotThisChoice,  // in front of an option: another one is the answer
  kRechecks,       // begins another try behind an answer
  kToInfinity,     // says of a limit or a sum that it is infinite
  kInTheEnd,       // begins a last sentence that states what came out
  // Of a fact that one sentence states (plain_fact.h, only_mentioned.h):
  kLesserOne,    // begins a statement of another one than the one in question
  kAfterName,    // behind a name and a comma: more is said of it
  kPartOfGame,   // behind "second": what that counts
  kCompoundEnd,  // ends the name of a compound
  kSymbolLead,   // in front of the symbol of the name in front of it
  kHasTheMost,   // behind a name: what marks it among all
  kAlsoRight,    // behind a choice: there is another one
  kIsUntrue,     // at the end: what is said in front of it does not hold
  kLeavesName,   // in front of a name: something goes away from it
  kGaveWay,      // behind a name: another one won
  kQuickAnswer,  // in front of a colon: the answer follows
  // Of a last statement (last_claim.h):
  kLeadsToValue,  // in front of values at the end: they are what it states
  kPointsAtName,  // all in front of a name: it is the one in question
  kAlsoCalled,    // between two names of the same, behind a comma
  kRevises,       // begins a last sentence with the answer, whatever was said
  kNoClaim,       // in front of a box: what is in it is no answer
  kLeadsToName    // in front of the name that a sentence is about
};

struct Phrase {
  std::string_view pattern;
  Reading reading;
  // What it stands for: a command, a relation, a number, a unit.
  std::string_view meaning = {};
};

std::span<const Phrase> AllPhrases();
std::span<const Phrase> Rows(Reading reading);
const std::vector<std::string_view>& Phrases(Reading reading);

// The meaning of a whole text, "\\emptyset" or other words; empty if it is no
// phrase.
std::string_view ReadAs(std::string_view folded);

// The length of the longest phrase of this reading that `text` ends in, or
// begins with, as whole words; 0 if none. Whether it is one.
size_t EndsIn(std::string_view text, Reading reading);
size_t BeginsIn(std::string_view text, Reading reading);
bool IsPhrase(std::string_view text, Reading reading);

// Without regard to words: the length of the first phrase of this reading that
// `text` begins with, or ends in; 0 if none. Whether one occurs in it.
size_t StartsWith(std::string_view text, Reading reading);
size_t EndsWith(std::string_view text, Reading reading);
bool Holds(std::string_view text, Reading reading);

// The number that a whole text means: 20 for "twenty" as kTens.
std::optional<int64_t> NumberMeant(std::string_view text, Reading reading);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_WORDS_PHRASES_H_
