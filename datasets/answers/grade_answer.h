// Whether an answer to a mathematical question is the gold answer, and why.
//
//   GradeAnswer("$\\frac{3}{4}$", "so we get \\boxed{0.75}.")
//       // {true, "both are 3/4"}
//   GradeAnswer("[0, 1)", "(0, 1)").equal   // false
//
// Read in four steps: the answer is found in the text (extract_answer.h),
// parsed (parser.h), understood as a value or a shape (answer.h) and compared
// (compare_value.h) under a policy (policy.h). What cannot be read as
// mathematics is compared as words. The gold answer has one reading; those of
// the answer are ranked (readings.h). Where only a reading that is not sure
// agrees, where digits agree and nothing proves more, or where gold ends in
// the middle, the verdict is "undecided".
//
//   GradeAnswer("1", "\\tanh(1000)").undecided   // true
//
// Any bytes may come in: length, nesting, degrees and precision are bounded,
// so that a pair takes milliseconds at worst. GradeAnswer(x, x) is equal for
// every x that is not blank. Exchanging the two may make an equal pair
// undecided, never different.
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_GRADE_ANSWER_H_
#define ESPALIER_DATASETS_ANSWERS_GRADE_ANSWER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/answers/policy.h"

namespace espalier {

struct GradeVerdict {
  bool equal = false;
  std::string reason;
  // Neither equal nor different as far as can be told; `equal` is false, and
  // the reason says why.
  bool undecided = false;
};

GradeVerdict GradeAnswer(std::string_view gold, std::string_view answer,
                         const GradePolicy& policy = {});

// Where several answers are accepted: equal to one of them is equal; else
// undecided for one of them is undecided.
GradeVerdict GradeAgainstAny(const std::vector<std::string>& golds,
                             std::string_view answer,
                             const GradePolicy& policy = {});

// What a response answers, found as GradeAnswer finds it, where there is no
// gold answer to compare it with: the mathematics, the choice or the few words
// that it gives, else the last number of what it says. Nothing where it gives
// none, or is still thinking.
//
//   FindFinalAnswer("... so $x = \\frac{3}{4}$.")          // "x = \frac{3}{4}"
//   FindFinalAnswer("In all she sold 72 clips today.")     // "72"
std::optional<std::string> FindFinalAnswer(std::string_view response);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_GRADE_ANSWER_H_
