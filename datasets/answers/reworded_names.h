// What a short statement says of names, formulas of chemistry and parts of a
// game, without what only says more of it.
//
//   RewordedNames("Many think it is Sydney, but it is Canberra.", ...,
//   "Canberra")
//       // "It is Canberra"
//   RewordedNames("It is carbon dioxide, CO2.", ..., "CO2")   // "CO2"
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_REWORDED_NAMES_H_
#define ESPALIER_DATASETS_ANSWERS_REWORDED_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// `sentence` is the last one of `text`.
std::vector<std::string> RewordedNames(std::string_view text,
                                       std::string_view sentence,
                                       std::string_view gold);

// Whether a text is a formula of chemistry with an index, "CO\u2082".
bool IsFormulaSign(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_REWORDED_NAMES_H_
