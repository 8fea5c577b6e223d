// What two answers that compare as equal say besides, so that they may differ.
//
//   OtherMeaning("5 plums", "5 pears", ...)   // undecided: counts "pears"
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_OTHER_MEANING_H_
#define ESPALIER_DATASETS_ANSWERS_OTHER_MEANING_H_

#include <optional>
#include <string>
#include <string_view>

#include "datasets/answers/find/readings.h"
#include "datasets/answers/value/policy.h"
#include "datasets/answers/verdict.h"

namespace espalier {

// The verdict that takes the place of "equal"; nothing if `gold` and `answer`,
// read as `a` and `b` and equal for `reason`, mean the same. `settled`: a sure
// part of the answer says what gold says, whatever else stands in it.
std::optional<GradeVerdict> OtherMeaning(std::string_view gold,
                                         std::string_view answer,
                                         const Readings& a, const Readings& b,
                                         const std::string& reason,
                                         const GradePolicy& policy,
                                         bool settled);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_OTHER_MEANING_H_
