// What a response says in amounts, lists and formulas that stand otherwise than
// gold: a total, a conversion, units in short, bullets, backticks.
//
//   RewordedAmounts("8 hours", "2 h and then 6 h, 8 hours total.")
//       // the pair "8 hours", "8 hours"
//   RewordedAmounts("90 minutes", "1 hour 30 min")
//       // "1 hours and 30 minutes"
//   RewordedAmounts("{2, 3}", "They are:\n- 2\n- 3")   // "2, 3"
//
// Stateless; looks at a bounded part of the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_REWORDED_AMOUNTS_H_
#define ESPALIER_DATASETS_ANSWERS_REWORDED_AMOUNTS_H_

#include <string_view>
#include <vector>

#include "datasets/answers/reworded.h"

namespace espalier {

// The pairs to compare instead of `gold` and `text`.
std::vector<RewordedPair> RewordedAmounts(std::string_view gold,
                                          std::string_view text);

// The amount of which a last clause says that it is the total; empty if there
// is none.
std::string_view TotalAtEnd(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_REWORDED_AMOUNTS_H_
