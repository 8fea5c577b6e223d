// What a response says in equations that stand otherwise than gold: values of
// unknowns, a result behind its calculation, a function by cases.
//
//   RewordedEquations("2 and -3", text, "x = 2 or x = -3")   // "2 and -3"
//   RewordedEquations("2x", text, "d/dx (x^2) = 2x")         // "2x"
//
// Stateless; looks at a bounded part of the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_REWORDED_EQUATIONS_H_
#define ESPALIER_DATASETS_ANSWERS_REWORDED_EQUATIONS_H_

#include <string_view>
#include <vector>

#include "datasets/answers/reworded.h"

namespace espalier {

// The pairs to compare instead of `gold` and `text`, whose last statement is
// `sentence`.
std::vector<RewordedPair> RewordedEquations(std::string_view gold,
                                            std::string_view text,
                                            std::string_view sentence);

// The same for a function by cases, wherever these stand in `text`.
std::vector<RewordedPair> RewordedCases(std::string_view gold,
                                        std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_REWORDED_EQUATIONS_H_
