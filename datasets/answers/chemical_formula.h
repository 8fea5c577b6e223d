// Formulas and equations of chemistry, in which case matters: CO is not Co.
//
//   SameFormula("H2O", "\\mathrm{H_2O}")            // true
//   SameChemistry("2H2 + O2 -> 2H2O", "O_2 + 2H_2 \\to 2H_2O")   // true
//   WithFormulaNamed("H2SO4", "It is **H₂SO₄**.")   // "It is **Kwarzite**."
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_CHEMICAL_FORMULA_H_
#define ESPALIER_DATASETS_ANSWERS_CHEMICAL_FORMULA_H_

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

bool SameFormula(std::string_view a, std::string_view b);

// Whether two texts that are formulas of several elements, or equations of
// chemistry, and nothing else are the same one, in whatever order the terms of
// a side stand; nothing if one is not.
std::optional<bool> SameChemistry(std::string_view a, std::string_view b);

// A word for the formula or equation that all of `gold` is; the words below
// begin alike.
inline constexpr std::string_view kFormulaName = "Kwarzite";

// `text` with words in place of its formulas, or of its equations if gold is
// one: kFormulaName for gold, others for others. `text` itself if gold is no
// formula of several atoms.
std::string WithFormulaNamed(std::string_view gold, std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_CHEMICAL_FORMULA_H_
