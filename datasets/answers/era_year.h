// Years with an era: "776 BC", "In 776 B.C.E.", "AD 70".
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_ERA_YEAR_H_
#define ESPALIER_DATASETS_ANSWERS_ERA_YEAR_H_

#include <optional>
#include <string_view>

namespace espalier {

struct EraYear {
  int year = 0;
  bool before = false;  // BC or BCE
  bool named = false;   // the text names an era
  bool alone = false;   // no words in front but "in" or "the year"
  bool led = false;     // and one of these
};

// The year that a text gives: nothing but it, or a last sentence that ends in
// it. Nothing if the text has other numbers.
std::optional<EraYear> ReadEraYear(std::string_view text);

// Whether two texts give the same year: true, or false if they name different
// eras for it; nothing if they are no years, or differ as numbers.
std::optional<bool> SameYear(std::string_view gold, std::string_view answer);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_ERA_YEAR_H_
