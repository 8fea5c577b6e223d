// Chemical formulas that differ only in font and in the signs for indices.
//
//   SameFormula("H2O", "\\mathrm{H_2O}")   // true
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_CHEMICAL_FORMULA_H_
#define ESPALIER_DATASETS_ANSWERS_CHEMICAL_FORMULA_H_

#include <string_view>

namespace espalier {

bool SameFormula(std::string_view a, std::string_view b);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_CHEMICAL_FORMULA_H_
