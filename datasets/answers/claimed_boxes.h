// Which boxes of a response say its answer.
//
//   ClaimedBoxes("It is \\boxed{6}, not \\boxed{5}.")   // that of 6
//   ClaimedBoxes("% \\boxed{5}")                        // none: a comment
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_CLAIMED_BOXES_H_
#define ESPALIER_DATASETS_ANSWERS_CLAIMED_BOXES_H_

#include <string>
#include <string_view>
#include <vector>

#include "datasets/answers/answer_spans.h"

namespace espalier {

// All boxes but those in comments and those that the words directly beside
// them take back. Only that is looked at: whoever boxes an answer means it,
// whatever else the sentence denies.
std::vector<Span> ClaimedBoxes(std::string_view text);

// Whether what follows the last box says that a mistake was made.
bool Retracted(std::string_view behind);

// Whether a formula goes on from its box, so that what it says is another
// value: "$-\\boxed{12}$", "$\\boxed{12}^2$".
bool PartOfFormula(std::string_view text, const Span& box);

// What a box holds without words in front that only lead on:
// "\\text{The value is } 12" as "12".
std::string WithoutLeadIn(std::string_view said);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_CLAIMED_BOXES_H_
