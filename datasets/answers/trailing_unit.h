// The unit at the end of an answer, written in letters that may be a product
// as well, or with commands and powers.
//
//   FindTrailingUnit("0.5 \\mu m")            // {3, " μm"}
//   FindTrailingUnit("8.31 J/(mol\\cdot K)")  // {4, " J/(mol K)"}
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_TRAILING_UNIT_H_
#define ESPALIER_DATASETS_ANSWERS_TRAILING_UNIT_H_

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

struct TrailingUnit {
  std::string number;  // what stands before
  std::string unit;    // as ReadUnit reads it (units.h)
  // No product of letters: "kHz", "J/mol".
  bool sure = false;
};

// Nothing where the text is no number with a unit that is known behind it, or
// a word that counts something.
std::optional<TrailingUnit> FindTrailingUnit(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_TRAILING_UNIT_H_
