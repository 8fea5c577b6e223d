// The unit at the end of an answer, written in letters that could also be a
// product, or with commands and powers.
//
//   FindTrailingUnit("0.5 \\mu m")            // {3, " μm"}
//   FindTrailingUnit("8.31 J/(mol\\cdot K)")  // {4, " J/(mol K)"}
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_NOTATION_TRAILING_UNIT_H_
#define ESPALIER_DATASETS_ANSWERS_NOTATION_TRAILING_UNIT_H_

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

struct TrailingUnit {
  std::string number;  // the text in front
  std::string unit;    // as ReadUnit reads it (units.h)
  // Not a product of letters: "kHz", "J/mol".
  bool sure = false;
};

// Nothing if the text is not a number followed by a known unit, or by a word
// that counts something.
std::optional<TrailingUnit> FindTrailingUnit(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_NOTATION_TRAILING_UNIT_H_
