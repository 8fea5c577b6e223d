// Whether an answer to a mathematical question is the gold answer, and why.
//
//   GradeAnswer("$\\frac{3}{4}$", "so we get \\boxed{0.75}.")
//       // {true, "both are 3/4"}
//   GradeAnswer("[0, 1)", "(0, 1)").equal   // false
//
// Four steps: the answer is found in the text (extract_answer.h), parsed
// (parser.h), understood as a value or a shape (answer.h) and compared
// (compare_value.h) under a policy (policy.h). What cannot be read as
// mathematics is compared as words. The gold answer has one reading; those of
// the answer are ranked (readings.h). The verdict is "undecided" if only an
// uncertain reading agrees, if digits agree but nothing proves equality, if the
// words around the answer do not claim it (outright.h), or if gold is cut off.
//
//   GradeAnswer("1", "\\tanh(1000)").undecided   // true
//
// Accepts any bytes: length, nesting, degrees and precision are bounded, so
// that a pair takes milliseconds at worst. GradeAnswer(x, x) is equal for every
// x that is not blank. Swapping the two may make an equal pair undecided, never
// different.
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_GRADE_ANSWER_H_
#define ESPALIER_DATASETS_ANSWERS_GRADE_ANSWER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/answers/value/policy.h"
#include "datasets/answers/verdict.h"

namespace espalier {

GradeVerdict GradeAnswer(std::string_view gold, std::string_view answer,
                         const GradePolicy& policy = {});

// For several accepted answers: equal if equal to one of them; else undecided
// if undecided for one of them.
GradeVerdict GradeAgainstAny(const std::vector<std::string>& golds,
                             std::string_view answer,
                             const GradePolicy& policy = {});

// The answer of a response, found as GradeAnswer finds it, when there is no
// gold answer to compare with: the mathematics, the choice or the few words
// that it gives, else the last number it states. Nothing if it gives none, or
// only a number that somebody else said, or is still thinking.
//
//   FindFinalAnswer("... so $x = \\frac{3}{4}$.")          // "x = \frac{3}{4}"
//   FindFinalAnswer("In all she sold 72 clips today.")     // "72"
std::optional<std::string> FindFinalAnswer(std::string_view response);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_GRADE_ANSWER_H_
