// Whether a response picks the right option of a multiple choice.
//
//   CheckChoice({"12", "15", "18"}, "B", "so it is (B).").correct   // true
//   CheckChoice({"12", "15", "18"}, "B", "\\boxed{15}").correct     // true
//   CheckChoice({"12", "15", "18"}, "B", "\\boxed{18}").correct     // false
//
// A letter takes precedence over a text: "A" is the first option even if the
// text of another one is "A". A text picks the one option that it equals, word
// for word if several are mathematically equal to it. If several options are
// right, only their letters answer.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_CHOICE_ANSWER_H_
#define ESPALIER_DATASETS_TASKS_CHOICE_ANSWER_H_

#include <string>
#include <string_view>
#include <vector>

#include "espalier/problem.h"
#include "espalier/verifier.h"

namespace espalier {

// The options of a problem whose answer is one or more option letters: the
// texts of its field "options", a JSON list. Empty for other problems.
std::vector<std::string> ChoiceOptions(const Reference& reference);

// `gold`: letters of options, the first of which is A.
Verdict CheckChoice(const std::vector<std::string>& options,
                    std::string_view gold, std::string_view response);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_CHOICE_ANSWER_H_
