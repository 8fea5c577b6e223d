// Formulas that compare as equal though they say other things: "and" for "or",
// an equivalence for an implication, a real part for a number, a function of a
// letter for a product, an ion for its atom.
//
//   OtherLogic(a, b)   // for "p \\land q" and "p \\lor q":
//       // "\"and\" and \"or\" are exchanged"
//
// Stateless; looks at short texts only: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_OTHER_LOGIC_H_
#define ESPALIER_DATASETS_ANSWERS_OTHER_LOGIC_H_

#include <string>

#include "datasets/answers/find/readings.h"

namespace espalier {

// Why two sides that compare as equal may differ; empty if there is nothing.
std::string OtherLogic(const Readings& gold, const Readings& answer);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_OTHER_LOGIC_H_
