// Whether an answer to a mathematical question is the gold answer, and why.
//
//   GradeAnswer("$\\frac{3}{4}$", "so we get \\boxed{0.75}.")
//       // {true, "both are 3/4"}
//   GradeAnswer("[0, 1)", "(0, 1)").equal   // false
//
// Read in four steps: the answer is found in the text (extract_answer.h),
// parsed (parser.h), understood as a value or a shape (answer.h) and compared
// (compare_value.h) under a policy (policy.h). What cannot be read as
// mathematics is compared as words. Any bytes may come in: length, nesting,
// degrees and precision are bounded, so that a pair takes milliseconds at
// worst. GradeAnswer(x, x) is equal for every x that is not blank, and
// exchanging the two changes no verdict.
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_GRADE_GRADE_ANSWER_H_
#define ESPALIER_DATASETS_GRADE_GRADE_ANSWER_H_

#include <string>
#include <string_view>

#include "datasets/grade/policy.h"

namespace espalier {

struct GradeVerdict {
  bool equal = false;
  std::string reason;
};

GradeVerdict GradeAnswer(std::string_view gold, std::string_view answer,
                         const GradePolicy& policy = {});

}  // namespace espalier

#endif  // ESPALIER_DATASETS_GRADE_GRADE_ANSWER_H_
