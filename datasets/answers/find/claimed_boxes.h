// Finds the boxes of a response that state its answer.
//
//   ClaimedBoxes("It is \\boxed{6}, not \\boxed{5}.")   // that of 6
//   ClaimedBoxes("% \\boxed{5}")                        // none: a comment
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_CLAIMED_BOXES_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_CLAIMED_BOXES_H_

#include <string>
#include <string_view>
#include <vector>

#include "datasets/answers/find/answer_spans.h"

namespace espalier {

// All boxes except those in comments and those retracted by the words next to
// them. Only those words are examined: a boxed answer is meant, whatever else
// the sentence denies.
std::vector<Span> ClaimedBoxes(std::string_view text);

// Whether the text behind the last box says that a mistake was made.
bool Retracted(std::string_view behind);

// Whether a formula continues beyond its box, so that its value differs:
// "$-\\boxed{12}$", "$\\boxed{12}^2$".
bool PartOfFormula(std::string_view text, const Span& box);

// The content of a box without introductory words: "\\text{The value is } 12"
// as "12".
std::string WithoutLeadIn(std::string_view said);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_CLAIMED_BOXES_H_
